"""The result of an extraction."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

NEAR_THE_END: Final = 200
OVERLAP: Final = 80
"""Characters at the end of a response that are searched first, and their overlap."""
MARKUP: Final = " \t*_`$：:。，,；;"


def bare(text: str) -> str:
    """A text without the marks around it; a lone $ before a number is a currency."""
    made = text.strip(MARKUP)
    money = text.count("$") == 1 and made[:1].isdigit() and f"${made}" in text
    return f"${made}" if money else made


AT: Final = re.compile(r"(?:\b(?:at|when|where|for)|当|在)\s?\$?[a-z](?:\s?=\s?)?\Z", re.IGNORECASE)
"""Words before a value of a variable, where something has its value."""


class How(StrEnum):
    """The evidence for an extracted answer, strongest first."""

    BOXED = "boxed"
    ANNOUNCED = "announced"
    WHOLE = "whole"
    FINAL = "final-sentence"
    CONCLUDED = "concluded"
    STATED = "stated"
    LAST_NUMBER = "last-number"


COMMITTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE, How.FINAL)
"""Answers to which the response commits itself; the others are guesses.

``STATED`` is the whole of a short response: the answer may be anywhere in it.
"""


class Found(NamedTuple):
    """An answer, the span of its key sentence in the text, and the evidence for it.

    ``clause`` is the narrower span from the words that announce the answer to the answer's end.
    """

    answer: str
    start: int
    end: int
    how: How
    clause: tuple[int, int]
