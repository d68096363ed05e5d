"""ARB: the answer after ``ANSWER:`` (section 4), by the type of the problem (section 6)."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers.read import read
from gradegpt.answers.types import CHOICE, ONE_VALUE, AnswerType
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.claims import Found, How, find_answer
from gradegpt.rules.claims import refine
from gradegpt.rules.profiles.base import Question, Scored, right, same_values, scored
from gradegpt.rules.profiles.given import not_given
from gradegpt.rules.tolerance import tolerance

GRADES: Final = frozenset((*CHOICE, *ONE_VALUE))
"""Table 1 has multiple choice, numerical and symbolic problems, and proofs, which people graded."""
_DELIMITER: Final = "ANSWER:"
_SAID = re.compile(
    r"[\s*_]*(?:\$\$(?P<dollars>.+?)\$\$|\\\[(?P<display>.+?)\\\]|[^\n]+)", re.DOTALL
)
"""The displayed formula, or the line, that follows the delimiter."""


def score(asked: Question, prove: Prove) -> Scored:
    """Score by ARB: the answer after the last ``ANSWER:``.

    Section 4: "Answers were extracted using the delimiter ANSWER: , and any response lacking it was
    marked incorrect." Section 6: letters "were matched to ground truth"; of numbers the units were
    removed, and "correctness was determined using a relative error threshold of 10^-2"; symbolic
    answers are checked by computer algebra, but "not all symbolic answers can be checked in this
    way, requiring human evaluation": those are not graded here.
    """
    if _DELIMITER not in asked.response:
        return Scored(Verdict.INCORRECT, "no-delimiter")
    found = _given(asked)
    if found is None:
        return Scored(Verdict.INCORRECT, "no-answer")
    policy = asked.tolerance or "arb"
    if reason := not_given(asked, found):
        return scored(Verdict.INCORRECT, reason, found, policy)
    if asked.kind in CHOICE:
        made = compare(read(asked.reference, asked.kind), read(found.answer, asked.kind))
        return scored(right(made.same), made.reason, found, policy)
    same = same_values(asked, found.answer, tolerance(policy), prove)
    if same is None and asked.kind is not AnswerType.NUMBER:
        return scored(None, "cannot-check-symbolic", found, policy)
    return scored(right(same), "equal" if same else "different", found, policy)


def _given(asked: Question) -> Found | None:
    at = asked.response.rfind(_DELIMITER)
    said = _SAID.match(asked.response, at + len(_DELIMITER))
    if said is None:
        return None
    shown = said["dollars"] or said["display"]
    if shown and "\\boxed" not in shown:
        span = (at, said.end())
        return Found(refine(shown.strip(), asked.kind), *span, How.ANNOUNCED, span)
    found = find_answer(asked.response[at : said.end()], asked.kind)
    if found is None:
        return None
    clause = (found.clause[0] + at, found.clause[1] + at)
    return found._replace(start=found.start + at, end=found.end + at, clause=clause)
