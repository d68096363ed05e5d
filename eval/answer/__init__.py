"""Ask a model the questions of a benchmark, in the ways that the papers ask."""
