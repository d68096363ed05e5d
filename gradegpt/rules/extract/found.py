"""What an extraction finds, and the sentence around it."""

from __future__ import annotations

import re
from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple

MAX_SENTENCE: Final = 160
"""Longest key sentence, in characters; a longer one is narrowed to the clause around the answer."""
NEAR_THE_END: Final = 200
OVERLAP: Final = 80
"""What a response settles on mostly stands near its end, so that is read first."""
_BREAK = re.compile(r"[。！？!?；;\n]|\.(?=\s)|<eo[aet]>|<STEP\d*>")
_BREAKS: Final = ("。", "！", "？", "!", "?", "；", ";", "\n", ". ", ".\n")
_CLAUSE = re.compile(r"[，,：:]")
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


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match of the pattern, or none."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def _after_last_break(text: str, begin: int, end: int) -> int:
    after = begin
    for sign in _BREAKS:
        at = text.rfind(sign, begin, end)
        after = after if at < 0 else max(after, at + len(sign))
    if text.find("<", after, end) < 0:
        return after
    return max((m.end() for m in _BREAK.finditer(text, after, end)), default=after)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence with ``text[start:end]``: one line, at most 160 characters."""
    left = _after_last_break(text, max(0, start - 400), start)
    stop = _BREAK.search(text, max(start, end - 1))
    right = stop.end() if stop and stop[0] in "。！？!?" else stop.start() if stop else len(text)
    if right - left > MAX_SENTENCE:
        left = max((m.end() for m in _CLAUSE.finditer(text, left, start)), default=left)
    if right - left > MAX_SENTENCE:
        left, right = max(left, start - 40), min(right, max(end, start - 40 + MAX_SENTENCE))
    piece = text[left : min(right, left + MAX_SENTENCE)]
    lead = len(piece) - len(piece.lstrip())
    newline = piece.find("\n", lead)
    piece = piece if newline < 0 else piece[:newline]
    return left + lead, left + len(piece.rstrip())
