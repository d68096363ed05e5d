"""Benchmark profiles: score as a benchmark's own scorer does, to compare with published numbers.

A profile decides as the scorer in its paper does: an answer that it cannot match counts as wrong.
Types of answers without a rule in the paper are not graded, with a reason. Profiles share the
readers of the rules, not the programs of the benchmarks. No profile accepts a candidate that a
response names and leaves open, or a reference that it merely quotes, as the response's answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gradegpt.answers import values
from gradegpt.answers.json_list import Fault, json_answers, listed
from gradegpt.answers.options import is_set, sequence
from gradegpt.answers.parts import pieces, unspaced_marks
from gradegpt.answers.read import answer_type, read
from gradegpt.answers.spans import last_match, sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, IN_ORDER, ONE_VALUE, Group, Leaf, Quantity, Value
from gradegpt.core.schema import AnswerType, Verdict
from gradegpt.rules.claims import Found, How, boxes, by_part, find_answer, last_box
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import Criteria, unproved
from gradegpt.rules.compare.value import same_value
from gradegpt.rules.reference import answer_places
from gradegpt.rules.stance import EITHER, disowned
from gradegpt.rules.tolerance import EXACT, Tolerance, tolerance
from gradegpt.rules.validity import cut_off, refuses, says_nothing, without_loop

VERSION: Final = "4"
"""Increased with every change that can change a score; part of the fingerprint."""
_JOINED: Final = (
    AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART, AnswerType.SET, AnswerType.INTERVAL,
    AnswerType.TEXT,
)  # fmt: skip
"""Types whose answers may contain an "or": x = 2 or x = -2."""


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


_TWO_VALUED: Final = {True: Verdict.CORRECT, False: Verdict.INCORRECT, None: Verdict.INCORRECT}
"""The verdicts of a profile: an answer that is not shown to match is wrong."""
_REASONS: Final = {True: "equal", False: "different", None: "cannot-check-symbolic"}


def _steps(
    find: Callable[[Question], Found | str],
    judge: Callable[[Question, str, str, Prove], tuple[bool | None, str]],
    policy: str,
) -> Callable[[Question, Prove], Scored]:
    """A scorer: what it finds (or the reason why nothing), if it is given as the answer, judged.

    ``judge`` gets the answer and the name of the row's policy, else that of the profile, and
    returns whether the answer is right (None: it cannot tell) and the policy that it used.
    """

    def score(asked: Question, prove: Prove) -> Scored:
        found, named = find(asked), asked.tolerance or policy
        if isinstance(found, str):
            return Scored(Verdict.INCORRECT, found)
        same: bool | None = False
        if not (reason := _not_given(asked, found)):
            if asked.kind in (*CHOICE, AnswerType.TRUE_FALSE):
                wanted, given = (read(x, asked.kind) for x in (asked.reference, found.answer))
                shown, reason = compare(wanted, given)
                same = shown is True
            else:
                same, named = judge(asked, found.answer, named, prove)
                reason = _REASONS[same]
        verdict = None if same is None else _TWO_VALUED[same]
        return Scored(verdict, reason, found.answer, (found.start, found.end), named)

    return score


def _same_values(asked: Question, answer: str, allowed: Tolerance, prove: Prove) -> bool | None:
    """Whether the values are the same; without units where one lacks them or they measure others.

    None if that is not shown.
    """
    if plain(asked.reference) == plain(answer) and plain(answer):
        return True
    region = asked.kind is AnswerType.INTERVAL
    criteria = Criteria(allowed, prove, names_matter=asked.kind is AnswerType.EQUATION)
    wanted, given = (values.read(x, region=region) for x in (asked.reference, answer))
    if asked.kind in IN_ORDER:
        wanted, given = values.in_order(wanted), values.in_order(given)
    same = same_value(wanted, given, criteria)
    return same_value(_unitless(wanted), _unitless(given), criteria) if same is None else same


def _unitless(value: Value) -> Value:
    """The value without its units, including those of its parts."""
    if isinstance(value, Group):
        return value._replace(items=tuple(map(_unitless, value.items)))
    if isinstance(value, Leaf) and value.quantity is not None:
        return value._replace(quantity=value.quantity._replace(unit=""))
    return value


def _not_given(asked: Question, found: Found) -> str:
    """The reason why what was found is not the response's own answer; empty if it is.

    ``not-its-own-answer``: it is denied, quoted or left open. ``one-of-several``: another one is
    joined to it. ``not-a-commitment``: a number is merely mentioned.
    """
    if disowned(asked.response, found):
        return "not-its-own-answer"
    if asked.kind not in _JOINED and EITHER.match(asked.response, found.place(asked.response)[1]):
        return "one-of-several"
    mentioned = found.how in (How.LAST_NUMBER, How.STATED) and asked.kind is not AnswerType.TEXT
    return "not-a-commitment" if mentioned else ""


# --- OlympiadBench --------------------------------------------------------------------------------

OLYMPIADBENCH_GRADES: Final = frozenset((*ONE_VALUE, AnswerType.INTERVAL, AnswerType.TUPLE)) | {
    AnswerType.MULTI_ANSWER, AnswerType.MULTI_PART,
}  # fmt: skip
"""The types of table 3, alone or several (figure 3); the paper scores no choices and no proofs."""
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


def _algorithm_1(
    asked: Question, answer: str, policy: str, prove: Prove
) -> tuple[bool | None, str]:
    """Algorithm 1 of OlympiadBench (section 3.4, appendix D).

    The answers are in boxes, else after the last "the final answer is" (figure 3). They are the
    same text; equal as numbers, "verified against a small tolerance of error, defaulting to 1e-8
    but adjustable" by the row; the same interval or tuple; equations, "all terms on one side before
    dividing"; or expressions, whose difference is zero. Several answers match in any order.
    """
    pair = asked.reference, answer
    equations = all("=" in text for text in pair)
    if not equations:
        pair = asked.reference.rsplit("=", 1)[-1], answer.rsplit("=", 1)[-1]
    wanted, given = (values.read(text, region=True) for text in pair)
    criteria = Criteria(tolerance(policy), prove, names_matter=equations)
    return plain(pair[0]) == plain(pair[1]) or bool(same_value(wanted, given, criteria)), policy


_olympiadbench = _steps(_in_boxes, _algorithm_1, "olympiadbench")

# --- OlympicArena ---------------------------------------------------------------------------------

OLYMPICARENA_GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE, AnswerType.TEXT}
"""Code is run against test cases, and "others" are for GPT-4V to judge (appendix C.5)."""
_IDENTICAL: Final = (AnswerType.SET, AnswerType.TUPLE, AnswerType.INTERVAL)
_SCIENTIFIC = re.compile(r"[-+]?\d[\d.,]*\s*(?:[×x*·]\s*10\s*\^|e[-+]?\d)", re.IGNORECASE)
"""The beginning of a value in scientific notation, in folded text."""


def _answer_level(
    asked: Question, answer: str, policy: str, prove: Prove
) -> tuple[bool | None, str]:
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
    near, estimated = tolerance("olympicarena"), _estimated(_unitless(values.read(asked.reference)))

    def allows(wanted: Quantity, given: Quantity) -> bool | None:
        return (near if wanted._replace(unit="") in estimated else EXACT).allows(wanted, given)

    allowed = tolerance(policy)
    if asked.kind in _IDENTICAL:
        allowed = EXACT
    elif estimated and not asked.tolerance:
        allowed = Tolerance(near.name, allows)  # in "2.0×10^5; 3" the 3 is exact
    return bool(_same_values(asked, answer, allowed, prove)), allowed.name


def _estimated(value: Value) -> frozenset[Quantity]:
    """The numbers of a value that are written in scientific notation."""
    if isinstance(value, Group):
        return frozenset[Quantity]().union(*map(_estimated, value.items))
    found = isinstance(value, Leaf) and _SCIENTIFIC.match(value.text) and value.quantity
    return frozenset((found,)) if found else frozenset()


_olympicarena = _steps(
    lambda asked: last_box(asked.response) or "no-box", _answer_level, EXACT.name
)

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


def _by_type(asked: Question, answer: str, policy: str, prove: Prove) -> tuple[bool | None, str]:
    """ARB: the answer after the last ``ANSWER:``.

    Section 4: "Answers were extracted using the delimiter ANSWER: , and any response lacking it was
    marked incorrect." Section 6: letters "were matched to ground truth"; of numbers the units were
    removed, and "correctness was determined using a relative error threshold of 10^-2"; symbolic
    answers are checked by computer algebra, but "not all symbolic answers can be checked in this
    way, requiring human evaluation": those are not graded here.
    """
    same = _same_values(asked, answer, tolerance(policy), prove)
    return (bool(same) if asked.kind is AnswerType.NUMBER else same), policy


_arb = _steps(_delimited, _by_type, "arb")

# --- ATLAS ----------------------------------------------------------------------------------------

ATLAS_GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE}
"""The question types of appendix A.2: calculation, multiple choice, true or false, descriptive."""
LABELS: Final = {Verdict.CORRECT: "A", Verdict.INCORRECT: "B", Verdict.INVALID: "C", None: "?"}
"""Labels of a sub-answer (prompt E.2); the last, for an undecided one, is not in the paper."""
_LIST_BEGUN = re.compile(r'```json\b|"answers"\s*:|\A\s*\[\s*"')
_REFUSED: Final = "incomplete-or-refusal"
_TEXT_NOT_SHOWN: Final = "cannot-grade-text"


def _atlas(asked: Question, prove: Prove) -> Scored:
    """Score by ATLAS, prompt E.2: the reason begins with a label per sub-answer, ``A,B``.

    "Check for validity first: if the answer is incomplete, repetitive, or a refusal, immediately
    assign label C". Then "compare each component individually", in its place: A for an equivalent
    answer, of numbers "if the relative error is ≤ ±0.1"; B for "any deviation". "Partial
    correctness is not acceptable": the whole is correct where every label is A, and invalid where
    every one is C. The judge of the paper is a model; free text that the rules cannot decide is not
    graded here.
    """
    asked = asked._replace(tolerance=asked.tolerance or "atlas")
    verdicts, reason, found = _labelled(asked, prove)
    verdict = verdicts[0] if len({*verdicts}) == 1 else None
    if {Verdict.INCORRECT, Verdict.INVALID} & {*verdicts}:
        verdict = verdict or Verdict.INCORRECT
    if verdict is None:
        reason = _TEXT_NOT_SHOWN
    if len(verdicts) > 1 or verdict is not None:
        reason = ":".join(filter(None, (written(verdicts), reason)))
    answer, span = (found.answer, (found.start, found.end)) if found else (None, None)
    return Scored(verdict, reason, answer, span, asked.tolerance or "")


def labels(reason: str) -> tuple[str, ...]:
    """The labels, in order, in a reason of this profile or of a parts judge; else empty."""
    whose, _, rest = reason.partition(":")
    made = tuple(rest.partition(":")[0].split(","))
    return made if whose in ("atlas", "parts") and {*made} <= {*"ABC"} else ()


def written(several: Sequence[Verdict | None]) -> str:
    """The labels in the form of a reason: ``A,B``."""
    return ",".join(LABELS[verdict] for verdict in several)


def _labelled(asked: Question, prove: Prove) -> tuple[Sequence[Verdict | None], str, Found | None]:
    """A verdict for each sub-answer, the reason and what was found.

    Incorrect is a missing one, and all of them if there are too many.
    """
    parts, found = _sub_answers(asked), last_box(asked.response)
    if found and plain(found.answer) == plain(asked.reference) and not _not_given(asked, found):
        return [Verdict.CORRECT] * len(parts), "same-text", found
    if reason := _invalid(asked.response):
        return [Verdict.INVALID] * len(parts), reason, None
    verdicts: list[Verdict | None] = [Verdict.INCORRECT] * len(parts)
    given, found = _given(asked, len(parts))
    if found is None:
        return verdicts, "no-answer", None
    whole = asked._replace(kind=AnswerType.MULTI_PART) if len(parts) > 1 else asked
    if reason := _not_given(whole, found):
        return verdicts, reason if len(parts) < 2 else "", found
    if len(given) != len(parts):
        verdict, why = _equivalent(whole, found.answer, prove)
        if len(parts) < 2:
            return [verdict], why, found
        if verdict is Verdict.CORRECT:
            return [verdict] * len(parts), "", found
    for place, answer in enumerate(given if len(given) <= len(parts) else ()):
        kind = answer_type(parts[place])
        key = find_answer(answer, kind) if kind in CHOICE and not refuses(answer) else None
        part = asked._replace(reference=parts[place], kind=kind)
        verdicts[place] = _equivalent(part, key.answer if key else answer, prove)[0]
    return verdicts, "", found


def _invalid(response: str) -> str:
    if says_nothing(response) or without_loop(response) is not None:
        return "repetitive-or-empty"
    given = listed(response, numbers=True)
    unread = not given and json_answers(response) is Fault.JSON_ERROR
    declined = refuses(response) and not given and '"answers"' not in response
    if (unread and _LIST_BEGUN.search(response)) or cut_off(response) or declined:
        return _REFUSED  # a list may decline one part
    return ""


def _equivalent(asked: Question, answer: str, prove: Prove) -> tuple[Verdict | None, str]:
    if says_nothing(answer) or refuses(answer):
        return Verdict.INVALID, _REFUSED
    policy = asked.tolerance or ""
    wanted, given = (read(x, asked.kind, asked.question) for x in (asked.reference, answer))
    same, why = compare(wanted, given, question=asked.question, tolerance=policy, prove=prove)
    if asked.kind is AnswerType.TEXT and same is None:
        return None, _TEXT_NOT_SHOWN
    if same is None and asked.kind in ONE_VALUE:  # perhaps for units that cannot be converted
        same = _same_values(asked, answer, tolerance(policy), unproved)
    return _TWO_VALUED[same], why


# --- lists ----------------------------------------------------------------------------------------


def _sub_answers(asked: Question) -> Sequence[str]:
    """The sub-answers of the reference: a list, ``(1) 9; (2) 4``, or the keys of questions."""
    if parts := asked.parts or _marked(asked.reference):
        return parts
    keys = sequence(asked.reference)
    if asked.kind in CHOICE and len(keys) > 1 and not is_set(keys):
        return keys
    if asked.kind is not AnswerType.MULTI_PART:
        return (asked.reference,)
    return _split(asked.reference, answer_places(asked.reference, asked.kind))


def _given(asked: Question, places: int) -> tuple[Sequence[str], Found | None]:
    """The sub-answers of the response, as far as they can be assigned, and what was found."""
    response, kind = asked.response, asked.kind
    if places < 2:
        return (), find_answer(response, kind, answer_places(asked.reference, kind))
    if several := listed(response, numbers=True):
        span = sentence_around(response, 0, len(response))
        return several, Found(response.strip(), *span, How.WHOLE, span)
    if kind in CHOICE and not (asked.parts or _marked(asked.reference)):
        found = find_answer(response, kind, places)
        return sequence(found.answer) if found else (), found
    found = find_answer(response, AnswerType.MULTI_PART, places)
    last = find_answer(response, AnswerType.MULTI_PART)  # after numbered lines, which may be steps
    if found and last and last.clause[0] > found.end and len(_split(last.answer, places)) == places:
        found = last
    return _split(found.answer, places) if found else (), found


def _split(answer: str, places: int) -> tuple[str, ...]:
    """``(1) 9; (2) 4``, ``9; 4`` and ``9, 4`` as 9 and 4."""
    answer = answer.strip(" `*。.")
    numbered = by_part(answer, places, str.strip) if places > 1 else None
    text = numbered.answer if numbered else answer
    text = text.replace("；", ";").replace("，", ",")
    several = values.split_top(text, ";" if ";" in text else ",")
    return _marked(text) or tuple(piece.strip() for piece in several if piece.strip())


def _marked(text: str) -> tuple[str, ...]:
    """The parts of ``(1) 9; (2) 4``, the form in which all readers join them; else empty."""
    run = unspaced_marks(text)
    whole = len(run) > 1 and not text[: run[0].start].strip()
    return tuple(piece.strip(" ;；") for piece in pieces(text, run)) if whole else ()


# --- the profiles ---------------------------------------------------------------------------------


class Profile(NamedTuple):
    """A scorer, the answer types for which its paper has a rule, and how it reads lists."""

    score: Callable[[Question, Prove], Scored]
    grades: frozenset[AnswerType]
    in_parts: bool = False
    """Whether several references are sub-answers in a fixed order, unless any of them suffices."""


PROFILES: Final[dict[str, Profile]] = {
    "olympiadbench": Profile(_olympiadbench, OLYMPIADBENCH_GRADES),
    "olympicarena": Profile(_olympicarena, OLYMPICARENA_GRADES),
    "arb": Profile(_arb, ARB_GRADES),
    "atlas": Profile(_atlas, ATLAS_GRADES, in_parts=True),
}
"""The profiles by their names in settings and on the command line."""
