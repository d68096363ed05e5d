"""Compare two answers, with three results: same, different, or not shown."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.answer import Answer
from gradegpt.answers.none import says_none
from gradegpt.answers.options import asked_questions
from gradegpt.answers.text import fold, plain
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Leaf, Options, Range, Region, Truth, Value
from gradegpt.answers.words import Words
from gradegpt.rules.compare.base import Comparison, Criteria, Prove, limited, unproved
from gradegpt.rules.compare.choice import compare_choice
from gradegpt.rules.compare.text import compare_text
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.tolerance import EXACT
from gradegpt.rules.tolerance import tolerance as policy
from gradegpt.schema import CHOICE, AnswerType

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
    if (none := _none(expected, actual)) is not None:
        return Comparison(none, f"{kind.value}:{'none' if none else 'none-or-one'}")
    same_text = plain(expected) == plain(actual) and plain(actual)
    if same_text and not _another_unit(expected, actual):
        return Comparison(True, f"{kind.value}:same-text")
    if kind is AnswerType.TEXT and (ranges := _ranges(expected, actual, question, tolerance)):
        return ranges
    if kind is AnswerType.TEXT or (_YEAR.fullmatch(expected.strip()) and _WHEN.search(question)):
        shown = compare_text(expected, actual, question)
        if kind is AnswerType.TEXT or shown.same:
            return shown
    wanted, given = reference.value, answer.value
    if isinstance(wanted, _NO_VALUE) or isinstance(given, _NO_VALUE):
        return Comparison(None, f"{kind.value}:not-shown")
    return _values(
        kind, (wanted, given), Criteria(policy(tolerance, question), prove, question=question)
    )


def _values(kind: AnswerType, pair: tuple[Value, Value], criteria: Criteria) -> Comparison:
    wanted, given = pair
    if _is_one_each(wanted, criteria.question):
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


def _another_unit(reference: str, answer: str) -> bool:
    """Whether the texts differ only in case, and the case changes the unit: 5 m and 5 M."""
    ends = [fold(text).strip(" .")[-1:] for text in (reference, answer)]
    return ends[0] != ends[1] and {*ends} == {"m", "M"}


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
