"""ATLAS: a label for each sub-answer (section 5.2, prompt E.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from gradegpt.answers.json_list import Fault, json_answers
from gradegpt.answers.options import is_set, sequence
from gradegpt.answers.parts import pieces, unspaced_marks
from gradegpt.answers.read import answer_type, read
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, ONE_VALUE, AnswerType
from gradegpt.answers.values import split_top
from gradegpt.core.schema import Verdict
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import unproved
from gradegpt.rules.claims import Found, How, find_answer
from gradegpt.rules.claims import by_part
from gradegpt.rules.profiles.base import Question, Scored, right, same_values, scored
from gradegpt.rules.profiles.given import LEFT_OPEN, last_box, not_given
from gradegpt.rules.reference import answer_places
from gradegpt.rules.tolerance import tolerance
from gradegpt.rules.validity import cut_off, gives_up, refuses, says_nothing, without_loop

GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE}
"""The question types of appendix A.2: calculation, multiple choice, true or false, descriptive."""
LABELS: Final = {Verdict.CORRECT: "A", Verdict.INCORRECT: "B", Verdict.INVALID: "C", None: "?"}
"""Labels of a sub-answer (prompt E.2); the last, for an undecided one, is not in the paper."""
_LABELLED = re.compile(r"(?:atlas|parts):([ABC](?:,[ABC])*)(?::|$)")
_LIST_BEGUN = re.compile(r'```json\b|"answers"\s*:|\A\s*\[\s*"')
_TEXT: Final = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
_TEXTS = re.compile(_TEXT, re.DOTALL)
_PYTHON_LIST = re.compile(rf"\[\s*{_TEXT}(?:\s*,\s*{_TEXT})*+\s*,?\s*\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(['\"\\])")
_REFUSED: Final = "incomplete-or-refusal"
_TEXT_NOT_SHOWN: Final = "cannot-grade-text"


def score(asked: Question, prove: Prove) -> Scored:
    """Score by ATLAS, prompt E.2: the reason begins with a label per sub-answer, ``A,B``.

    "Check for validity first: if the answer is incomplete, repetitive, or a refusal, immediately
    assign label C". Then "compare each component individually", in its place: A for an equivalent
    answer, of numbers "if the relative error is ≤ ±0.1"; B for "any deviation". "Partial
    correctness is not acceptable": the whole is correct where every label is A, and invalid where
    every one is C. The judge of the paper is a model; free text that the rules cannot decide is not
    graded here.
    """
    policy = asked.tolerance or "atlas"
    parts = _sub_answers(asked)
    box = last_box(asked.response)
    if box and plain(box.answer) == plain(asked.reference) and not not_given(asked, box):
        labels = written([Verdict.CORRECT] * len(parts))
        return scored(Verdict.CORRECT, f"{labels}:same-text", box, policy)
    if reason := _invalid(asked.response):
        labels = written([Verdict.INVALID] * len(parts))
        return Scored(Verdict.INVALID, f"{labels}:{reason}", tolerance=policy)
    given, found = _given(asked, len(parts))
    if found is None:
        labels = written([Verdict.INCORRECT] * len(parts))
        return Scored(Verdict.INCORRECT, f"{labels}:no-answer", tolerance=policy)
    if len(parts) < 2:
        verdict, reason = _label(asked, found, prove)
        reason = reason if verdict is None else f"{LABELS[verdict]}:{reason}"
        return scored(verdict, reason, found, policy)
    several = _labels(asked, parts, given, found, prove)
    verdict = _overall(several)
    reason = written(several) + (f":{_TEXT_NOT_SHOWN}" if verdict is None else "")
    return scored(verdict, reason, found, policy)


def labels(reason: str) -> tuple[str, ...]:
    """The labels, in order, in a reason of this profile or of a parts judge; else empty."""
    match = _LABELLED.match(reason)
    return tuple(match[1].split(",")) if match else ()


def written(several: Sequence[Verdict | None]) -> str:
    """The labels in the form of a reason: ``A,B``."""
    return ",".join(LABELS[verdict] for verdict in several)


def _overall(several: Sequence[Verdict | None]) -> Verdict | None:
    if len({*several}) == 1:
        return several[0]
    wrong = Verdict.INCORRECT in several or Verdict.INVALID in several
    return Verdict.INCORRECT if wrong else None


def _invalid(response: str) -> str:
    if says_nothing(response) or without_loop(response) is not None:
        return "repetitive-or-empty"
    given = listed(response, numbers=True)
    unread = not given and json_answers(response) is Fault.JSON_ERROR
    if unread and _LIST_BEGUN.search(response):
        return _REFUSED
    declined = refuses(response) and not given and '"answers"' not in response
    if cut_off(response) or declined:  # a list may decline one part
        return _REFUSED
    return ""


# --- one answer -----------------------------------------------------------------------------------


def _label(asked: Question, found: Found, prove: Prove) -> tuple[Verdict | None, str]:
    if reason := not_given(asked, found):
        return _ungiven(reason), reason
    if refuses(found.answer):
        return Verdict.INVALID, _REFUSED
    return _equivalent(asked, found.answer, prove)


def _ungiven(reason: str) -> Verdict:
    """The verdict for an answer that is not given; a response that leaves it open refuses."""
    return Verdict.INVALID if reason == LEFT_OPEN else Verdict.INCORRECT


def _equivalent(asked: Question, answer: str, prove: Prove) -> tuple[Verdict | None, str]:
    policy = asked.tolerance or "atlas"
    made = compare(
        read(asked.reference, asked.kind, asked.question),
        read(answer, asked.kind, asked.question),
        question=asked.question,
        tolerance=policy,
        prove=prove,
    )
    same = made.same
    if asked.kind is AnswerType.TEXT and same is None:
        return None, _TEXT_NOT_SHOWN
    if same is None and asked.kind in ONE_VALUE:  # perhaps for units that cannot be converted
        same = same_values(asked, answer, tolerance(policy), unproved)
    return right(same), made.reason


# --- several --------------------------------------------------------------------------------------


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
    response = asked.response
    if places < 2:
        places = answer_places(asked.reference, asked.kind)
        return (), find_answer(response, asked.kind, places)
    if several := listed(response, numbers=True):
        span = sentence_around(response, 0, len(response))
        return several, Found(response.strip(), *span, How.WHOLE, span)
    if asked.kind in CHOICE and not (asked.parts or _marked(asked.reference)):
        found = find_answer(response, asked.kind, places)
        return sequence(found.answer) if found else (), found
    # An announcement of all of them precedes numbered lines, which may be steps.
    announced = find_answer(response, AnswerType.MULTI_PART)
    if announced is not None and len(given := _split(announced.answer, places)) == places:
        return given, announced
    found = find_answer(response, AnswerType.MULTI_PART, places)
    return _split(found.answer, places) if found else (), found


def _labels(
    asked: Question, parts: Sequence[str], given: Sequence[str], found: Found, prove: Prove
) -> list[Verdict | None]:
    """A verdict for each sub-answer: B for a missing one, and for all if there are too many."""
    whole = asked._replace(kind=AnswerType.MULTI_PART)
    if reason := not_given(whole, found):
        return [_ungiven(reason)] * len(parts)
    if len(given) != len(parts) and _equivalent(whole, found.answer, prove)[0] is Verdict.CORRECT:
        return [Verdict.CORRECT] * len(parts)
    given = given if len(given) <= len(parts) else ()
    missing = [Verdict.INCORRECT] * (len(parts) - len(given))
    pairs = zip(parts, given, strict=False)
    return [*(_part(asked, part, answer, prove) for part, answer in pairs), *missing]


def _part(asked: Question, reference: str, answer: str, prove: Prove) -> Verdict | None:
    if says_nothing(answer) or refuses(answer) or gives_up(answer) >= 0:
        return Verdict.INVALID
    kind = answer_type(reference)
    if kind in CHOICE and (found := find_answer(answer, kind)) is not None:
        answer = found.answer
    return _equivalent(asked._replace(reference=reference, kind=kind), answer, prove)[0]


def _split(answer: str, places: int) -> tuple[str, ...]:
    """``(1) 9; (2) 4``, ``9; 4`` and ``9, 4`` as 9 and 4."""
    answer = answer.strip(" `*。.")
    numbered = by_part(answer, places, str.strip) if places > 1 else None
    text = numbered.answer if numbered else answer
    if parts := _marked(text):
        return parts
    text = text.replace("；", ";").replace("，", ",")
    pieces = split_top(text, ";" if ";" in text else ",")
    return tuple(piece.strip() for piece in pieces if piece.strip())


def _marked(text: str) -> tuple[str, ...]:
    """The parts of ``(1) 9; (2) 4``, the form in which all readers join them; else empty."""
    run = unspaced_marks(text)
    whole = len(run) > 1 and not text[: run[0].start].strip()
    return tuple(piece.strip(" ;；") for piece in pieces(text, run)) if whole else ()


def listed(text: str, *, numbers: bool = False) -> tuple[str, ...]:
    """The answers in a JSON or Python list; empty for any other text.

    ``numbers`` accepts entries that are not texts; on its own, ``[1, 2]`` may be an interval.
    """
    text = text.strip()
    if not text.startswith("["):
        return ()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        said = _TEXTS.findall(text) if _PYTHON_LIST.fullmatch(text) else []
        found = [_ESCAPED.sub(r"\1", quoted[1:-1]) for quoted in said]
    if not isinstance(found, list) or not (numbers or all(isinstance(x, str) for x in found)):
        return ()
    parts = tuple(map(str, found))
    return parts if all(part.strip() for part in parts) else ()
