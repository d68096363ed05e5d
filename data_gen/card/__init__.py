"""The data card of a generated set, as a README for a data hub and as an HTML page."""

from .write import write_card

__all__ = ["write_card"]
