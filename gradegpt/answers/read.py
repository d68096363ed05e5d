"""Read an answer: its likely type, and its value as one of that type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.options import (
    LETTERS,
    chosen,
    is_set,
    letters,
    options,
    sequence,
)
from gradegpt.answers.parts import marks
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import fold
from gradegpt.answers.times import spoken
from gradegpt.answers.truth import stated_truth, truth
from gradegpt.answers.types import (
    CHOICE,
    IN_ORDER,
    AnswerType,
    Group,
    Leaf,
    Options,
    Quantity,
    Range,
    Truth,
    Value,
)
from gradegpt.answers.values import APPROXIMATELY
from gradegpt.answers.words import Words

_MAX_NUMBER: Final = 200
_BLANK = re.compile(r"第[一1]空")
_REGION = re.compile(
    r"[<>≤≥]|\\(?:leq?|geq?|lt|gt)\b|不等式|定义域|值域|区间|取值范围|\b(?:inequalit|domain|interval)",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"坐标|点|向量|数对|置信|\b(?:confidence|point|coordinate|vector|pair|intersect|vertex|vertices|system)",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"(?:[a-zA-Z]\s*∈\s*)?[\[(（][^\[\]()]*[,，][^\[\]()]*[\])）](?:\s*∪.*)?")
_ORDER = re.compile(r"顺序|次序|排序|先后|\b(?:order|sequence)\b", re.IGNORECASE)
"""Questions for which the numbers of statements are a sequence."""
_WORDS = re.compile(r"[\u3400-\u9fff]{2,}|(?<![a-zA-Z])[a-zA-Z]{3,}\s+[a-zA-Z]{2,}")

_IN_SIGNS = re.compile(r"[\d=π√\\]")
"""Every number that is not in words has one of these."""
_FIRST_PART = re.compile(r"\s*\(1\)(?!.*\([2-9]\))\s*(?=\S)", re.DOTALL)
"""The mark (1) of an answer that has no other part."""
_NAME = re.compile(
    r"(?<![a-zA-Z\\_^{])(?!(?:sin|cos|tan|cot|sec|csc|arc\w*|log|exp|lim|max|min|mod|gcd|lcm|det"
    r"|sqrt|frac|and|true|false|yes|pi|inf(?:inity)?|sgn|arg|cm|mm|km|kg|mol|rad|deg)(?![a-zA-Z]))"
    r"(?:[A-Z][a-z]{2,}|[a-z]{3,})(?![a-zA-Z_^}(=])|\b(?:AD|BC|BCE|CE)\b"
)
"""A word such as a month or a town: "March 18, 2018" is not a list of numbers."""


def read(
    text: str,
    kind: AnswerType | None = None,
    question: str = "",
    span: tuple[int, int] = (0, 0),
) -> Answer:
    """Read the whole of ``text`` as one answer.

    Args:
        text: A bare answer, such as ``(B)``, ``三分之一``, ``x<1或x>3`` or ``(1) 5; (2) 7``.
        kind: Its type; None for the likely one.
        question: The question, whose option texts help to read letters.
        span: The place of the answer in the text in which it was found.

    A text that cannot be read as ``kind`` becomes ``Words``, or a ``Leaf`` with neither quantity
    nor formula.

    """
    kind = kind or answer_type(text, question)
    return Answer(kind, _value(text, kind, question), text, span)


def _value(text: str, kind: AnswerType, question: str) -> Value | Options | Truth | Words:
    if kind in CHOICE:
        several = sequence(text, question)
        if len(several) > 1:
            return Options(several, ordered=not is_set(several) or bool(re.search(r"\d", text)))
        named = chosen(text, question)
        return Words(text) if named is None else Options(tuple(sorted(named)))
    if kind is AnswerType.TRUE_FALSE:
        holds = stated_truth(text)
        return Words(text) if holds is None else Truth(holds)
    if kind in (AnswerType.TEXT, AnswerType.CODE):
        return Words(text)
    if kind is AnswerType.MULTI_PART and (mark := _FIRST_PART.match(fold(text))):
        return Group(True, (values.read(fold(text)[mark.end() :]),))
    value = values.read(text, region=kind is AnswerType.INTERVAL)
    if isinstance(value, Group) and _ORDER.search(question) and values.is_labels(fold(text)):
        return value._replace(ordered=True)
    return value._replace(ordered=True) if kind in IN_ORDER and isinstance(value, Group) else value


@lru_cache(maxsize=4096)
def answer_type(reference: str, question: str = "") -> AnswerType:
    """The likely type of a short reference answer: a guess for references without a stated one."""
    text = fold(reference).strip()
    listed = options(question)
    named = letters(text, listed)
    if named and (listed or re.fullmatch(rf"[{LETTERS}\s,()]+", text)):
        return AnswerType.SINGLE_CHOICE if len(named) == 1 else AnswerType.MULTIPLE_CHOICE
    if values.is_labels(text):
        return AnswerType.SET
    if truth(text) is not None:
        return AnswerType.TRUE_FALSE
    if spoken(text) is not None:
        return AnswerType.TEXT
    if len(text) <= _MAX_NUMBER:
        value = (
            values.read(text) if _IN_SIGNS.search(text) else quantity(APPROXIMATELY.sub("", text))
        )
        if isinstance(value, Range):
            return AnswerType.TEXT
        if isinstance(value, Quantity) or (
            isinstance(value, Leaf) and value.quantity is not None and not value.name
        ):
            return AnswerType.NUMBER
    if _has_parts(text):
        return AnswerType.MULTI_PART
    return _mathematical(text, question)


def _has_parts(text: str) -> bool:
    numbers = [mark.number for mark in marks(text, anywhere=_BLANK.search(text) is None)]
    return 1 in numbers and 2 in numbers[numbers.index(1) :]


def _asks_a_region(question: str) -> bool:
    """Whether (-2, 8) is more likely the solution of an inequality than a pair."""
    return bool(_REGION.search(question)) and not _POINT.search(question)


def _mathematical(text: str, question: str) -> AnswerType:
    if _WORDS.search(text) or _NAME.search(text) or not re.search(r"\w|[∅∞]", text):
        return AnswerType.TEXT
    if _INTERVAL.fullmatch(text):
        return (
            AnswerType.INTERVAL
            if re.search(r"[\[\]∞∪]", text) or _asks_a_region(question)
            else AnswerType.TUPLE
        )
    if text.startswith("{") and text.endswith("}"):
        return AnswerType.SET
    if re.search(r"[<>≤≥]", text):
        return AnswerType.INTERVAL
    if re.search(r"[,;或和]|\bor\b|\band\b|±", text):
        return AnswerType.MULTI_ANSWER
    if "=" in text:
        return AnswerType.EQUATION
    return (
        AnswerType.EXPRESSION
        if re.search(r"[\d\\^+*/π√]", text) or len(text) <= 2
        else AnswerType.TEXT
    )
