"""The boundaries of sentences and clauses, in both languages."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

_FAR: Final = 400
MAX_SENTENCE: Final = 160
"""Most characters of a key sentence; of a longer one, the clause around the answer is kept."""
ENDS: Final = "。．！？!?"
"""Marks that end a sentence and belong to it, as does a "." that is no decimal point."""
JOINTS: Final = "，,、；;：:"
"""Marks between the clauses of a sentence."""
BREAK: Final = (
    r"[。！？；\n!?;.．<](?:(?<=[。！？；\n])"  # signs are found fast, then checked
    r"|(?<=[!?;])(?<!\\.)(?![!-;=-~]|\s=)"  # not in 5! = 120, a\;b, &lt;a
    r"|(?<=\.)(?<!\.[A-Za-z]\.)(?=\s)|(?<=．)(?<![^A-Za-z][A-J]．)(?!\d)"  # e.g. 3.5, B．text
    r"|(?<=<)(?:eo[aet]|STEP\d*)>)"
)
"""The boundary between two sentences, as a regular expression."""
_BREAK = re.compile(BREAK)
_CLAUSE = re.compile(r"[，、；：]|[,;:](?![!-~])")
_NUMBERING = re.compile(r"\s*(?:[A-Za-z]|\d{1,2})[.．]")
"""A number or letter at the beginning of a line, which is no sentence: ``1.``, ``B.``"""


def last_match(pattern: re.Pattern[str], text: str, since: int = 0) -> re.Match[str] | None:
    """The last match of the pattern from ``since`` on; None if there is none."""
    found = deque(pattern.finditer(text, since), maxlen=1)
    return found[0] if found else None


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences, each with its final mark and without surrounding spaces."""
    found, start = list[tuple[int, int]](), 0
    for end in [*(m.end() for m in _BREAK.finditer(text)), len(text)]:
        if end == len(text) or not _NUMBERING.fullmatch(text, start, end):
            found.append((end - len(text[start:end].lstrip()), len(text[:end].rstrip())))
            start = end
    return [(begin, end) for begin, end in found if begin < end]


def clause_ends(text: str, begin: int = 0, end: int | None = None) -> list[int]:
    """The ends of the clauses inside a sentence, after their marks."""
    end = len(text) if end is None else end
    found = (m.end() for m in _CLAUSE.finditer(text, begin, end + 1))  # + 1 for the lookahead
    return [at for at in found if at <= end]


def sentence_start(text: str, at: int) -> int:
    """The beginning of the sentence around ``at``, or 400 characters before ``at``."""
    begin = max(0, at - _FAR)
    ends = (stop.end() for stop in _BREAK.finditer(text, begin, at + 1))
    start = max((end for end in ends if end <= at), default=begin)
    return at - len(text[start:at].lstrip())


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence around ``text[start:end]``: one line, at most 160 characters."""
    left = sentence_start(text, start)
    stop = _BREAK.search(text, max(start, end - 1))
    right = len(text) if stop is None else stop.end() if stop[0] in ENDS else stop.start()
    if right - left > MAX_SENTENCE:
        left = max(clause_ends(text, left, start), default=left)
    if right - left > MAX_SENTENCE:
        left, right = max(left, start - 40), min(right, max(end, start - 40 + MAX_SENTENCE))
    piece = text[left : min(right, left + MAX_SENTENCE)]
    left += len(piece) - len(piece.lstrip())
    return left, left + len(piece.lstrip().partition("\n")[0].rstrip())
