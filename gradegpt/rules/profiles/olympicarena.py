"""OlympicArena: the answer-level protocol (appendix C.5) over the types of appendix A.2."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.read import read
from gradegpt.answers.types import CHOICE, AnswerType, Group, Leaf, Quantity, Value
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.profiles.base import Question, Scored, right, same_values, scored, unitless
from gradegpt.rules.profiles.given import last_box, not_given
from gradegpt.rules.tolerance import EXACT, Tolerance, tolerance

GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE, AnswerType.TEXT}
"""Code is run against test cases, and "others" are for GPT-4V to judge (appendix C.5)."""
_IDENTICAL: Final = (AnswerType.SET, AnswerType.TUPLE, AnswerType.INTERVAL)
_SCIENTIFIC = re.compile(r"[-+]?\d[\d.,]*\s*(?:[×x*·]\s*10\s*\^|e[-+]?\d)", re.IGNORECASE)
"""The beginning of a value in scientific notation, in folded text."""


def score(asked: Question, prove: Prove) -> Scored:
    r"""Score by OlympicArena, appendix C.5: the last ``\boxed{}``, "according to the answer type".

    Of numbers "we assess only the numerical value", without its unit. They are equal; only "in
    cases where numerical answers are subject to estimation" are both put in scientific notation,
    and "if the exponent of 10 is the same for both, we allow a deviation of 0.1 in the
    coefficient". The paper leaves open which these are: here, a reference written in that
    notation, or a row that names the policy. Expressions and equations are compared by computer
    algebra; several quantities "strictly follow the order", several answers are all needed;
    intervals are compared "strictly", sets are "completely identical", and of tuples "each
    corresponding position is exactly equal".
    """
    box = last_box(asked.response)
    if box is None:
        return Scored(Verdict.INCORRECT, "no-box")
    if reason := not_given(asked, box):
        return scored(Verdict.INCORRECT, reason, box)
    if asked.kind in (*CHOICE, AnswerType.TRUE_FALSE):
        made = compare(read(asked.reference, asked.kind), read(box.answer, asked.kind))
        return scored(right(made.same), made.reason, box)
    allowed = EXACT if asked.kind in _IDENTICAL else _allowed(asked)
    same = same_values(asked, box.answer, allowed, prove)
    return scored(right(same), "equal" if same else "different", box, allowed.name)


def _allowed(asked: Question) -> Tolerance:
    """The row's own policy; else 0.1 in the coefficient of numbers in scientific notation."""
    if asked.tolerance:
        return tolerance(asked.tolerance)
    estimated = _estimated(unitless(values.read(asked.reference)))
    near = tolerance("olympicarena")

    def allows(wanted: Quantity, given: Quantity) -> bool | None:
        policy = near if wanted in estimated else EXACT  # in "2.0×10^5; 3" the 3 is exact
        return policy.allows(wanted, given)

    return Tolerance(near.name, allows) if estimated else EXACT


def _estimated(value: Value) -> frozenset[Quantity]:
    """The numbers that are written in scientific notation."""
    if isinstance(value, Group):
        return frozenset[Quantity]().union(*map(_estimated, value.items))
    if not isinstance(value, Leaf) or value.quantity is None:
        return frozenset()
    return frozenset([value.quantity] if _SCIENTIFIC.match(value.text) else [])
