"""Where sentences and clauses begin and end, in both languages."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

MAX_SENTENCE: Final = 160
"""Longest key sentence, in characters; a longer one is narrowed to the clause around the answer."""
_BREAK = re.compile(r"[。！？!?；;\n]|\.(?=\s)|<eo[aet]>|<STEP\d*>")
_BREAKS: Final = ("。", "！", "？", "!", "?", "；", ";", "\n", ". ", ".\n")
_CLAUSE = re.compile(r"[，,：:]")


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


def sentence_start(text: str, at: int) -> int:
    """Where the sentence begins that ``at`` stands in; of a long one, 400 characters before."""
    return _after_last_break(text, max(0, at - 400), at)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence with ``text[start:end]``: one line, at most 160 characters."""
    left = sentence_start(text, start)
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
