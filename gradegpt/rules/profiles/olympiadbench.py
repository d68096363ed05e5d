"""OlympiadBench: Algorithm 1 (section 3.4, appendix D)."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import ONE_VALUE, AnswerType, Group, Leaf, Region, Value
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.claims import Found, How, boxes
from gradegpt.rules.profiles.base import Question, Scored, bare, right, scored
from gradegpt.rules.profiles.given import last_box, not_given
from gradegpt.rules.tolerance import EXACT, tolerance

GRADES: Final = frozenset((*ONE_VALUE, AnswerType.INTERVAL, AnswerType.TUPLE)) | {
    AnswerType.MULTI_ANSWER,
    AnswerType.MULTI_PART,
}
"""The types of table 3, alone or several (figure 3)."""
_CONCLUDED = re.compile(
    r"(?:所以|因此|故|综上)[^\n]{0,12}(?:最终)?答案(?:是|为|[:：])|\bfinal answer is\b",
    re.IGNORECASE,
)


def score(asked: Question, prove: Prove) -> Scored:
    """Score by algorithm 1 of OlympiadBench, step by step.

    The answers are in boxes, else after the last "the final answer is" (figure 3). The same
    text; both intervals or tuples, which decides; equal as numbers, "verified against a small
    tolerance of error, defaulting to 1e-8 but adjustable" by the row (section 3.4); both equations,
    "all terms on one side before dividing"; else expressions, whose difference is zero. Several
    answers match in any order. Graded are the "numeric, expression, equation, interval, and tuple"
    of section 3.3, one or several of them: the paper scores no multiple choice and no proofs.
    """
    found = _given(asked.response)
    if found is None:
        return Scored(Verdict.INCORRECT, "no-answer")
    policy = asked.tolerance or "olympiadbench"
    reason = not_given(asked, found) or _algorithm_1_all(asked, found.answer, policy, prove)
    return scored(right(reason == "equal"), reason, found, policy)


def _algorithm_1_all(asked: Question, answer: str, policy: str, prove: Prove) -> str:
    wanted, left = _items(asked.reference), _items(answer)
    if len(wanted) != len(left):
        return "another-number-of-answers"
    for item in wanted:
        match = next((x for x in left if _algorithm_1(item, x, policy, prove)), None)
        if match is None:
            return "different"
        left.remove(match)
    return "equal"


def _algorithm_1(wanted: str, given: str, policy: str, prove: Prove) -> bool:
    if plain(wanted) == plain(given):
        return True
    left, right = values.read(wanted, region=True), values.read(given, region=True)
    structured = (Region, Group)
    if isinstance(left, structured) and isinstance(right, structured):
        return same_value(left, right, Criteria(EXACT, prove)) is True
    if _as_numbers(left, right, policy):
        return True
    if ("=" in wanted) == ("=" in given):
        return same_value(left, right, Criteria(EXACT, prove, names_matter="=" in wanted)) is True
    bodies = [values.read(text.rsplit("=", 1)[-1]) for text in (wanted, given)]
    return same_value(bodies[0], bodies[1], Criteria(EXACT, prove)) is True


def _as_numbers(left: Value, right: Value, policy: str) -> bool:
    if not isinstance(left, Leaf) or not isinstance(right, Leaf):
        return False
    if left.quantity is None or right.quantity is None:
        return False
    return tolerance(policy).allows(bare(left.quantity), bare(right.quantity)) is True


def _given(response: str) -> Found | None:
    """The boxes of the last paragraph with one, else the answer of the last conclusion."""
    last = last_box(response)
    if last is not None:
        tail = response[response.rfind("\n\n", 0, last.clause[0]) + 1 :]
        return last._replace(answer=", ".join(box.content for box in boxes(tail)) or last.answer)
    match = last_match(_CONCLUDED, response)
    if match is None:
        return None
    line = response[match.end() :].strip().split("\n")[0]
    answer, end = line.strip(" .。:：*$"), response.index(line, match.end()) + len(line)
    span = sentence_around(response, match.start(), end)
    return Found(answer, *span, How.ANNOUNCED, (match.start(), end)) if answer else None


def _items(text: str) -> list[str]:
    """The answers between commas outside of brackets; one with ± is two answers."""
    pieces = [piece for piece in values.split_top(text.replace("，", ","), ",;") if piece.strip()]
    return [made for piece in pieces for made in values.both_signs(piece.strip())]
