"""Serve: the judge behind HTTP, natively and in the OpenAI form. ``python -m serve --help``."""
