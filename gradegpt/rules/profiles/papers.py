"""The scorers of OlympiadBench, OlympicArena and ARB."""

from __future__ import annotations

import re
from typing import Final

from gradegpt.answers import values
from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, ONE_VALUE, AnswerType, Group, Leaf, Quantity, Value
from gradegpt.rules.claims import Found, How, boxes, find_answer
from gradegpt.rules.compare import Prove
from gradegpt.rules.compare.base import Criteria
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.profiles.base import Judged, Question, last_box, same_values, steps, unitless
from gradegpt.rules.tolerance import EXACT, Tolerance, tolerance

# --- OlympiadBench --------------------------------------------------------------------------------

OLYMPIADBENCH_GRADES: Final = frozenset((*ONE_VALUE, AnswerType.INTERVAL, AnswerType.TUPLE)) | {
    AnswerType.MULTI_ANSWER,
    AnswerType.MULTI_PART,
}
"""The types of table 3, alone or several (figure 3)."""
_CONCLUDED = re.compile(
    r"(?:(?:所以|因此|故|综上)[^\n]{0,12}(?:最终)?答案(?:是|为|[:：])|\bfinal answer is\b)"
    r"\s*(?P<answer>[^\n]*)",
    re.IGNORECASE,
)


def _in_boxes(asked: Question) -> Found | str:
    """The boxes of the last paragraph with one, else the answer of the last conclusion."""
    response = asked.response
    if last := last_box(response):
        tail = response[response.rfind("\n\n", 0, last.clause[0]) + 1 :]
        return last._replace(answer=", ".join(box.content for box in boxes(tail)) or last.answer)
    match = last_match(_CONCLUDED, response)
    answer = match["answer"].strip(" .。:：*$") if match else ""
    if not match or not answer:
        return "no-answer"
    return Found(answer, *sentence_around(response, *match.span()), How.ANNOUNCED, match.span())


def _algorithm_1(asked: Question, answer: str, policy: str, prove: Prove) -> Judged:
    """Algorithm 1 of OlympiadBench (section 3.4, appendix D), step by step.

    The answers are in boxes, else after the last "the final answer is" (figure 3). The same
    text; both intervals or tuples, which decides; equal as numbers, "verified against a small
    tolerance of error, defaulting to 1e-8 but adjustable" by the row (section 3.4); both equations,
    "all terms on one side before dividing"; else expressions, whose difference is zero. Several
    answers match in any order. Graded are the "numeric, expression, equation, interval, and tuple"
    of section 3.3, one or several of them: the paper scores no multiple choice and no proofs.
    """
    wanted, left = _items(asked.reference), _items(answer)
    if len(wanted) != len(left):
        return False, "another-number-of-answers", policy
    for item in wanted:
        match = next((x for x in left if _same(item, x, policy, prove)), None)
        if match is None:
            return False, "different", policy
        left.remove(match)
    return True, "equal", policy


def _items(text: str) -> list[str]:
    """The answers between commas outside of brackets; one with ± is two answers."""
    pieces = [piece for piece in values.split_top(text.replace("，", ","), ",;") if piece.strip()]
    return [made for piece in pieces for made in values.both_signs(piece.strip())]


def _same(wanted: str, given: str, policy: str, prove: Prove) -> bool:
    if plain(wanted) == plain(given):
        return True
    equations = ["=" in text for text in (wanted, given)]
    if any(equations) and not all(equations):
        wanted, given = (text.rsplit("=", 1)[-1] for text in (wanted, given))
    left, right = (values.read(text, region=True) for text in (wanted, given))
    criteria = Criteria(tolerance(policy), prove, names_matter=all(equations))
    return same_value(left, right, criteria) is True


olympiadbench = steps(_in_boxes, _algorithm_1, "olympiadbench")

# --- OlympicArena ---------------------------------------------------------------------------------

