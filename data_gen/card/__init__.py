"""The data card: what is in a generated set, as a README for a data hub and as one page."""

from .write import write_card

__all__ = ["write_card"]
