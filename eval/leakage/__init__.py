"""Benchmark leakage: whether a model can continue a benchmark's questions and solutions."""
