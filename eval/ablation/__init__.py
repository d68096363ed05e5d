"""The ablation of CMMaTH, table 8: untuned, outcome-only, judge-of-chain, cross-lingual."""
