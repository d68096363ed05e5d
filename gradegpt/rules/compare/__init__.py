"""Compare two answers, with three results: same, different, or not shown."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from gradegpt.answers import algebra, values
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.none import says_none
from gradegpt.answers.options import asked_questions
from gradegpt.answers.text import fold, plain
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Leaf, Options, Range, Region, Truth, Value
from gradegpt.answers.words import Words
from gradegpt.core.schema import CHOICE, AnswerType
from gradegpt.rules.compare.base import Comparison, Criteria, Prove, limited, unproved
from gradegpt.rules.compare.choice import compare_choice
from gradegpt.rules.compare.signs import (
    case_matters,
    is_count_of_arrangements,
    lacks_factorial,
    other_base,
    other_rate,
    other_sign,
)
from gradegpt.rules.compare.text import compare_text
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.tolerance import EXACT
from gradegpt.rules.tolerance import tolerance as policy

__all__ = ["Comparison", "Prove", "compare", "limited"]

_TO_A_GRADER = re.compile(
    r"[应直请被]\S{0,3}判[为定作]|评[分判][员者结]|评判|阅卷|判定|视为|算我|思路|\[\[[A-Z]\]\]"
    r"|\bmark(?:ed)? (?:this|it|me)\b|\bcounts? as\b|\bresponses?\b|\brules?:"
    r"|\b(?:verdict|grader?|grading|grade this|judg(?:e|ment))\b",
    re.IGNORECASE,
)
"""Words that ask a grader for "correct" instead of giving it as an answer."""
_HYPHEN = re.compile(r"\d\s*[-–—]\s*\d")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_WHEN = re.compile(r"\b(?:when|(?:what|which) year)\b|哪一?年|何时|什么时候", re.IGNORECASE)
"""Questions that a date answers if its year is the reference."""
_PAIR = re.compile(r"(\d{1,2}|[a-z])(?:-+>?|:|→)(\d{1,2}|[a-z])(?![\w.])")
_PAIRS = re.compile(
    r"(?:(?:\d{1,2}(?:-+>?|:|→)[a-z]|[a-z](?:-+>?|:|→)\d{1,2})[,;、.]?)+", re.IGNORECASE
)
"""Numbers that are matched with letters: 1-c, 2-a."""
_SORTED = re.compile(
    r"\b(?:(?:as|des)cending|(?:in|de)creasing order|arrange|sort"
    r"|from (?:small|low|large|great|high)est)\b|从[小大低高]到[大小高低]|排列",
    re.IGNORECASE,
)
"""Questions whose answers have an order."""
_OPERATION = re.compile(r"[-+*/^=√×÷]|\\frac|[²³]")
_OF_FORM = re.compile(
    r"\bfactori[sz]e|\bsimplify|\bsimplest|\bexpand\b|slope-intercept|\blowest terms"
    r"|因式分解|分解因式|化简|最简|斜截式",
    re.IGNORECASE,
)
_SUM = re.compile(r"\s*\d+(?:\s*[-+]\s*\d+)+\s*")
"""A number that is not calculated: 40 - 4."""
_RATIO = re.compile(r"-?(?:\\frac\{)?(\d+)(?:/|\}\{)(\d+)\}?")
_FACTOR = re.compile(r"\((\d+)[a-z][-+](\d+)\)")
_CONSTANT = re.compile(r"\+\s*[CcKk](?:_?\{?[0-9]\}?)?\s*\Z")
"""A constant of integration."""
_WHOLE = re.compile(r"(?<![A-Za-z\\])([kmn])(?![A-Za-z])")
_ONE_VALUE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION, AnswerType.EQUATION)
_WITH_NAMES: Final = (AnswerType.EXPRESSION, AnswerType.EQUATION, AnswerType.MULTI_ANSWER)
_NO_VALUE: Final = (Options, Truth, Words)
"""Answers without a mathematical value."""


def compare(
    reference: Answer,
    answer: Answer,
    *,
    question: str = "",
    tolerance: str = "auto",
    prove: Prove = unproved,
) -> Comparison:
    """Compare ``answer`` with ``reference``, both read as the reference's type.

    Args:
        reference: The accepted answer.
        answer: The answer that was found in the response.
        question: The question; its option texts identify letters, its words whether to round.
        tolerance: The name of a policy, see ``gradegpt.rules.tolerance``.
        prove: Called with two formulas that cannot be read here.

    Raises:
        InputError: There is no tolerance of that name.

    """
    kind, expected, actual = reference.kind, reference.text, answer.text
    if kind in CHOICE:
        return compare_choice(reference, answer, question)
    if kind is AnswerType.TRUE_FALSE:
        return _truth(reference, answer)
    if (by_text := _by_text(kind, expected, actual, question)) is not None:
        return by_text
    ranges = _ranges(expected, actual, question, tolerance) if kind is AnswerType.TEXT else None
    if ranges is not None:
        return ranges
    if kind is AnswerType.TEXT or (_YEAR.fullmatch(expected.strip()) and _WHEN.search(question)):
        shown = compare_text(expected, actual, question)
        if kind is AnswerType.TEXT or shown.same:
            return shown
    wanted, given = reference.value, answer.value
    if isinstance(wanted, _NO_VALUE) or isinstance(given, _NO_VALUE):
        return Comparison(None, f"{kind.value}:not-shown")
    criteria = Criteria(policy(tolerance, question), prove, question=question)
    compared = _values(kind, (wanted, given), criteria)
    one = kind in _ONE_VALUE
    if compared.same and one and (why := _in_another_form(expected, actual, question)):
        return Comparison(None, f"{kind.value}:{why}")
    if compared.same or kind not in _WITH_NAMES:
        return compared
    return _with_its_names(reference, answer, criteria) or compared


def _by_text(kind: AnswerType, expected: str, actual: str, question: str) -> Comparison | None:
    """What the texts show before they are read as values: the same text, or another sign."""
    if (none := _none(expected, actual)) is not None:
        return Comparison(none, f"{kind.value}:{'none' if none else 'none-or-one'}")
    if kind is not AnswerType.TEXT and other_sign(expected, actual):
        hundredths = "cent" in expected + actual  # 12 dollars are 1200 cents
        return Comparison(None if hundredths else False, f"{kind.value}:other-unit")
    if other_rate(f"{question} {expected}", actual) or other_base(expected, actual):
        return Comparison(None, f"{kind.value}:other-rate-or-base")
    if kind is AnswerType.SET and "{" in expected and actual.strip(" $")[:1] in "([":
        return Comparison(None, "set:in-other-brackets")
    if plain(expected) == plain(actual) and plain(actual):
        if case_matters(expected, actual, question) or lacks_factorial(expected, actual):
            return Comparison(None, f"{kind.value}:other-case-or-sign")
        return Comparison(True, f"{kind.value}:same-text")
    if kind is AnswerType.NUMBER and is_count_of_arrangements(actual):
        return Comparison(None, "number:not-evaluated")
    pairs = _matched(expected, actual)
    words = "same" if pairs else "other"
    return None if pairs is None else Comparison(pairs, f"{kind.value}:{words}-pairs")


def _with_its_names(reference: Answer, answer: Answer, criteria: Criteria) -> Comparison | None:
    """Compared up to a constant of integration, or with the reference's name of a whole number.

    None if the two have no such name.
    """
    kind, texts = reference.kind, [fold(text) for text in (reference.text, answer.text)]
    sides = [plain(text.rpartition("=")[0]) for text in texts]
    if all(_CONSTANT.search(text) for text in texts) and (sides[0] == sides[1] or "" in sides):
        left, right = (read_formula(_CONSTANT.sub("", text).split("=")[-1]) for text in texts)
        same = algebra.equal_but_for_a_constant(left, right) if left and right else None
        if same is not None:
            words = "equal-but-for-a-constant" if same else "different"
            return Comparison(same, f"{kind.value}:{words}")
    renamed = _renamed(texts[0], texts[1], criteria.question)
    if renamed is None:
        return None
    same = same_value(values.read(texts[0]), values.read(renamed), criteria) or None
    return Comparison(same, f"{kind.value}:{'equal-but-for-a-name' if same else 'not-shown'}")


def _values(kind: AnswerType, pair: tuple[Value, Value], criteria: Criteria) -> Comparison:
    wanted, given = pair
    if _is_one_each(wanted, criteria.question) or _SORTED.search(criteria.question):
        wanted, given = _in_order(wanted), _in_order(given)
    criteria = criteria._replace(names_matter=kind is AnswerType.EQUATION)
    if not isinstance(wanted, Region) and not isinstance(given, Region):
        wanted, given = _only(wanted), _only(given)
    same = same_value(wanted, given, criteria)
    words = {True: "equal", False: "different", None: "not-shown"}[same]
    exactly = same and same_value(wanted, given, criteria._replace(tolerance=EXACT))
    within = "-within-tolerance" if same and not exactly else ""
    return Comparison(same, f"{kind.value}:{words}{within}")


def _ranges(reference: str, answer: str, question: str, tolerance: str) -> Comparison | None:
    """The comparison of two ranges, or of a range and a number outside it."""
    if not values.is_range(reference):
        return None
    wanted, given = values.read(reference), values.read(answer)
    if _HYPHEN.search(answer) and not isinstance(given, Range):
        given = values.read(f"from {answer}")
        if not isinstance(given, Range):
            return None
    same = same_value(wanted, given, Criteria(policy(tolerance, question), question=question))
    reasons = {True: "same-range", False: "other-range"}
    return None if same is None else Comparison(same, f"text:{reasons[same]}")


def _none(reference: str, answer: str) -> bool | None:
    """Whether both state that there is no answer; False if one does and the other has a value."""
    wanted, given = says_none(reference), says_none(answer)
    if not wanted and not given:
        return None
    if wanted and given:
        return True
    value = values.read(answer if wanted else reference, region=True)
    if value == Region(()):
        return True
    return False if values.is_read(value) else None


def _is_one_each(wanted: Value, question: str) -> bool:
    """Whether these answer as many questions in order: numbered questions, or yes and no."""
    if not isinstance(wanted, Group):
        return False
    held = (isinstance(item, Leaf) and truth(item.text) is not None for item in wanted.items)
    return all(held) or asked_questions(question)[1] == len(wanted.items)


def _matched(reference: str, answer: str) -> bool | None:
    """Whether both match the same numbers with the same letters; None if they match nothing."""
    wanted, given = (
        [frozenset(pair) for pair in _PAIR.findall(plain(text))]
        if _PAIRS.fullmatch(plain(text))
        else []
        for text in (reference, answer)
    )
    same_size = len(wanted) > 1 and len(wanted) == len(given)
    return {*wanted} == {*given} if same_size else None


def _in_another_form(reference: str, answer: str, question: str) -> str:
    """Why a formula that is equal may not be what is asked for; empty if it may.

    The question handed back is no answer; nor are 40 - 4 for a number, 6/9 where a fraction is
    simplified, and (2x - 4)(x + 2) where a polynomial is factorised.
    """
    if _handed_back(reference, answer, question):
        return "as-asked"
    if _SUM.fullmatch(fold(answer)) and not _SUM.fullmatch(fold(reference)):
        return "not-evaluated"
    if not _OF_FORM.search(question):
        return ""
    if ratio := _RATIO.fullmatch(plain(answer)):
        return "in-another-form" if math.gcd(int(ratio[1]), int(ratio[2])) > 1 else ""
    if not re.search("[a-z]", plain(reference)):
        return ""
    if any(math.gcd(int(a), int(b)) > 1 for a, b in _FACTOR.findall(plain(answer))):
        return "in-another-form"
    shapes = [_shape(read_formula(fold(text).split("=")[-1])) for text in (reference, answer)]
    return "in-another-form" if shapes[0] != shapes[1] else ""


def _shape(node: Node | None) -> Counter[str]:
    """How often each operation occurs in a formula."""
    if node is None:
        return Counter()
    own = Counter([node.op] if node.args else [])
    return sum((_shape(arg) for arg in node.args), own)


def _handed_back(reference: str, answer: str, question: str) -> bool:
    """Whether the answer is a formula of the question, which the reference is not."""
    asked, back = plain(question), plain(answer)
    formula = len(back) > 2 and _OPERATION.search(back) and not _RATIO.fullmatch(back)
    return bool(formula) and back in asked and plain(reference) not in asked


def _renamed(reference: str, answer: str, question: str) -> str | None:
    """The answer with the reference's name of a whole number, the k of kπ; None without one."""
    wanted, given = ({*_WHOLE.findall(text)} for text in (reference, answer))
    named = {*_WHOLE.findall(fold(question))} & (wanted | given)
    if len(wanted) == len(given) == 1 and wanted != given and not named:
        return _WHOLE.sub(wanted.pop(), answer)
    return None


def _only(value: Value) -> Value:
    """The only value of a group of one, such as {5}; a set that holds one pair remains a set."""
    if isinstance(value, Group) and len(value.items) == 1:
        (item,) = value.items
        return value if isinstance(item, Group) else item
    return value


def _in_order(value: Value) -> Value:
    return value._replace(ordered=True) if isinstance(value, Group) else value


def _truth(reference: Answer, answer: Answer) -> Comparison:
    request = truth(answer.text) is None and _TO_A_GRADER.search(answer.text)
    wanted, given = reference.value, answer.value
    if request or not isinstance(wanted, Truth) or not isinstance(given, Truth):
        return Comparison(None, "true_false:no-truth-word")
    same = wanted == given
    return Comparison(same, "true_false:same" if same else "true_false:opposite")
