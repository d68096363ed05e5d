"""Answers of equal value in another form, and of another text with the same meaning.

The question handed back is no answer; nor are 40 - 4 for a number, 6/9 where a fraction is
simplified, and x² - 9, (2x - 4)(x + 2) or 15 × 4 where factors are asked for. A constant of
integration and the k of kπ may have any name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from gradegpt.answers import algebra, values
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import Node, nodes, read_formula, variables
from gradegpt.answers.text import fold, plain
from gradegpt.answers.types import ONE_VALUE, AnswerType
from gradegpt.rules.compare.base import Comparison, Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.cues import cue

_WITH_NAMES: Final = (AnswerType.EXPRESSION, AnswerType.EQUATION, AnswerType.MULTI_ANSWER)
AS_ASKED: Final = ("as-asked", "not-evaluated", "not-factorised", "not-reduced")
"""Forms that are shown not to be what is asked for."""
_OPERATION = re.compile(r"[-+*/^=√×÷]|\\frac|[²³]")
_OF_FORM = cue("asks for a form", "asks for factors")
_FACTORS, _INTEGRATES, _NOTATION = map(
    cue, ("asks for factors", "integrates", "asks for a notation")
)
_RATIO = re.compile(r"-?(?:\\frac\{)?(\d+)(?:[/:∶]|\}\{)(\d+)\}?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:/\d+)?%?")
_FACTOR = re.compile(r"\((\d+)[a-z][-+](\d+)\)")
_CONSTANT = re.compile(r"\+\s*[CcKk](?:_?\{?[0-9]\}?)?\s*\Z")
"""A constant of integration."""
_LEADING = re.compile(r"(?P<before>\A|=)\s*(?P<constant>[CcKk])\s*\+(?P<rest>[^=]+)\Z")
_WHOLE = re.compile(r"(?<![A-Za-z\\])([kmn])(?![A-Za-z])")


def in_another_form(reference: Answer, answer: Answer, question: str) -> str:
    """Why an answer that is equal may not be what is asked for; empty if it may."""
    expected, actual = reference.text, answer.text
    if reference.kind not in ONE_VALUE:
        return ""
    if handed_back := _handed_back(expected, actual, question):
        return handed_back
    wanted, given = (read_formula(fold(text).split("=")[-1]) for text in (expected, actual))
    if given and plain(expected).removeprefix("-").isdecimal() and _is_calculation(given):
        if given.op == "+":
            return "not-evaluated"
        return "in-another-form" if given.op == "*" else ""
    if not _OF_FORM.search(question):
        return ""
    if wanted and given and _FACTORS.search(question):
        if not variables(wanted):  # whether all factors are prime is not asked
            return "in-another-form" if _shape(wanted) != _shape(given) else ""
        if given.op == "+" != wanted.op:
            return "not-factorised"
    if _reducible(actual) and not _reducible(expected):
        return "not-reduced"
    worded = not _RATIO.fullmatch(plain(actual)) and any(map(str.isalpha, plain(expected)))
    return "in-another-form" if worded and _shape(wanted) != _shape(given) else ""


def _is_calculation(node: Node) -> bool:
    """Whether a formula of whole numbers is not calculated: 40 - 4, 6 × 6, √25; not 3 × 10^8."""
    parts = [*nodes(node)]
    whole = all(n.args or (n.value is not None and n.value.denominator == 1) for n in parts)
    known = {n.op for n in parts} <= {"num", "+", "*", "neg", "root", "^"}
    tens = any(n.value and str(n.value).rstrip("0") == "1" != str(n.value) for n in parts)
    return node.op in ("+", "*", "root") and whole and known and not tens


def _handed_back(reference: str, answer: str, question: str) -> str:
    """Whether the answer is a formula of the question, which the reference is not.

    Of a number in another notation than that of the reference, 3/4 for 0.75, it is not sure.
    """
    asked, back = plain(question), plain(answer)
    formula = len(back) > 2 and _OPERATION.search(back) and not _RATIO.fullmatch(back)
    if formula and back in asked and plain(reference) not in asked:
        return "as-asked"
    notations = [{*"/.%"} & {*text} for text in (reference, answer)]
    meant = _NOTATION.search(question) or (notations[1] and back in _NUMBER.findall(asked))
    unlike = meant and notations[0] != notations[1]
    return "in-another-form" if unlike else ""


def _reducible(answer: str) -> bool:
    """Whether a fraction or a factor has a common divisor: 6/9, (2x - 4)(x + 2)."""
    ratio = _RATIO.fullmatch(plain(answer))
    pairs = [ratio.groups()] if ratio else _FACTOR.findall(plain(answer))
    return any(math.gcd(int(one), int(other)) > 1 for one, other in pairs)


def _shape(node: Node | None) -> Counter[str]:
    """How often each operation occurs in a formula."""
    return Counter(part.op for part in nodes(node) if part.args) if node else Counter()


def with_its_names(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison | None:
    """Compared up to a constant of integration, or with the reference's name of a whole number.

    None if the two have no such name.
    """
    kind = reference.kind
    if kind not in _WITH_NAMES:
        return None
    texts = [fold(text) for text in (reference.text, answer.text)]
    if _INTEGRATES.search(criteria.question):
        texts = [_LEADING.sub(r"\g<before>\g<rest>+\g<constant>", text) for text in texts]
    sides = [plain(text.rpartition("=")[0]) for text in texts]
    if all(map(_CONSTANT.search, texts)) and (sides[0] == sides[1] or "" in sides):
        left, right = (read_formula(_CONSTANT.sub("", text).split("=")[-1]) for text in texts)
        same = algebra.equal_but_for_a_constant(left, right) if left and right else None
        if same is not None:
            words = "equal-but-for-a-constant" if same else "different"
            return Comparison(same, f"{kind.value}:{words}")
    names = [{*_WHOLE.findall(text)} for text in (*texts, fold(criteria.question))]
    if len(names[0]) != 1 or len(names[1]) != 1 or names[0] == names[1]:
        return None
    if names[2] & (names[0] | names[1]):
        return None
    renamed = _WHOLE.sub(names[0].pop(), texts[1])
    same = same_value(values.read(texts[0]), values.read(renamed), criteria) or None
    return Comparison(same, f"{kind.value}:{'equal-but-for-a-name' if same else 'not-shown'}")
