"""What an extraction finds, and the sentence around it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

NEAR_THE_END: Final = 200
OVERLAP: Final = 80
"""What a response settles on mostly stands near its end, so that is read first."""
DRESSING: Final = " \t*_`$：:。，,；;"


class How(StrEnum):
    """What the extraction rests on, strongest first."""

    BOXED = "boxed"
    ANNOUNCED = "announced"
    WHOLE = "whole"
    FINAL = "final-sentence"
    CONCLUDED = "concluded"
    STATED = "stated"
    LAST_NUMBER = "last-number"


COMMITTED: Final = (How.BOXED, How.ANNOUNCED, How.WHOLE, How.FINAL)
"""What a response settles on by its own word; the rest is a guess at what it meant.

``STATED`` is all of a response of a few sentences: what is asked may stand anywhere in it.
"""


class Found(NamedTuple):
    """An answer, the span of its key sentence in the text, and what the extraction rests on.

    ``clause`` is the narrower span from the words that announce the answer to the answer's end.
    """

    answer: str
    start: int
    end: int
    how: How
    clause: tuple[int, int]
