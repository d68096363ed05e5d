"""What the profiles share: the steps of a score, and whether an answer is the response's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.read import read
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, IN_ORDER, AnswerType, Group, Leaf, Quantity, Value
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import in_order, same_value
from gradegpt.rules.claims import Found, How, boxes
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


def steps(
    find: Callable[[Question], Found | str],
    judge: Callable[[Question, Found, str, Prove], tuple[bool | None, str, str]],
    policy: str,
) -> Callable[[Question, Prove], Scored]:
    """A scorer: what it finds (or the reason why nothing), if it is given as the answer, judged.

    ``judge`` gets the name of the row's policy, else that of the profile, and returns whether the
    answer is right (None: it cannot tell), the reason and the policy it used.
    """

    def score(asked: Question, prove: Prove) -> Scored:
        found, named = find(asked), asked.tolerance or policy
        if isinstance(found, str):
            return Scored(Verdict.INCORRECT, found)
        same: bool | None = False
        if not (reason := not_given(asked, found)):
            if asked.kind in (*CHOICE, AnswerType.TRUE_FALSE):
                made = compare(read(asked.reference, asked.kind), read(found.answer, asked.kind))
                same, reason = made.same is True, made.reason
            else:
                same, reason, named = judge(asked, found, named, prove)
        verdict = None if same is None else right(same)
        return Scored(verdict, reason, found.answer, (found.start, found.end), named)

    return score


def right(same: bool | None) -> Verdict:
    """The verdict, which has two values: an answer that is not shown to match is wrong."""
    return Verdict.CORRECT if same else Verdict.INCORRECT


def last_box(response: str) -> Found | None:
    r"""The last ``\boxed{}`` that is not empty."""
    found = boxes(response)
    if not found:
        return None
    box = found[-1]
    span = sentence_around(response, box.start, box.end)
    return Found(box.content, *span, How.BOXED, (box.start, box.end))


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


def quantities(value: Value) -> tuple[tuple[Quantity, str], ...]:
    """The numbers of the value, each with its text."""
    if isinstance(value, Group):
        return tuple(pair for item in value.items for pair in quantities(item))
    found = isinstance(value, Leaf) and value.quantity
    return ((found, value.text),) if found and isinstance(value, Leaf) else ()


# --- whether it is the response's own answer ------------------------------------------------------

_ANNOUNCED: Final = (How.BOXED, How.ANNOUNCED)
_JOINED: Final = (
    AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET, AnswerType.INTERVAL,
    AnswerType.TEXT,
)  # fmt: skip
"""Types whose answers may contain an "or": x = 2 or x = -2."""
_QUOTED = re.compile(
    r"\b(?:reference|standard|official|model|gold(?:en)?)\s+(?:answer|solution|key)\b"
    r"|\b(?:key|reference)\s+(?:says|gives|states|reads)\b|\banswer key\b|\bground truth\b"
    r"|(?<!【)(?:参考|标准)答案(?!\s*[】:：])",
    re.IGNORECASE,
)
"""Words that attribute an answer to the reference; 【参考答案】 is a heading in solutions."""
_HEARSAY = re.compile(
    r"\b(?:some|others|people|someone) (?:people )?(?:say|claim|think)s?\b|有人(?:说|认为)",
    re.IGNORECASE,
)
_BEFORE: Final = 30
"""Characters before an announcement that may attribute it to somebody else."""
_OPEN_CHOICE = re.compile(
    r"\b(?:could|may|might|can) (?:also )?be\b[^.;。；\n]{0,120}"
    r"\bor (?:it )?(?:could|may|might|can)\b"
    r"|\b(?:maybe|perhaps|possibly)\b[^.;\n]{0,80}\b(?:maybe|perhaps|possibly)\b"
    r"|\b(?:hesitate|torn|undecided|decide|choose) between\b"
    r"|可能[是为][^。；\n]{0,120}可能|要么[^。；\n]{0,120}要么|之间(?:犹豫|徘徊)"
    r"|或[^。；\n]{0,120}都(?:有道理|有?可能)",
    re.IGNORECASE,
)
"""Two candidates without a choice between them."""
_OR = re.compile(
    r"(?<=[\w)\]}$%°])[\s,，]*(?:\bor\b|或者?|还是)\s*"
    r"(?:it\s+is|it's|it\s+(?:could|may|might)\s+be|maybe|perhaps|possibly|是)?[\s$({\[]*"
    r"(?:[-+\u2212]?[\d.]|\\|(?-i:[A-Zb-z])(?![a-zA-Z])|true\b|false\b|不?正确|[错对])",
    re.IGNORECASE,
)
"""A second value that is joined to the first by "or"."""
_CLOSING = re.compile(r"[)\]}$*]*")
_BOXES_OR = re.compile(r"\}[\s$]*(?:\bor\b|或者?|还是)[\s$]*\\boxed\b", re.IGNORECASE)


def not_given(asked: Question, found: Found) -> str:
    """The reason why what was found is not the response's own answer; empty if it is.

    ``quotes-the-reference``: it attributes the answer to somebody else. ``one-of-several``: it does
    not choose between candidates. ``not-a-commitment``: it merely mentions a number.
    """
    response, (start, end) = asked.response, found.clause
    announced = found.how in _ANNOUNCED
    begin, until = start if announced else min(start, found.start), max(found.end, end)
    whose = response[max(found.start, start - _BEFORE) if announced else begin : end]
    if _QUOTED.search(whose) or (asked.kind is not AnswerType.TEXT and _HEARSAY.search(whose)):
        return "quotes-the-reference"
    joined = None
    if asked.kind in CHOICE and announced:  # an option's own text may have an "or"
        closed = _CLOSING.match(response, end)
        joined = _OR.match(response, closed.end() if closed else end)
    elif asked.kind not in _JOINED:
        joined = _OR.search(response, begin, until)
    if found.how is How.BOXED and asked.kind not in _JOINED:
        joined = joined or _BOXES_OR.search(response, response.rfind("\n\n", 0, start) + 1)
    if joined or _OPEN_CHOICE.search(response, begin, until):
        return "one-of-several"
    if found.how in (How.LAST_NUMBER, How.STATED) and asked.kind is not AnswerType.TEXT:
        return "not-a-commitment"
    return ""
