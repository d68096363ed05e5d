"""What an answer can be: the types of OlympicArena, and the values that answers are read into."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers.formula import Node

Magnitude = Fraction | float | complex
"""A number: exact where it can be."""


class AnswerType(StrEnum):
    """The 13 answer types of OlympicArena (appendix A.2)."""

    SINGLE_CHOICE = "single_choice"
    MULTIPLE_CHOICE = "multiple_choice"
    TRUE_FALSE = "true_false"
    NUMBER = "number"
    SET = "set"
    INTERVAL = "interval"
    EXPRESSION = "expression"
    EQUATION = "equation"
    TUPLE = "tuple"
    MULTI_PART = "multi_part"
    MULTI_ANSWER = "multi_answer"
    CODE = "code"
    TEXT = "text"

    @property
    def words(self) -> str:
        """The type as it stands in a sentence: ``single choice``, ``number``."""
        return self.value.replace("_", " ")


CHOICE: Final = (AnswerType.SINGLE_CHOICE, AnswerType.MULTIPLE_CHOICE)
"""The types that option letters answer."""


class Quantity(NamedTuple):
    """A number, its unit or "", whether a percent sign stood by it, and its last written place.

    ``place`` is the worth of the last decimal: 0.01 for 3.14, 10 for 1.25×10^3; none for a number
    written without decimals, which nothing says was rounded.
    """

    value: Magnitude
    unit: str = ""
    percent: bool = False
    place: Fraction | None = None


class Leaf(NamedTuple):
    """One value: its text, and what could be read of it."""

    text: str
    name: str = ""
    quantity: Quantity | None = None
    formula: Node | None = None


class Relation(NamedTuple):
    """An equation with more than a name on its left."""

    text: str
    left: Node
    right: Node


class Group(NamedTuple):
    """Several values; ``ordered`` where their places matter."""

    ordered: bool
    items: tuple[Value, ...]


class Piece(NamedTuple):
    """An interval: its ends, and whether each belongs to it."""

    low: float | Fraction
    low_in: bool
    high: float | Fraction
    high_in: bool


class Region(NamedTuple):
    """A set of real numbers as sorted, disjoint intervals."""

    pieces: tuple[Piece, ...]


class Options(NamedTuple):
    """Option letters: a set in the order of the alphabet or, ``ordered``, one for each question."""

    letters: tuple[str, ...]
    ordered: bool = False


class Truth(NamedTuple):
    """True or false."""

    holds: bool


class Range(NamedTuple):
    """From one quantity to another, as people tell an age or a price: 81 to 83 years."""

    low: Quantity
    high: Quantity


Value = Leaf | Relation | Region | Range | Group
"""What mathematics says."""
