"""Judging on a Ray cluster: part after part of the input, each written whole."""
