"""Common parts of the profiles: the question, its score, and a comparison without units."""

from __future__ import annotations

from typing import NamedTuple

from gradegpt.answers import values
from gradegpt.answers.text import plain
from gradegpt.answers.types import IN_ORDER, AnswerType, Group, Leaf, Quantity, Value
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import in_order, same_value
from gradegpt.rules.claims import Found
from gradegpt.rules.tolerance import EXACT, Tolerance


class Scored(NamedTuple):
    """The result of a profile: ``verdict`` is None if it does not grade the question.

    ``answer`` is the answer that was scored, ``span`` that of the key sentence in the response,
    ``tolerance`` the policy by which numbers were compared.
    """

    verdict: Verdict | None
    reason: str
    answer: str | None = None
    span: tuple[int, int] | None = None
    tolerance: str = EXACT.name


class Question(NamedTuple):
    """The input of a profile: one accepted answer, the response, and the question."""

    reference: str
    response: str
    kind: AnswerType
    tolerance: str | None = None
    """The row's own policy, such as OlympiadBench's error; None for the profile's default."""
    parts: tuple[str, ...] = ()
    """The sub-answers of the reference, in order, if it is a list of them."""
    question: str = ""


def scored(verdict: Verdict | None, reason: str, found: Found, policy: str = EXACT.name) -> Scored:
    """The score of the answer that was found."""
    return Scored(verdict, reason, found.answer, (found.start, found.end), policy)


def right(same: bool | None) -> Verdict:
    """The verdict, which has two values: an answer that is not shown to match is wrong."""
    return Verdict.CORRECT if same else Verdict.INCORRECT


def same_values(asked: Question, answer: str, allowed: Tolerance, prove: Prove) -> bool | None:
    """Whether the values are the same, units aside; None if that is not shown."""
    if plain(asked.reference) == plain(answer) and plain(answer):
        return True
    region = asked.kind is AnswerType.INTERVAL
    wanted, given = (unitless(values.read(x, region=region)) for x in (asked.reference, answer))
    if asked.kind in IN_ORDER:
        wanted, given = in_order(wanted), in_order(given)
    return same_value(wanted, given, Criteria(allowed, prove))


def unitless(value: Value) -> Value:
    """The value without its units, including those of its parts."""
    if isinstance(value, Group):
        return value._replace(items=tuple(map(unitless, value.items)))
    if isinstance(value, Leaf) and value.quantity is not None:
        return value._replace(quantity=bare(value.quantity))
    return value


def bare(quantity: Quantity) -> Quantity:
    """The quantity without its unit."""
    return quantity._replace(unit="")
