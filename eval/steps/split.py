"""Cut a solution into its steps, each a verbatim part of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.answers.number import spelled
from gradegpt.answers.parts import opening
from gradegpt.answers.spans import sentences
from gradegpt.core.schema import Item

MAX_STEPS: Final = 200
"""A text with more steps is a loop or not a solution, and is not scored."""
_TAGGED = re.compile(
    r"<STEP\s*\d+>(?P<body>.*?)(?:</STEP\s*\d*>|(?=<STEP\s*\d+>)|\Z)", re.DOTALL | re.IGNORECASE
)
_HAN: Final = "一二三四五六七八九十"
_HEADING = re.compile(
    r"(?:^[ \t]*+[#*_>\-]*+[ \t]*+|(?<=[。；;!！]))"
    r"(?:Step[ \t]*(?P<en>\d{1,3})|第[ \t]*(?P<zh>\d{1,3}|[" + _HAN + r"]{1,3})[ \t]*步"
    r"|步骤[ \t]*(?P<zh2>\d{1,3}|[" + _HAN + r"]{1,3}))"
    r"(?:[ \t*_]*+(?:[:：，,.．、)）]|[-—–](?=\s))|(?<=步)\s|(?=[ \t*_]*$))",
    re.IGNORECASE | re.MULTILINE,
)
_LINE = re.compile(r"^.*$", re.MULTILINE)
_LISTED = re.compile(r"(?:#+[ \t]*)?(?=[*_]*\d)")
"""The beginning of a line of a numbered list: at the margin, and not a part mark in brackets."""
_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_MARKUP: Final = " \t\r\n*_"
_HAS_WORD = re.compile(r"\w")


class _Mark(NamedTuple):
    number: int
    start: int
    end: int


def reference_steps(item: Item) -> tuple[str, ...]:
    """The steps of the reference solution: the item's own, else its solution cut into them."""
    own = tuple(step.strip() for step in item.steps if step.strip())
    return own or split_steps(item.solution)


def split_steps(text: str) -> tuple[str, ...]:
    r"""The steps of a solution; each of them is a verbatim part of ``text``.

    Where they are marked, by ``<STEP1>…</STEP1>``, ``Step 1:``, ``第一步`` or ``步骤1``, or by a
    list that counts up from 1 at the margin, a step is the text after its mark; text before the
    first mark or outside the tags is not a step. Otherwise the steps are the paragraphs; of a
    single paragraph the lines, of a single line the sentences.

    >>> split_steps("Step 1: 12 + 7 = 19.\nStep 2: 2 × 19 = 38.")
    ('12 + 7 = 19.', '2 × 19 = 38.')
    """
    tagged = _with_words(match["body"] for match in _TAGGED.finditer(text))
    if tagged:
        return tagged
    if headed := _counted(_headings(text), least=1):
        return _behind(text, headed)
    if listed := _counted(_listed(text), least=2):
        return _behind(text, listed)
    cuts = (
        (match[0] for match in _PARAGRAPH.finditer(text)),
        text.splitlines(),
        (text[start:end] for start, end in sentences(text)),
    )
    found = [_with_words(cut) for cut in cuts]
    return next((steps for steps in found if len(steps) > 1), found[0])


def _with_words(pieces: Iterable[str]) -> tuple[str, ...]:
    """The pieces without blanks around them, and without those without a word, such as dashes."""
    return tuple(piece.strip() for piece in pieces if _HAS_WORD.search(piece))


def _headings(text: str) -> list[_Mark]:
    marks = []
    for match in _HEADING.finditer(text):
        numeral = match["en"] or match["zh"] or match["zh2"]
        number = int(numeral) if numeral.isdecimal() else spelled(numeral)
        if number is not None:
            marks.append(_Mark(int(number), *match.span()))
    return marks


def _listed(text: str) -> list[_Mark]:
    marks = []
    for line in _LINE.finditer(text):
        lead = _LISTED.match(line[0])
        mark = opening(line[0][lead.end() :]) if lead else None
        if lead and mark and mark.kind == "digits":
            marks.append(_Mark(mark.number, line.start(), line.start() + lead.end() + mark.end))
    return marks


def _counted(marks: Iterable[_Mark], least: int) -> list[_Mark]:
    """The marks that count up from 1, also repeatedly; none where ``least`` is not reached."""
    kept: list[_Mark] = []
    for mark in marks:
        if mark.number == 1 or (kept and mark.number == kept[-1].number + 1):
            kept.append(mark)
    return kept if max((mark.number for mark in kept), default=0) >= least else []


def _behind(text: str, marks: Sequence[_Mark]) -> tuple[str, ...]:
    ends = [*(after.start for _, after in pairwise(marks)), len(text)]
    bodies = (text[mark.end : end] for mark, end in zip(marks, ends, strict=True))
    return _with_words(body.lstrip(_MARKUP) for body in bodies)
