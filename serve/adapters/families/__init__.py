"""The families, a module each with its ``ADAPTERS``."""
