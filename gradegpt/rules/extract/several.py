"""Find several answers: in boxes, in numbered parts, in JSON lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from gradegpt.answers.json_list import mended
from gradegpt.answers.parts import numbered, pieces, run_of_parts
from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.core.schema import AnswerType
from gradegpt.rules.extract.found import MARKUP, Found, How

_BRACE = re.compile(r"\\f?box(?:ed)?\s*\{|(?<!\\)[{}]")
_JSON_ANSWER = re.compile(
    r'"(?:(?:final_|correct_)?answers?|(?:最终)?答案)"\s*+:\s*+'
    r'(?P<value>"(?:[^"\\]|\\.){0,2000}+"|-?\d[\d.eE+-]{0,40}+|true|false'
    r'|\[\s*+(?:(?:"(?:[^"\\]|\\.){0,500}+"|-?\d[\d.eE+-]{0,40}+)\s*+,?\s*+){1,60}+\])'
)
"""Possessive: backtracking in a list without an end would take exponential time."""
Extract = Callable[[str], str]
"""The final answer in the text of one part."""


class Box(NamedTuple):
    r"""The content of a ``\boxed{…}``, without spaces around it, and its span."""

    content: str
    start: int
    end: int


def boxes(text: str) -> list[Box]:
    r"""Each ``\boxed{…}`` that has a content and an end, in the order of their ends."""
    made, opened = [], list[re.Match[str]]()
    for brace in _BRACE.finditer(text) if "box" in text else ():
        if brace[0] != "}":
            opened.append(brace)
        elif opened and (begin := opened.pop())[0] != "{":
            content = text[begin.end() : brace.start()].strip()
            made.append(Box(content, begin.start(), brace.end()))
    return [box for box in made if box.content]


def json_answer(text: str, kind: AnswerType | None) -> Found | None:
    """The last ``{"answer": …}`` or ``{"answers": […]}``."""
    match = last_match(_JSON_ANSWER, text)
    if match is None:
        return None
    try:
        value = json.loads(mended(match["value"]))
    except ValueError:
        return None
    several = [str(v) for v in value] if isinstance(value, list) else [str(value)]
    several = [one.strip() for one in several]
    parts = kind is AnswerType.MULTI_PART and len(several) > 1
    answer = numbered(several) if parts else "; ".join(several)
    span = sentence_around(text, *match.span("value"))
    return Found(answer, *span, How.ANNOUNCED, match.span()) if answer.strip() else None


def several_boxes(text: str) -> Found | None:
    r"""The distinct boxes of the last paragraph as one answer: ``\boxed{3} or \boxed{-3}``."""
    start = text.rfind("\n\n", 0, max(0, text.rfind("\\boxed"))) + 1
    last = [box for box in boxes(text) if box.start >= start]
    answers = list(dict.fromkeys(box.content for box in last))
    if len(answers) < 2:
        return None
    span = sentence_around(text, last[0].start, last[-1].end)
    return Found("; ".join(answers), *span, How.BOXED, (last[0].start, last[-1].end))


def by_part(text: str, places: int, extract: Extract) -> Found | None:
    """The answers of the last run of parts, ``(1) … = 3. (2) … = 5.``, or of as many boxes."""
    boxed = boxes(text)
    if len(boxed) == places:
        return _joined(text, [box.content for box in boxed], boxed[-1].start, How.BOXED)
    run = run_of_parts(text, places)
    answers = [extract(piece.strip(" \n*:：;；,，")) for piece in pieces(text, run)] if run else []
    if not answers or not all(answers):
        return None
    return _joined(text, answers, run[0].start, How.ANNOUNCED)


def _joined(text: str, answers: list[str], start: int, how: How) -> Found:
    answer = numbered(a.strip(MARKUP) for a in answers)
    span = sentence_around(text, start, start + 1)
    return Found(answer, *span, how, span)
