"""A text with several accepted answers: split at its separator, but never within one value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.quantity import number, quantity
from gradegpt.answers.text import fold
from gradegpt.answers.times import spoken
from gradegpt.answers.types import Group, Leaf

_DATE: Final = re.compile(r"\d{4}([/.-])\d{1,2}\1\d{1,2}|\d{1,2}([/.-])\d{1,2}\2\d{4}")
_IN_SIGNS: Final = re.compile(r"[\d\\^√π+=]")
"""A formula has one of these; ``km/h`` and ``A/B`` may be two words."""
_ANGLES: Final = ("°", "度", "degree", "degrees")
_YEARS: Final = 1_000
"""The sides of a fraction are smaller: those of 1961/1962 are years."""


def accepted_answers(text: str, separator: str) -> tuple[str, ...]:
    """The answers between separators; one, if the whole is a number, a quantity, a date, a formula.

    >>> accepted_answers("Paris/巴黎", "/"), accepted_answers("3×10^8 m/s", "/")
    (('Paris', '巴黎'), ('3×10^8 m/s',))
    >>> accepted_answers("7/8", "/"), accepted_answers("1961/1962", "/")
    (('7/8',), ('1961', '1962'))
    """
    parts = tuple(part.strip() for part in text.split(separator) if part.strip())
    return (text.strip(),) if len(parts) > 1 and _is_one(text.strip(), parts) else parts


def _is_one(text: str, parts: Sequence[str]) -> bool:
    if _DATE.fullmatch(text) or spoken(fold(text)) is not None:
        return True
    if any(spoken(fold(part)) is not None for part in parts):
        return False
    amounts = [quantity(part) for part in parts]
    if all(amount is not None and amount.unit in _ANGLES for amount in amounts):
        return False  # 30°/30度
    numbers = [found for part in parts if (found := number(part)) is not None]
    if "/" in text and len(numbers) == len(parts):
        return _is_fraction(numbers)
    value = values.read(text)
    if isinstance(value, Leaf):
        formula = value.formula is not None and _IN_SIGNS.search(text)
        return text.count("=") < 2 and bool(value.quantity or formula)
    return not isinstance(value, Group)


def _is_fraction(numbers: Sequence[tuple[Fraction, str]]) -> bool:
    """Whether numbers with strokes between them are a fraction in lowest terms, and no list."""
    short = [int(size) for size, _ in numbers if size.denominator == 1 and abs(size) < _YEARS]
    return len(numbers) == len(short) == 2 and not numbers[0][1] and math.gcd(*short) == 1
