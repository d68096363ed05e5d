"""The frame of a caller's prompt: marks in a fixed order, with fields between them.

A frame is read by a sequence of searches, never by one long pattern, so that a hostile response
costs linear time. Marks that an untrusted response quotes are treated as text: before the response
the first match of each mark counts, after it the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.core.schema import Message

_FIELD: Final = re.compile(r"\{(\w+)\}")
_SPECIAL: Final = re.compile(r"[\\\[\](){}|?*+^$.]")
"""What makes a mark more than plain words, whose absence is found much faster."""
RESPONSE: Final = "response"
_RESPONSE: Final = "{response}"


class Framed(NamedTuple):
    """The fields that a frame found, where its marks begin, and the text that is in no field.

    ``heads`` are the marks before the response, ``tails`` those after it.
    """

    fields: dict[str, str]
    spans: dict[str, range]
    heads: list[int]
    tails: list[int]
    rest: str


@cache
def mark(pattern: str) -> re.Pattern[str]:
    """A regular expression in which a blank matches any white space, as callers join lines.

    Raises:
        ValueError: it is none.

    """
    try:
        return re.compile(re.sub(r" +", r"\\s+", pattern))
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


def frame_of(text: str) -> Frame:
    r"""The frame in one text: ``Q: {question} {} A: {response}``, with ``{}`` between two marks."""
    parts = re.split(r"\s*(\{(?:[a-z]\w*)?\})\s*", text)
    return Frame(*(part for part in parts if part not in ("", "{}")))


class Frame:
    r"""Marks and fields in their order: ``Frame(r"Q:", "{question}", r"A:", "{response}")``.

    Args:
        parts: A field in braces, else a mark (``mark``). Every frame has the field ``response``;
            a field that ends the frame reaches to the end of the text.

    Raises:
        ValueError: it has no such field, two fields without a mark between them, or a mark that is
            no regular expression.

    """

    def __init__(self, *parts: str) -> None:
        if _RESPONSE not in parts:
            raise ValueError(f"{' '.join(parts)!r} has no {_RESPONSE}")
        for one, other in pairwise(parts):
            if _FIELD.fullmatch(one) and _FIELD.fullmatch(other):
                raise ValueError(f"template: {one} {other}: text is needed between two fields")
        self.parts = [p if _FIELD.fullmatch(p) else mark(p) for p in parts]
        plain = [p for p in parts if not _FIELD.fullmatch(p) and not _SPECIAL.search(p)]
        self._words = [word for part in plain for word in part.split()]
        self._middle = self.parts.index(_RESPONSE)

    def read(self, text: str) -> Framed | None:
        """The fields, stripped, or None where a mark is missing."""
        places = self._places(text) if all(word in text for word in self._words) else None
        if places is None:
            return None
        spans = {}
        for index, part in enumerate(self.parts):
            if isinstance(part, str):
                start = places[index - 1].stop if index else 0
                end = places[index + 1].start if index + 1 in places else len(text)
                spans[part[1:-1]] = range(start, end)
        fields = {name: text[span.start : span.stop].strip() for name, span in spans.items()}
        between, end = list[str](), 0
        for span in sorted(spans.values(), key=lambda span: span.start):
            between.append(text[end : span.start])
            end = span.stop
        rest = "\n".join([*between, text[end:]])
        heads = [span.start for at, span in sorted(places.items()) if at < self._middle]
        tails = [span.start for at, span in sorted(places.items()) if at > self._middle]
        return Framed(fields, spans, heads, tails, rest)

    def _places(self, text: str) -> dict[int, range] | None:
        places: dict[int, range] = {}
        at = 0
        for index, part in enumerate(self.parts[: self._middle]):
            if isinstance(part, re.Pattern):
                found = part.search(text, at)
                if found is None:
                    return None
                places[index], at = range(*found.span()), found.end()
        end = len(text)
        for index in range(len(self.parts) - 1, self._middle, -1):
            part = self.parts[index]
            if isinstance(part, re.Pattern):
                *_, last = (None, *part.finditer(text, at, end))
                if last is None:
                    return None
                places[index], end = range(*last.span()), last.start()
        return places


def frames_of(messages: Sequence[Message]) -> str:
    """The text of a conversation, without the chat markup around raw prompts."""
    text = "\n\n".join(message.content for message in messages)
    inside = _HEAD.sub("", text, count=1)
    cut = max(0, len(inside) - _LONGEST_TAIL)
    return (inside[:cut] + _TAIL.sub("", inside[cut:], count=1)).removesuffix("/no_think")


_LONGEST_TAIL: Final = 1_000
"""Characters at the end of a prompt that the markup of a chat template may take."""
# Possessive: a run of blanks is read once, however long.
_HEAD: Final = re.compile(
    r"\A\s*+(?:(?:<s>|<bos>|<\|begin_of_text\|>)\s*+)?"
    r"(?:<\|im_start\|>\w+\s|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+\s"
    r"|\[INST\]|(?:User|USER|Human|HUMAN|用户)\s*[:：])\s*"
)
_TAIL: Final = re.compile(
    r"(?<!\s)\s*+(?:(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>)\s*+)?"
    r"(?:<\|im_start\|>\w+|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+"
    r"|\[/INST\]|(?:Assistant|ASSISTANT|助手)\s*+[:：])"
    r"(?:\s*+<think>\s*+(?:</think>)?)?\s*+\Z"
)
