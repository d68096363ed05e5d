"""Serve: the judge behind HTTP, natively and in the OpenAI form. ``gradegpt serve --help``."""
