"""Read an answer: its likely type, and its value as one of that type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gradegpt.answers import options, values
from gradegpt.answers.answer import Answer, Read
from gradegpt.answers.number import may_begin, roman
from gradegpt.answers.parts import marks
from gradegpt.answers.text import CIRCLED, fold
from gradegpt.answers.times import spoken
from gradegpt.answers.truth import stated_truth, truth
from gradegpt.answers.types import CHOICE, IN_ORDER, AnswerType, Group, Leaf, Options, Range, Truth
from gradegpt.answers.words import Words

_MAX_NUMBER: Final = 200
_REGION: Final = re.compile(
    r"[<>≤≥]|\\(?:leq?|geq?|lt|gt)\b|不等式|定义域|值域|区间|取值范围|\b(?:inequalit|domain|interval)",
    re.IGNORECASE,
)
_POINT: Final = re.compile(
    r"坐标|点|向量|数对|置信|\b(?:confidence|point|coordinate|vector|pair|intersect|vertex|vertices|system)",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(r"(?:[a-zA-Z]\s*∈\s*)?[\[(][^\[\]()]*,[^\[\]()]*[\])](?:\s*∪.*)?")
_ORDER: Final = re.compile(r"顺序|次序|排序|先后|\b(?:order|sequence)\b", re.IGNORECASE)
"""Questions for which the numbers of statements are a sequence."""
_ONE_LABEL: Final = re.compile(r"\((\d\d?)\)")
_PROSE: Final = re.compile(r"[A-Za-z]{3,}(?:[ -][A-Za-z.]+)+|[A-Za-z]{4,}")
"""Words without a number: read at once, as most references are."""
_WORDS: Final = re.compile(
    r"[\u3400-\u9fff]{2}|(?<![a-zA-Z])[a-zA-Z]{3,}\s+[a-zA-Z]{2}|\b(?:AD|BCE?|CE)\b"
    r"|(?<![a-zA-Z\\_^{])(?!(?:sin|cos|tan|cot|sec|csc|arc\w*|log|exp|lim|max|min|mod|gcd|lcm|det"
    r"|sqrt|frac|and|true|false|yes|pi|inf(?:inity)?|sgn|arg|cm|mm|km|kg|mol|rad|deg)(?![a-zA-Z]))"
    r"(?:[A-Z][a-z]{2,}|[a-z]{3,})(?![a-zA-Z_^}(=])"
)
"""A word such as a month or a town: "March 18, 2018" is not a list of numbers."""

_SHORT_WORD: Final = re.compile("a[mnst]|b[ey]|do|he|i[fnst]|m[ey]|no|o[fn]|so|to|us|we")
"""English words that fill a blank, and are no product of two letters there."""


def read(
    text: str,
    kind: AnswerType | None = None,
    question: str = "",
    span: tuple[int, int] = (0, 0),
) -> Answer:
    """Read the whole of ``text``, a bare answer such as ``(B)`` or ``x<1或x>3``, as one answer.

    ``kind`` is its type, None for the likely one. The option texts of the ``question`` help to read
    letters, and ``span`` is the place of the answer in the text in which it was found. What cannot
    be read as ``kind`` becomes ``Words``, or a ``Leaf`` with neither quantity nor formula.
    """
    kind = kind or answer_type(text, question)
    return Answer(kind, _value(text, kind, question), text, span)


def _value(text: str, kind: AnswerType, question: str) -> Read:
    if kind in CHOICE:
        several = options.sequence(text, question)
        if len(several) > 1:
            ordered = not options.is_set(several) or any(map(str.isdigit, text))
            return Options(several, ordered)
        named = options.chosen(text, question)
        return Words(text) if named is None else Options(tuple(sorted(named)))
    if kind is AnswerType.TRUE_FALSE:
        holds = stated_truth(text)
        return Words(text) if holds is None else Truth(holds)
    if kind in (AnswerType.TEXT, AnswerType.CODE):
        return Words(text)
    folded = fold(text).strip()
    if kind is AnswerType.MULTI_PART and folded[:3] == "(1)" and "(2)" not in folded:
        return Group(True, (values.read(folded[3:]),))
    if kind is AnswerType.SET and (one := _ONE_LABEL.fullmatch(folded)):
        return Group(False, (values.read(one[1]),))
    value = values.read(text, region=kind is AnswerType.INTERVAL)
    in_order = kind in IN_ORDER or (values.labels(folded) and _ORDER.search(question))
    return values.in_order(value) if in_order else value


@lru_cache(maxsize=4096)
def answer_type(reference: str, question: str = "") -> AnswerType:
    """The likely type of a short reference answer: a guess for references without a stated one."""
    text = fold(reference).strip()
    listed = options.options(question)
    named = options.letters(text, listed)
    if named and (listed or {*text} <= {*options.LETTERS, *" \n,()"}):
        return AnswerType.SINGLE_CHOICE if len(named) == 1 else AnswerType.MULTIPLE_CHOICE
    one = reference.strip() in CIRCLED and sum(map(question.count, CIRCLED)) > 1
    if one or values.labels(text):
        return AnswerType.SET
    if truth(text) is not None:
        return AnswerType.TRUE_FALSE
    if spoken(text) is not None:
        return AnswerType.TEXT
    if _PROSE.fullmatch(text) and not (any(map(may_begin, text.split())) or roman(text)):
        return AnswerType.TEXT
    if len(text) <= _MAX_NUMBER:
        value = values.read(reference)
        if isinstance(value, Range):
            return AnswerType.TEXT
        if isinstance(value, Leaf) and value.quantity is not None and not value.name:
            return AnswerType.NUMBER
    numbers = [mark.number for mark in marks(text, anywhere="第一空" not in text)]
    if 1 in numbers and 2 in numbers[numbers.index(1) :]:
        return AnswerType.MULTI_PART
    return _mathematical(text, question)


def _mathematical(text: str, question: str) -> AnswerType:
    signs = {*text}
    if _WORDS.search(text) or not any(sign.isalnum() or sign in "_∅∞" for sign in signs):
        return AnswerType.TEXT
    if _PAIR.fullmatch(text):
        # (-2, 8) is more likely the solution of an inequality than a pair, where one is asked for.
        region = _REGION.search(question) and not _POINT.search(question)
        return AnswerType.INTERVAL if region or signs & {*"[]∞∪"} else AnswerType.TUPLE
    if text[0] == "{" and text[-1] == "}":
        return AnswerType.SET
    if signs & {*"<>≤≥"}:
        return AnswerType.INTERVAL
    if signs & {*",;或和±"} or {"or", "and"} & {*text.split()}:
        return AnswerType.MULTI_ANSWER
    if "=" in signs:
        return AnswerType.EQUATION
    word = "__" in question and _SHORT_WORD.fullmatch(text)
    formula = signs & {*"0123456789\\^+*/π√"} or (len(text) <= 2 and not word)
    return AnswerType.EXPRESSION if formula else AnswerType.TEXT
