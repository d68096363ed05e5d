"""Classify a wrong answer by rules: its error category, and the relative error of a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from gradegpt.answers import algebra, units
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import variables
from gradegpt.answers.none import says_none
from gradegpt.answers.read import read
from gradegpt.answers.truth import truth
from gradegpt.answers.types import (
    AnswerType,
    Group,
    Leaf,
    Magnitude,
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

_FACTORS: Final = {2: "2", 3: "3", 4: "4", math.pi: "π", 2 * math.pi: "2π", math.sqrt(2): "√2"}
"""Factors that are often omitted or applied twice, with their names."""
_WHOLE: Final = 1e-6


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


class ErrorFound(NamedTuple):
    """A category with its detail, and for two numbers |given - wanted| / |wanted|."""

    category: Category
    detail: str = ""
    relative_error: float | None = None


UNKNOWN: Final = ErrorFound(Category.UNKNOWN)
EQUAL: Final = ErrorFound(Category.UNKNOWN, "equal by the rules: check the judgement")


def of_answer(
    reference: str, answer: str, kind: AnswerType, question: str = "", tolerance: str = "auto"
) -> ErrorFound:
    """The error category of ``answer``; ``unknown`` where the rules find none, or no error."""
    if not answer.strip():
        return ErrorFound(Category.MISSING, "no answer")
    wanted, given = read(reference, kind, question), read(answer, kind, question)
    if compare(wanted, given, question=question, tolerance=tolerance).same:
        return EQUAL
    if opposite := _opposite(reference, answer):
        return ErrorFound(Category.CONTRADICTORY, opposite)
    if isinstance(wanted.value, Options) and isinstance(given.value, Options):
        return _of_options(wanted.value, given.value)
    if kind in (AnswerType.TEXT, AnswerType.CODE):
        return _of_words(reference, answer)
    return _of_values(wanted, given)


def _opposite(reference: str, answer: str) -> str:
    wanted, given = truth(reference), truth(answer)
    if wanted is not None and given is not None and wanted is not given:
        return f"{'true' if given else 'false'} instead of {'true' if wanted else 'false'}"
    none, given_none = says_none(reference), says_none(answer)
    if none is given_none:
        return ""
    return "a value where there is none" if none else "none where there is a value"


def _of_options(wanted: Options, given: Options) -> ErrorFound:
    missing = [letter for letter in wanted.letters if letter not in given.letters]
    if not wanted.ordered and {*given.letters} < {*wanted.letters}:
        return ErrorFound(Category.MISSING, f"option {', '.join(missing)} is missing")
    return ErrorFound(Category.UNKNOWN, "another option")


def _of_words(reference: str, answer: str) -> ErrorFound:
    """Only an answer whose words are all in the reference is known to be incomplete."""
    wanted, given = {*words(reference)}, {*words(answer)}
    if len(given) > 1 and given < wanted and not denies(wanted - given):
        return ErrorFound(Category.INCOMPLETE, f"{len(given)} of {len(wanted)} words")
    return UNKNOWN


def _of_values(one: Answer, other: Answer) -> ErrorFound:
    wanted, given = one.value, other.value
    if not isinstance(wanted, Value):
        return UNKNOWN
    if not isinstance(given, Value) or not is_read(given):
        prose = is_read(wanted) and len(words(other.text)) > 2
        return ErrorFound(Category.STRUCTURAL, "words instead of a value") if prose else UNKNOWN
    if not is_read(wanted):
        return UNKNOWN
    if isinstance(wanted, Group) or isinstance(given, Group):
        return _of_groups(_items(wanted), _items(given))
    if isinstance(wanted, Region) and isinstance(given, Region):
        return ErrorFound(Category.MATHEMATICAL, "another interval")
    return _of_single(wanted, given)


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Group) else (value,)


def _of_groups(wanted: Sequence[Value], given: Sequence[Value]) -> ErrorFound:
    counts = f"{len(given)} of {len(wanted)} values"
    if len(given) < len(wanted):
        return ErrorFound(Category.MISSING, counts)
    if len(given) > len(wanted):
        return ErrorFound(Category.STRUCTURAL, f"{len(given)} values instead of {len(wanted)}")
    pairs = zip(wanted, given, strict=True)
    other = [pair for pair in pairs if not same_value(*pair, Criteria(EXACT))]
    shown = [_of_single(*pair) for pair in other]
    return shown[0] if len({one.category for one in shown}) == 1 else UNKNOWN


def _of_single(wanted: Value, given: Value) -> ErrorFound:
    kinds = [_kind_of(value) for value in (wanted, given)]
    if kinds[0] != kinds[1]:
        both = all(kind in ("a number", "an expression", "an equation") for kind in kinds)
        return (
            ErrorFound(Category.STRUCTURAL, f"{kinds[1]} instead of {kinds[0]}")
            if both
            else UNKNOWN
        )
    if kinds[0] in ("an expression", "an equation"):
        return ErrorFound(Category.MATHEMATICAL, _unknowns(wanted, given))
    if isinstance(wanted, Leaf) and isinstance(given, Leaf) and wanted.quantity and given.quantity:
        return of_numbers(wanted.quantity, given.quantity)
    return UNKNOWN


def _kind_of(value: Value) -> str:
    if isinstance(value, Relation):
        return "an equation"
    if isinstance(value, Leaf) and value.quantity is not None:
        return "a number"
    return "an expression" if isinstance(value, Leaf) else "something else"


def _unknowns(wanted: Value, given: Value) -> str:
    """The unknowns in which two expressions differ."""
    if not isinstance(wanted, Leaf) or not isinstance(given, Leaf):
        return ""
    left, right = (variables(leaf.formula) if leaf.formula else {*()} for leaf in (wanted, given))
    parts = [f"without {', '.join(sorted(left - right))}"] if left - right else []
    parts += [f"with {', '.join(sorted(right - left))}"] if right - left else []
    return "; ".join(parts)


def of_numbers(wanted: Quantity, given: Quantity) -> ErrorFound:
    """The error of a number or of its unit; values are converted where both units are known."""
    factor = units.factor(given.unit, wanted.unit) if wanted.unit and given.unit else 1
    named = f"{given.unit or 'no unit'} instead of {wanted.unit or 'no unit'}"
    if factor is None or (wanted.unit != given.unit and algebra.close(wanted.value, given.value)):
        return ErrorFound(Category.UNIT, named)
    return _size(wanted.value, given.value * factor)


def _size(wanted: Magnitude, given: Magnitude) -> ErrorFound:
    a, b = complex(wanted), complex(given)
    if not a:
        return ErrorFound(Category.NUMERICAL, "not 0")
    ratio, error = b / a, abs(b - a) / abs(a)
    if abs(ratio.imag) > _WHOLE:
        return ErrorFound(Category.NUMERICAL, "", error)
    detail = _named_ratio(ratio.real)
    way = "high" if b.real > a.real else "low"
    return ErrorFound(Category.NUMERICAL, detail or f"{100 * error:.3g} % too {way}", error)


def _named_ratio(ratio: float) -> str:
    """The name of a typical wrong ratio: a sign, a power of ten, a small factor; else empty."""
    if not ratio:
        return "0"
    size, sign = abs(ratio), ", and its sign" if ratio < 0 else ""
    if math.isclose(size, 1, rel_tol=_WHOLE):
        return "off by its sign"
    power = round(math.log10(size))
    if power and math.isclose(size, 10.0**power, rel_tol=_WHOLE):
        return f"off by 10^{power}{sign}"
    for factor, name in _FACTORS.items():
        for value, text in ((factor, name), (1 / factor, f"1/{name}")):
            if math.isclose(size, value, rel_tol=1e-3 if factor % 1 else _WHOLE):
                return f"off by a factor of {text}{sign}"
    return ""
