"""Judges: they turn items into judgements."""
