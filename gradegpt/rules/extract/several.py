"""Answers that come as several: boxes, parts in order, JSON lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.rules.extract.found import DRESSING, Found, How
from gradegpt.schema import AnswerType

_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*+)\}")
_JSON_ANSWER = re.compile(
    r'"(?:final_|correct_)?answers?"\s*+:\s*+'
    r'(?P<value>"(?:[^"\\]|\\.){0,2000}+"|-?\d[\d.eE+-]{0,40}+|true|false'
    r'|\[\s*+(?:(?:"(?:[^"\\]|\\.){0,500}+"|-?\d[\d.eE+-]{0,40}+)\s*+,?\s*+){1,60}+\])'
)
"""Nothing is given back, or a list without its end would be read in every way there is."""
_PART = re.compile(
    r"(?:^|(?<=[\s;；。.，,*:：]))(?:\*\*)?(?:[Pp]art\s*)?(?:[(（]\s*([1-9]|[一二三四五六七八九]|[a-i]|i{1,3}|iv|v)\s*[)）]|([①-⑨])|第([一二三四五六七八九1-9])[空问])(?:\*\*)?[\s:：]*"
)
Settle = Callable[[str], str]
"""The answer that one part settles on."""
_ROMAN: Final = ("i", "ii", "iii", "iv", "v")


def boxes(text: str) -> list[str]:
    r"""What stands in each ``\boxed{…}``, in order; braces may nest three deep."""
    return [m[1].strip() for m in _BOX.finditer(text) if m[1].strip()]


def json_answer(text: str, kind: AnswerType | None) -> Found | None:
    """The last ``{"answer": …}`` or ``{"answers": […]}``."""
    match = last_match(_JSON_ANSWER, text)
    if match is None:
        return None
    try:
        value = json.loads(match["value"])
    except ValueError:
        return None
    several = [str(v) for v in value] if isinstance(value, list) else [str(value)]
    marks = [f"({n}) " for n in range(1, len(several) + 1)]
    if kind is not AnswerType.MULTI_PART or len(several) < 2:
        marks = [""] * len(several)
    answer = "; ".join(mark + one.strip() for mark, one in zip(marks, several, strict=True))
    span = sentence_around(text, *match.span("value"))
    return Found(answer, *span, How.ANNOUNCED, match.span()) if answer.strip() else None


def several_boxes(text: str) -> Found | None:
    r"""``\boxed{3} or \boxed{-3}``: the different boxes of the last paragraph, as one answer."""
    start = text.rfind("\n\n", 0, max(0, text.rfind("\\boxed"))) + 1
    last = list(_BOX.finditer(text, start))
    answers = list(dict.fromkeys(m[1].strip() for m in last))
    if len(answers) < 2:
        return None
    span = sentence_around(text, last[0].start(), last[-1].end())
    return Found("; ".join(answers), *span, How.BOXED, (last[0].start(), last[-1].end()))


def by_part(text: str, places: int, settle: Settle) -> Found | None:
    """``(1) … = 3. (2) … = 5.``: the answers of the last run of parts, or of as many boxes."""
    boxes = list(_BOX.finditer(text))[-places:]
    if len(boxes) == places and len(_BOX.findall(text)) == places:
        answers = [m[1] for m in boxes]
        return _joined(text, answers, boxes[-1].start(), boxes[-1].end(), How.BOXED)
    marks = list(_PART.finditer(text))
    for end in range(len(marks), places - 1, -1):
        run = marks[end - places : end]
        if [_number(m) for m in run] == list(range(1, places + 1)):
            ends = [m.start() for m in run[1:]] + [len(text)]
            pieces = [
                text[m.end() : stop].strip(" \n*:：;；,，")
                for m, stop in zip(run, ends, strict=True)
            ]
            answers = [settle(piece) for piece in pieces]
            return (
                _joined(text, answers, run[0].start(), ends[-1], How.ANNOUNCED)
                if all(answers)
                else None
            )
    return None


def _joined(text: str, answers: list[str], start: int, end: int, how: How) -> Found:
    answer = "; ".join(f"({n}) {a.strip(DRESSING)}" for n, a in enumerate(answers, 1))
    span = sentence_around(text, start, start + 1)
    return Found(answer, *span, how, span)


def _number(mark: re.Match[str]) -> int:
    name = next(filter(None, mark.groups())).lower()
    order = ("123456789", "①②③④⑤⑥⑦⑧⑨", "一二三四五六七八九", "abcdefghi")
    if name in _ROMAN:
        return _ROMAN.index(name) + 1
    return next((digits.index(name) + 1 for digits in order if name in digits), 0)
