"""What the profiles share: the steps of a score, and whether an answer is the response's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.read import read
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, IN_ORDER, AnswerType, Group, Leaf, Value
from gradegpt.core.schema import Verdict
from gradegpt.rules.claims import Found, How, boxes
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import in_order, same_value
from gradegpt.rules.cues import cue
from gradegpt.rules.tolerance import EXACT, Tolerance

_JOINED: Final = (
    AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET, AnswerType.INTERVAL,
    AnswerType.TEXT,
)  # fmt: skip
"""Types whose answers may contain an "or": x = 2 or x = -2."""
_BEFORE: Final = 30
"""Characters before an announcement that may attribute it to somebody else."""
_OR_ANOTHER = re.compile(
    r"(?<=[\w)\]}$%°*])[\s)\]}$%°*,，]*(?:\bor\b|或者?|还是)[\s,]*"
    r"(?:(?:it\s+)?(?:is|could|may|might)(?:\s+be)?|it's|maybe|perhaps|possibly|是)?"
    r"[\s$({\[]*(?:[-+\u2212]?[\d.]|\\|(?-i:[A-Zb-z])(?![a-zA-Z])|true\b|false\b|不?正确|[错对])",
    re.IGNORECASE,
)
"""A second value that is joined to the first by "or"."""
_BOX_OR = re.compile(r"\}[\s$]*(?:\bor\b|或者?|还是)[\s$]*\Z", re.IGNORECASE)


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


Judged = tuple[bool | None, str, str]
"""Whether an answer is right (None: it cannot be told), the reason, and the policy used."""


def steps(
    find: Callable[[Question], Found | str],
    judge: Callable[[Question, str, str, Prove], Judged],
    policy: str,
) -> Callable[[Question, Prove], Scored]:
    """A scorer: what it finds (or the reason why nothing), if it is given as the answer, judged.

    ``judge`` gets the answer and the name of the row's policy, else that of the profile.
    """

    def score(asked: Question, prove: Prove) -> Scored:
        found, named = find(asked), asked.tolerance or policy
        if isinstance(found, str):
            return Scored(Verdict.INCORRECT, found)
        same: bool | None = False
        if not (reason := not_given(asked, found)):
            if asked.kind in (*CHOICE, AnswerType.TRUE_FALSE):
                same, reason = compare(
                    read(asked.reference, asked.kind), read(found.answer, asked.kind)
                )
                same = same is True
            else:
                same, reason, named = judge(asked, found.answer, named, prove)
        verdict = None if same is None else right(same)
        return Scored(verdict, reason, found.answer, (found.start, found.end), named)

    return score


def right(same: bool | None) -> Verdict:
    """The verdict, which has two values: an answer that is not shown to match is wrong."""
    return Verdict.CORRECT if same else Verdict.INCORRECT


def last_box(response: str) -> Found | None:
    r"""The last ``\boxed{}`` that is not empty."""
    found = [
        Found(text, *sentence_around(response, start, end), How.BOXED, (start, end))
        for text, start, end in boxes(response)[-1:]
    ]
    return found[0] if found else None


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
        return value._replace(quantity=value.quantity._replace(unit=""))
    return value


def not_given(asked: Question, found: Found) -> str:
    """The reason why what was found is not the response's own answer; empty if it is.

    ``quotes-the-reference``: it attributes the answer to somebody else. ``one-of-several``: it does
    not choose between candidates. ``not-a-commitment``: it merely mentions a number.
    """
    response, kind, (start, end) = asked.response, asked.kind, found.clause
    announced = found.how in (How.BOXED, How.ANNOUNCED)
    begin = start if announced else min(start, found.start)
    whose = response[max(found.start, start - _BEFORE) if announced else begin : end]
    heard = kind is not AnswerType.TEXT and cue("hearsay").search(whose)
    if heard or cue("quoted").search(whose):
        return "quotes-the-reference"
    until = max(found.end, end)
    several = cue("left open").search(response, begin, until)
    if kind not in _JOINED and not several:
        joins = _OR_ANOTHER.search
        if kind in CHOICE and announced:  # an option's own text may have an "or"
            joins, begin = _OR_ANOTHER.match, end
        several = joins(response, begin, until) or _BOX_OR.search(response, 0, start)
    if several:
        return "one-of-several"
    mentioned = found.how in (How.LAST_NUMBER, How.STATED) and kind is not AnswerType.TEXT
    return "not-a-commitment" if mentioned else ""
