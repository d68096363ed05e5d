"""Judging on a Ray cluster: parts of the input through Ray Data, each written whole."""