OLYMPICARENA_GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE, AnswerType.TEXT}
"""Code is run against test cases, and "others" are for GPT-4V to judge (appendix C.5)."""
_IDENTICAL: Final = (AnswerType.SET, AnswerType.TUPLE, AnswerType.INTERVAL)
_SCIENTIFIC = re.compile(r"[-+]?\d[\d.,]*\s*(?:[×x*·]\s*10\s*\^|e[-+]?\d)", re.IGNORECASE)
"""The beginning of a value in scientific notation, in folded text."""


def _answer_level(asked: Question, answer: str, policy: str, prove: Prove) -> Judged:
    r"""OlympicArena, appendix C.5: the last ``\boxed{}``, "according to the answer type".

    Of numbers "we assess only the numerical value", without its unit. They are equal; only "in
    cases where numerical answers are subject to estimation" are both put in scientific notation,
    and "if the exponent of 10 is the same for both, we allow a deviation of 0.1 in the
    coefficient". The paper leaves open which these are: here, a reference written in that
    notation, or a row that names the policy. Expressions and equations are compared by computer
    algebra; several quantities "strictly follow the order", several answers are all needed;
    intervals are compared "strictly", sets are "completely identical", and of tuples "each
    corresponding position is exactly equal".
    """
    allowed, near = tolerance(policy), tolerance("olympicarena")
    estimated = _estimated(unitless(values.read(asked.reference)))

    def allows(wanted: Quantity, given: Quantity) -> bool | None:
        return (near if wanted in estimated else EXACT).allows(wanted, given)

    if asked.kind in _IDENTICAL:
        allowed = EXACT
    elif estimated and not asked.tolerance:
        allowed = Tolerance(near.name, allows)  # in "2.0×10^5; 3" the 3 is exact
    same = same_values(asked, answer, allowed, prove)
    return bool(same), "equal" if same else "different", allowed.name


def _estimated(value: Value) -> frozenset[Quantity]:
    """The numbers of a value that are written in scientific notation."""
    if isinstance(value, Group):
        return frozenset[Quantity]().union(*map(_estimated, value.items))
    found = isinstance(value, Leaf) and _SCIENTIFIC.match(value.text) and value.quantity
    return frozenset((found,)) if found else frozenset()


olympicarena = steps(lambda asked: last_box(asked.response) or "no-box", _answer_level, EXACT.name)

# --- ARB ------------------------------------------------------------------------------------------

ARB_GRADES: Final = frozenset((*CHOICE, *ONE_VALUE))
"""Table 1 has multiple choice, numerical and symbolic problems, and proofs, which people graded."""
_DELIMITED = re.compile(r"ANSWER:(?P<said>[\s*_]*(?:\$\$.+?\$\$|\\\[.+?\\\]|[^\n]+))", re.DOTALL)
"""The delimiter with the displayed formula, or the line, that follows it."""
_SHOWN = re.compile(r"\n|\$\$|\\[\[\]]")


def _delimited(asked: Question) -> Found | str:
    if "ANSWER:" not in asked.response:
        return "no-delimiter"
    said = _DELIMITED.match(asked.response, asked.response.rfind("ANSWER:"))
    if not said:
        return "no-answer"
    line = _SHOWN.sub(lambda sign: " " * len(sign[0]), said[0])
    found = find_answer(" " * said.start() + line, asked.kind)  # at its place in the response
    return found or "no-answer"


def _by_type(asked: Question, answer: str, policy: str, prove: Prove) -> Judged:
    """ARB: the answer after the last ``ANSWER:``.

    Section 4: "Answers were extracted using the delimiter ANSWER: , and any response lacking it was
    marked incorrect." Section 6: letters "were matched to ground truth"; of numbers the units were
    removed, and "correctness was determined using a relative error threshold of 10^-2"; symbolic
    answers are checked by computer algebra, but "not all symbolic answers can be checked in this
    way, requiring human evaluation": those are not graded here.
    """
    same = same_values(asked, answer, tolerance(policy), prove)
    if same is None and asked.kind is not AnswerType.NUMBER:
        return None, "cannot-check-symbolic", policy
    return bool(same), "equal" if same else "different", policy


arb = steps(_delimited, _by_type, "arb")
