"""The frame of a caller's prompt: marks in a fixed order, with fields between them.

A frame is read by a sequence of searches, never by one long pattern, so that a hostile response
costs linear time. Marks that an untrusted response quotes are treated as text: before the response
the first match of each mark counts, after it the last.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

_FIELD: Final = re.compile(r"\{(\w+)\}")
_SPECIAL: Final = re.compile(r"[\\\[\](){}|?*+^$.]")
"""What makes a mark more than plain words, whose absence is found much faster."""
RESPONSE: Final = "response"


class Span(NamedTuple):
    """A span of a text, from ``start`` to before ``end``."""

    start: int
    end: int


class Framed(NamedTuple):
    """The fields that a frame found, where its marks begin, and the text that is in no field.

    ``heads`` are the marks before the response, ``tails`` those after it.
    """

    fields: dict[str, str]
    spans: dict[str, Span]
    heads: list[int]
    tails: list[int]
    rest: str


@cache
def mark(pattern: str) -> re.Pattern[str]:
    """A regular expression in which a blank matches any white space, as callers join lines."""
    return re.compile(re.sub(r" +", r"\\s+", pattern))


class Frame:
    r"""Marks and fields in their order: ``Frame(r"Q:", "{question}", r"A:", "{response}")``.

    Args:
        parts: A field in braces, else a mark (``mark``). Every frame has the field ``response``;
            a field that ends the frame reaches to the end of the text.

    """

    def __init__(self, *parts: str) -> None:
        self.parts = [p if _FIELD.fullmatch(p) else mark(p) for p in parts]
        self.marks = [p for p in self.parts if isinstance(p, re.Pattern)]
        plain = [p for p in parts if not _FIELD.fullmatch(p) and not _SPECIAL.search(p)]
        self._words = [word for part in plain for word in part.split()]
        self._middle = self.parts.index(f"{{{RESPONSE}}}")

    def read(self, text: str) -> Framed | None:
        """The fields, stripped, or None where a mark is missing."""
        places = self._places(text) if all(word in text for word in self._words) else None
        if places is None:
            return None
        spans = {}
        for index, part in enumerate(self.parts):
            if isinstance(part, str):
                start = places[index - 1].end if index else 0
                end = places[index + 1].start if index + 1 in places else len(text)
                spans[part[1:-1]] = Span(start, end)
        fields = {name: text[span.start : span.end].strip() for name, span in spans.items()}
        rest = _without(text, list(spans.values()))
        heads = [span.start for at, span in sorted(places.items()) if at < self._middle]
        tails = [span.start for at, span in sorted(places.items()) if at > self._middle]
        return Framed(fields, spans, heads, tails, rest)

    def _places(self, text: str) -> dict[int, Span] | None:
        places: dict[int, Span] = {}
        at = 0
        for index, part in enumerate(self.parts[: self._middle]):
            if isinstance(part, re.Pattern):
                found = part.search(text, at)
                if found is None:
                    return None
                places[index], at = Span(*found.span()), found.end()
        end = len(text)
        for index in range(len(self.parts) - 1, self._middle, -1):
            part = self.parts[index]
            if isinstance(part, re.Pattern):
                last = _last(part, text, at, end)
                if last is None:
                    return None
                places[index], end = last, last.start
        return places


def _last(pattern: re.Pattern[str], text: str, start: int, end: int) -> Span | None:
    last = None
    for found in pattern.finditer(text, start, end):
        last = Span(*found.span())
    return last


def _without(text: str, spans: list[Span]) -> str:
    pieces, at = [], 0
    for span in sorted(spans):
        pieces.append(text[at : span.start])
        at = span.end
    return "\n".join([*pieces, text[at:]])
