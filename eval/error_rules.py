"""Classify a wrong answer by rules: its error category."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gradegpt.answers import algebra, units
from gradegpt.answers.answer import Answer
from gradegpt.answers.none import says_none
from gradegpt.answers.read import read
from gradegpt.answers.truth import truth
from gradegpt.answers.types import (
    AnswerType,
    Group,
    Leaf,
    Options,
    Quantity,
    Region,
    Relation,
    Value,
)
from gradegpt.answers.values import is_read
from gradegpt.answers.words import words
from gradegpt.rules.compare import compare
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.tolerance import EXACT
from gradegpt.rules.validity import denies


class Category(StrEnum):
    """What is wrong with an answer.

    The categories and their order are the paper's (ATLAS, table 6), the definitions in ``MEANING``
    our own; ``unknown`` is no category of the paper.
    """

    NUMERICAL = "numerical"
    MATHEMATICAL = "mathematical"
    MISSING = "missing"
    STRUCTURAL = "structural"
    METHOD = "method"
    CONTRADICTORY = "contradictory"
    UNIT = "unit"
    REASONING = "reasoning"
    CONCEPT = "concept"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


ATLAS: Final = {
    Category.NUMERICAL: 27.0, Category.MATHEMATICAL: 16.5, Category.MISSING: 13.0,
    Category.STRUCTURAL: 11.0, Category.METHOD: 8.5, Category.CONTRADICTORY: 7.0,
    Category.UNIT: 5.0, Category.REASONING: 4.5, Category.CONCEPT: 4.0, Category.INCOMPLETE: 3.5,
}  # fmt: skip
"""Percent of 200 explanations of wrong answers (table 6); they add up to 100."""

MEANING: Final = {
    Category.NUMERICAL: "another number than the reference's",
    Category.MATHEMATICAL: "another formula, equation, expression or interval",
    Category.MISSING: "some of several values, options or sub-answers are not there",
    Category.STRUCTURAL: "another kind of thing, such as words for a value or more values",
    Category.METHOD: "it comes of a wrong approach or assumption",
    Category.CONTRADICTORY: "the opposite of the reference, such as yes for no",
    Category.UNIT: "another unit, or none where one is needed",
    Category.REASONING: "the argument that was asked for does not hold",
    Category.CONCEPT: "a principle or term is taken for another",
    Category.INCOMPLETE: "right as far as it goes, without details of the reference",
    Category.UNKNOWN: "none of these",
}
"""The definition of each category in the model's prompt."""


def of_answer(
    reference: str, answer: str, kind: AnswerType, question: str = "", tolerance: str = "auto"
) -> Category | None:
    """The error category of ``answer``; ``unknown`` where the rules find none, None without error.

    None is an answer that the rules find equal to the reference: the judgement is in doubt.
    """
    if not answer.strip():
        return Category.MISSING
    wanted, given = read(reference, kind, question), read(answer, kind, question)
    if compare(wanted, given, question=question, tolerance=tolerance).same:
        return None
    if _is_opposite(reference, answer):
        return Category.CONTRADICTORY
    if isinstance(wanted.value, Options) and isinstance(given.value, Options):
        some = not wanted.value.ordered and {*given.value.letters} < {*wanted.value.letters}
        return Category.MISSING if some else Category.UNKNOWN
    if kind in (AnswerType.TEXT, AnswerType.CODE):
        return _of_words(reference, answer)
    return _of_values(wanted, given)


def _is_opposite(reference: str, answer: str) -> bool:
    """Whether true stands for false, or a value for none; and the other way round."""
    wanted, given = truth(reference), truth(answer)
    other = wanted is not None and given is not None and wanted is not given
    return other or says_none(reference) is not says_none(answer)


def _of_words(reference: str, answer: str) -> Category:
    """Only an answer whose words are all in the reference is known to be incomplete."""
    wanted, given = {*words(reference)}, {*words(answer)}
    some = len(given) > 1 and given < wanted and not denies(wanted - given)
    return Category.INCOMPLETE if some else Category.UNKNOWN


def _of_values(one: Answer, other: Answer) -> Category:
    wanted, given = one.value, other.value
    if not isinstance(wanted, Value) or not is_read(wanted):
        return Category.UNKNOWN
    if not isinstance(given, Value) or not is_read(given):
        prose = len(words(other.text)) > 2
        return Category.STRUCTURAL if prose else Category.UNKNOWN
    if isinstance(wanted, Region) and isinstance(given, Region):
        return Category.MATHEMATICAL
    several = [value.items if isinstance(value, Group) else (value,) for value in (wanted, given)]
    if len(several[0]) != len(several[1]):
        fewer = len(several[1]) < len(several[0])
        return Category.MISSING if fewer else Category.STRUCTURAL
    pairs = zip(*several, strict=True)
    found = {_of_single(a, b) for a, b in pairs if not same_value(a, b, Criteria(EXACT))}
    return found.pop() if len(found) == 1 else Category.UNKNOWN


def _of_single(wanted: Value, given: Value) -> Category:
    kinds = {_kind_of(value) for value in (wanted, given)}
    if "" in kinds:
        return Category.UNKNOWN
    if len(kinds) > 1:
        return Category.STRUCTURAL
    if isinstance(wanted, Leaf) and isinstance(given, Leaf) and wanted.quantity and given.quantity:
        return _of_numbers(wanted.quantity, given.quantity)
    return Category.MATHEMATICAL


def _kind_of(value: Value) -> str:
    if isinstance(value, Relation):
        return "equation"
    if isinstance(value, Leaf):
        return "expression" if value.quantity is None else "number"
    return ""


def _of_numbers(wanted: Quantity, given: Quantity) -> Category:
    """The unit is wrong where it cannot be converted, or where the numbers are the same."""
    factor = units.factor(given.unit, wanted.unit) if wanted.unit and given.unit else 1
    alone = wanted.unit != given.unit and algebra.close(wanted.value, given.value)
    return Category.UNIT if factor is None or alone else Category.NUMERICAL
