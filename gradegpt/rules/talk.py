"""Which of several answers that a short response names is the one to which it commits.

A response that talks about answers and derives none names them side by side: one that is denied,
that somebody else gives, that is taken back, or that may be right as well. ``stance.commitment``
says to which it commits; words that are not known there leave the response open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.options import LETTERS, half_width
from gradegpt.answers.read import read
from gradegpt.answers.spans import sentence_around, sentence_end
from gradegpt.answers.types import Group
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.bind import AT, LISTS, Mention, mentions
from gradegpt.rules.claims import Found, How
from gradegpt.rules.compare import TO_A_GRADER, compare
from gradegpt.rules.reference import answer_places
from gradegpt.rules.stance import PERSON, alone, clauses, commitment, negated, takes_stance

_TALK: Final = 300
_MOST: Final = 8
_LINES: Final = 2
"""Most characters beside the answers, answers, and lines of a response that only names them."""
_SHARED: Final = 3
"""Most words that it shares with the question, one less in English; a derivation shares more."""
_LONGEST: Final = 1_000
_UNREAD: Final = (AnswerType.TEXT, AnswerType.CODE)
_WORD = re.compile(r"[A-Za-z]{4,}|(?=([\u3400-\u9fff]{2}))")
_CHAIN = re.compile(r"=[^=,;]*=|<<")
_STEP = re.compile(r"=[^=]*=|[-+*/×÷]\s*\d[^=]*=|<<")
"""Steps of derivations: two equals signs, or an operation before one."""
_SUM = re.compile(r"\d\s*[-+*/×÷]\s*\d[\d.,\s+*/×÷()-]*=")
_PARTS = re.compile(r"[①-⑨]|\b[a-e]\)")
_OTHER_FORM = re.compile(r"\\begin|boxed|[ⁿˣʸᵏ]|\A\s*\{\s*\"")
"""Matrices, boxes, letters as exponents and JSON, whose answers are read where they are."""
_FIRST = re.compile(r"[A-Z][。.]\s*[A-Z]项?(?:错误|不正确)")
"""A letter alone, then another that is wrong, of which either may be what is asked: B。A错误。"""
_CALLED = re.compile(
    r"[)\]*]*\s*(?:is|are|looks?|seems?|sounds?)\s+"
    r"(?!(?:the|my|our|an?|correct|right|true|best|what|left|it|certainly|clearly)\b)"
)
"""Words after an option that say how it is, not that it is chosen: "D is absurd"."""
_AND = re.compile(r"\band\b|[和与或]")
_BETWEEN = re.compile(rf"{_AND.pattern}|\bor\b|[及、,;]")


class Settled(NamedTuple):
    """The answer to which a response commits that names several; None if it is not shown to."""

    found: Found | None


def settled(
    response: str, first: Found, references: Sequence[Answer], question: str
) -> Settled | None:
    """What a response comes to that only talks about answers; None for any other response."""
    kind, text = references[0].kind, half_width(response)
    grader = kind is AnswerType.TRUE_FALSE and TO_A_GRADER.search(text)
    if len(text) > _LONGEST or _is_read(text, first) or grader:
        return None
    if kind in _UNREAD:
        named = _occurrences(text, [reference.text for reference in references])
        talks = _talks(text, named, kind, question)
        stands = all(alone(text, one) for one in clauses(text, named))
        return Settled(None) if talks and not stands else None
    named = mentions(text, kind, question)
    if not _talks(text, named, kind, question):
        return None
    if any(_twice(one.text, kind) for one in named):
        return Settled(None)
    if _one_by_one(named, kind, references[0].text, question):
        return None

    def same(one: Mention, other: Mention) -> bool:
        left, right = (read(m.text, kind, question) for m in (one, other))
        return left.value == right.value or compare(left, right, question=question).same is True

    said = clauses(text, named)
    if all(same(one, named[0]) for one in named[1:]):
        denied = all(negated(text, one) for one in said)
        taken = kind in CHOICE and PERSON.search(text, sentence_end(text, said[-1].end))
        return Settled(None) if taken or (denied and kind is not AnswerType.TRUE_FALSE) else None
    if not takes_stance(text):
        return None
    committed = commitment(text, said, same)
    last = committed and committed.mention
    judged = last and (_CALLED.match(text, last.end) or (_FIRST.match(text) and not last.start))
    if last is None or (kind in CHOICE and judged) or AT.search(text, 0, last.start + 1):
        return Settled(None)
    place = (last.start, last.end)
    return Settled(Found(response[slice(*place)], *sentence_around(response, *place), How.ANNOUNCED, place))


def _is_read(text: str, found: Found) -> bool:
    """Whether the answer found stands by itself: in a box, or announced in a last line."""
    line = text.rfind("\n", 0, len(text.rstrip())) + 1
    last = line > 0 and found.how is How.ANNOUNCED and found.clause[1] > line
    return last or found.how is How.BOXED or _OTHER_FORM.search(text) is not None


def _talks(text: str, named: list[Mention], kind: AnswerType, question: str) -> bool:
    """Whether a text names answers in words that are not those of the question."""
    if not 0 < len(named) <= _MOST or text.count("\n") >= _LINES:
        return False
    beside = text
    for one in reversed(named):
        beside = f"{beside[: one.start]} \0 {beside[one.end :]}"
    own, asked = ({(m[0] or m[1]).lower() for m in _WORD.finditer(t)} for t in (beside, question))
    shared = len(own & asked) + text.isascii()
    if len(beside) > _TALK or not own or shared > _SHARED:
        return False
    parts = kind is AnswerType.MULTI_PART and _PARTS.search(text)
    number = kind is AnswerType.NUMBER
    if parts or (number and _SUM.search(text)):
        return False
    step = _STEP if number else _CHAIN
    return kind in LISTS or not any(step.search(m.text) for m in named)


def _occurrences(text: str, names: Sequence[str]) -> list[Mention]:
    """The places of given names in a text."""
    folded, wanted = text.casefold(), [half_width(n.strip()) for n in names if len(n) > 1]
    # Most names are not there, and a pattern of its own for each row takes longest.
    pattern = "|".join(re.escape(name) for name in wanted if name.casefold() in folded)
    found = re.finditer(pattern, text, re.IGNORECASE) if pattern else ()
    return [Mention(m[0], *m.span()) for m in found]


def _size(answer: str, kind: AnswerType) -> int:
    """The number of options or values in an answer."""
    if kind in CHOICE:
        return len(re.findall(f"[{LETTERS}]", answer))
    value = values.read(answer)
    return len(value.items) if isinstance(value, Group) else 1


def _twice(answer: str, kind: AnswerType) -> bool:
    """Whether an answer is two in a row: ABD和ABC, "(1) 3 (2) 5 or (1) 4 (2) 5"."""
    answer = re.sub(r"\s*([=<>≤≥])\s*", r"\1", answer)
    marks = re.findall(r"\(\d{1,2}\)|\b\d{1,2}\.(?!\d)", answer)
    if kind in CHOICE or kind is AnswerType.MULTI_PART:
        rows = (between.split(answer) for between in (_BETWEEN, _AND))
        several = any(sum(_size(piece, kind) > 1 for piece in row) > 1 for row in rows)
        return len(marks) != len({*marks}) or (kind in CHOICE and several)
    items = [item for item in re.split(r"\s|" + _BETWEEN.pattern, answer) if item]
    return kind in LISTS and len(items) != len({*items})


def _one_by_one(named: list[Mention], kind: AnswerType, reference: str, question: str) -> bool:
    """Whether a text gives several answers that are asked for one after another."""
    if kind not in CHOICE and kind not in LISTS:
        return False
    full = sum(_size(one.text, kind) > 1 for one in named)
    least = 1 if kind is AnswerType.MULTI_ANSWER else 2
    return full < least and answer_places(reference, kind, question) > 1
