"""The answer types of OlympicArena, and the values that answers are read into."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

from typing_extensions import override

from gradegpt.answers.formula import Node

Magnitude = Fraction | float | complex
"""A number, exact if possible."""


class AnswerType(StrEnum):
    """The 13 answer types of OlympicArena (appendix A.2); its short names are read, too: ``NV``."""

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
        """The type in words: ``single choice``, ``number``."""
        return self.value.replace("_", " ")

    @property
    def in_chinese(self) -> str:
        """The type in Chinese words."""
        return _NAMES[self.value][0]

    @classmethod
    @override
    def _missing_(cls, value: object) -> AnswerType | None:
        name = str(value).strip().lower().replace(" ", "_")
        return next((t for t in cls if name in (t.value, *_NAMES[t.value][1:])), None)


_NAMES: Final = {
    "single_choice": ("单选", "sc"), "multiple_choice": ("多选", "mc"),
    "true_false": ("判断", "tf"), "number": ("数值", "nv", "numerical"), "set": ("集合",),
    "interval": ("区间", "in"), "expression": ("表达式", "ex"), "equation": ("方程", "eq"),
    "tuple": ("元组", "tup"), "multi_part": ("分问作答", "mpv"), "multi_answer": ("多个答案", "ma"),
    "code": ("代码",), "text": ("文本", "ot", "others"),
}  # fmt: skip
"""The name of each type in Chinese, and its names in OlympicArena and OlympiadBench."""
CHOICE: Final = (AnswerType.SINGLE_CHOICE, AnswerType.MULTIPLE_CHOICE)
ONE_VALUE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION, AnswerType.EQUATION)
IN_ORDER: Final = (AnswerType.MULTI_PART, AnswerType.TUPLE)
"""The types whose answers are option letters, one value, and values that have an order."""


class Quantity(NamedTuple):
    """A number, its unit or "", whether it has a percent sign, and its last written place.

    ``place`` is the value of one unit in the last decimal: 0.01 for 3.14, 10 for 1.25×10^3; None
    for a number without decimals, which may be exact.
    """

    value: Magnitude
    unit: str = ""
    percent: bool = False
    place: Fraction | None = None


class Leaf(NamedTuple):
    """One value: its text, its name, and the quantity and formula that it was read as, if any."""

    text: str
    name: str = ""
    quantity: Quantity | None = None
    formula: Node | None = None


class Relation(NamedTuple):
    """An equation whose left side is more than a name."""

    text: str
    left: Node
    right: Node


class Group(NamedTuple):
    """Several values; ``ordered`` if their order matters."""

    ordered: bool
    items: tuple[Value, ...]


class Piece(NamedTuple):
    """An interval: its endpoints, and whether each belongs to it."""

    low: float | Fraction
    low_in: bool
    high: float | Fraction
    high_in: bool


class Region(NamedTuple):
    """A set of real numbers as sorted, disjoint intervals."""

    pieces: tuple[Piece, ...]


class Options(NamedTuple):
    """Option letters: a set in alphabetical order, or one per question (``ordered``)."""

    letters: tuple[str, ...]
    ordered: bool = False


class Truth(NamedTuple):
    """True or false."""

    holds: bool


class Range(NamedTuple):
    """A range from one quantity to another, such as an age or a price: 81 to 83 years."""

    low: Quantity
    high: Quantity


Value = Leaf | Relation | Region | Range | Group
"""A mathematical value."""
