"""Find several answers: in boxes, in numbered parts, in JSON lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from gradegpt.answers.json_list import mended
from gradegpt.answers.parts import numbered, pieces, run_of_parts
from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.rules.extract.found import MARKUP, Found, How
from gradegpt.schema import AnswerType

_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*+)\}")
_JSON_ANSWER = re.compile(
    r'"(?:final_|correct_)?answers?"\s*+:\s*+'
    r'(?P<value>"(?:[^"\\]|\\.){0,2000}+"|-?\d[\d.eE+-]{0,40}+|true|false'
    r'|\[\s*+(?:(?:"(?:[^"\\]|\\.){0,500}+"|-?\d[\d.eE+-]{0,40}+)\s*+,?\s*+){1,60}+\])'
)
"""Possessive: backtracking in a list without an end would take exponential time."""
Extract = Callable[[str], str]
"""The final answer in the text of one part."""


def boxes(text: str) -> list[str]:
    r"""The contents of each ``\boxed{…}``, in order; braces may nest three levels deep."""
    return [m[1].strip() for m in _BOX.finditer(text) if m[1].strip()]


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
    last = list(_BOX.finditer(text, start))
    answers = list(dict.fromkeys(m[1].strip() for m in last))
    if len(answers) < 2:
        return None
    span = sentence_around(text, last[0].start(), last[-1].end())
    return Found("; ".join(answers), *span, How.BOXED, (last[0].start(), last[-1].end()))


def by_part(text: str, places: int, extract: Extract) -> Found | None:
    """The answers of the last run of parts, ``(1) … = 3. (2) … = 5.``, or of as many boxes."""
    boxes = list(_BOX.finditer(text))[-places:]
    if len(boxes) == places and len(_BOX.findall(text)) == places:
        answers = [m[1] for m in boxes]
        return _joined(text, answers, boxes[-1].start(), How.BOXED)
    run = run_of_parts(text, places)
    answers = [extract(piece.strip(" \n*:：;；,，")) for piece in pieces(text, run)] if run else []
    if not answers or not all(answers):
        return None
    return _joined(text, answers, run[0].start, How.ANNOUNCED)


def _joined(text: str, answers: list[str], start: int, how: How) -> Found:
    answer = numbered(a.strip(MARKUP) for a in answers)
    span = sentence_around(text, start, start + 1)
    return Found(answer, *span, how, span)
