"""Process-level evaluation: are the steps of a response right, and where do they go wrong."""
