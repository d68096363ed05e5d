"""Whether two steps have the same result: proved, refuted, or undecided."""

from __future__ import annotations

from gradegpt.answers import algebra
from gradegpt.answers.answer import Answer
from gradegpt.answers.formula import variables
from gradegpt.answers.read import read
from gradegpt.answers.text import fold
from gradegpt.answers.types import AnswerType, Leaf, Options, Quantity, Truth
from gradegpt.core.schema import Item
from gradegpt.rules.asked import asked
from gradegpt.rules.compare import compare
from gradegpt.rules.tolerance import DEFAULT

from .results import Result


def same_result(wanted: Result, given: Result, item: Item) -> bool | None:
    """Whether a response's step has the result of the reference's; None where it is undecided.

    Results are the same if their values are equal, or their equations in unknowns are equivalent;
    not if they are of two symbols, or the response's own equation is false. They are different only
    if both are numbers, options or truth values of the same symbol or formula, or both answer the
    question. A response's answer is compared only with the answer of the reference.
    """
    if given.answers and not wanted.answers:
        return None
    if wanted.has_unknowns or given.has_unknowns:
        return _same_equation(wanted, given)
    same_left = _same_left(wanted, given)
    if not same_left and wanted.is_named and given.is_named:
        return None
    tolerance = item.tolerance or DEFAULT
    same = compare(wanted.right, given.right, question=asked(item), tolerance=tolerance).same
    if same:
        return None if _refutes_itself(given) else True
    one_case = same_left and not wanted.supposed and not given.supposed
    answers = wanted.answers and given.answers
    return False if same is False and (one_case or answers) and _comparable(wanted, given) else None


def _same_left(wanted: Result, given: Result) -> bool:
    """Whether two steps give the value of the same quantity: S and S, 12 + 7 and 7 + 12."""
    one, other = wanted.computed, given.computed
    if one is not None and other is not None:
        return algebra.close(one, other) and not _same_number(wanted, given)  # 40 h for 40 min
    return bool(wanted.left) and _without_blanks(wanted.left) == _without_blanks(given.left)


def _same_number(wanted: Result, given: Result) -> bool:
    one, other = _quantity(wanted), _quantity(given)
    return one is not None and other is not None and algebra.close(one.value, other.value)


def _quantity(result: Result) -> Quantity | None:
    value = result.right.value
    return value.quantity if isinstance(value, Leaf) else None


def _without_blanks(text: str) -> str:
    return "".join(fold(text).split())


def _same_equation(wanted: Result, given: Result) -> bool | None:
    if not wanted.left or not given.left:
        return None
    one, other = (
        read(f"{result.left} = {result.right.text}", AnswerType.EQUATION)
        for result in (wanted, given)
    )
    return compare(one, other).same or None


def _refutes_itself(result: Result) -> bool:
    """Whether an equation of numbers is false: 12 + 8 = 19."""
    if result.computed is None:
        return False
    computed = Answer(AnswerType.NUMBER, Leaf(result.left, quantity=Quantity(result.computed)))
    return compare(computed, result.right).same is False


def _comparable(wanted: Result, given: Result) -> bool:
    """Whether both are numbers, or both options or truth values; a formula may have any value."""
    one, other = wanted.right.value, given.right.value
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return _is_number(one) and _is_number(other)
    return type(one) is type(other) and isinstance(one, Options | Truth)


def _is_number(leaf: Leaf) -> bool:
    unknowns = leaf.formula is not None and variables(leaf.formula)
    return leaf.quantity is not None and (bool(leaf.quantity.unit) or not unknowns)
