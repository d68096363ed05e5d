"""Whether a model has seen a benchmark: can it continue its questions and solutions by heart."""
