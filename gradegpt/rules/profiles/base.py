"""What the profiles share: the question and its score, and the comparison without units."""

from __future__ import annotations

from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.text import plain
from gradegpt.answers.types import AnswerType, Group, Leaf, Quantity, Value
from gradegpt.rules.compare import Prove
from gradegpt.rules.compare.base import Means
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.extract import Found
from gradegpt.rules.tolerance import EXACT, Tolerance
from gradegpt.schema import Verdict

ONE_VALUE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION, AnswerType.EQUATION)
_IN_ORDER: Final = (AnswerType.MULTI_PART, AnswerType.TUPLE)


class Scored(NamedTuple):
    """``verdict`` is none where the profile does not grade it; ``answer`` is what was scored.

    ``span`` is that of the key sentence in the response, ``tolerance`` the policy that numbers were
    compared by.
    """

    verdict: Verdict | None
    reason: str
    answer: str | None = None
    span: tuple[int, int] | None = None
    tolerance: str = EXACT.name


class Question(NamedTuple):
    """What a profile may look at: one accepted answer, the response, and what was asked."""

    reference: str
    response: str
    kind: AnswerType
    tolerance: str | None = None
    """The row's own policy, such as OlympiadBench's error; none for the profile's default."""
    parts: tuple[str, ...] = ()
    """The sub-answers of the reference, in order, where it is a list of them."""
    question: str = ""


def scored(verdict: Verdict | None, reason: str, found: Found, policy: str = EXACT.name) -> Scored:
    """The score of what was found."""
    return Scored(verdict, reason, found.answer, (found.start, found.end), policy)


def right(same: bool | None) -> Verdict:
    """Two-valued: what is not shown to match is wrong."""
    return Verdict.CORRECT if same else Verdict.INCORRECT


def same_values(asked: Question, answer: str, allowed: Tolerance, prove: Prove) -> bool | None:
    """Whether both are the same values, whatever their units; none where that is not shown."""
    if plain(asked.reference) == plain(answer) and plain(answer):
        return True
    region = asked.kind is AnswerType.INTERVAL
    wanted, given = (unitless(values.read(x, region=region)) for x in (asked.reference, answer))
    if asked.kind in _IN_ORDER:
        wanted, given = _ordered(wanted), _ordered(given)
    return same_value(wanted, given, Means(allowed, prove))


def _ordered(value: Value) -> Value:
    return value._replace(ordered=True) if isinstance(value, Group) else value


def unitless(value: Value) -> Value:
    """The value without units, that of each of its parts too."""
    if isinstance(value, Group):
        return value._replace(items=tuple(map(unitless, value.items)))
    if isinstance(value, Leaf) and value.quantity is not None:
        return value._replace(quantity=bare(value.quantity))
    return value


def bare(quantity: Quantity) -> Quantity:
    """The number alone."""
    return quantity._replace(unit="")
