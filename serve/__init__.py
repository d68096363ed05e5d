"""Serve a judge over HTTP, with its own API and OpenAI's. See ``gradegpt serve --help``."""
