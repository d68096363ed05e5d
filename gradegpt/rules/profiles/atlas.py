"""ATLAS: a label for each sub-answer (section 5.2, prompt E.2)."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from gradegpt.answers.json_list import Fault, json_answers, mended
from gradegpt.answers.options import is_set, sequence
from gradegpt.answers.parts import pieces, unspaced_marks
from gradegpt.answers.read import answer_type, read
from gradegpt.answers.spans import sentence_around
from gradegpt.answers.text import plain
from gradegpt.answers.types import CHOICE, ONE_VALUE, AnswerType
from gradegpt.answers.values import split_top
from gradegpt.core.schema import Verdict
from gradegpt.rules.claims import Found, How, by_part, find_answer
from gradegpt.rules.compare import Prove, compare
from gradegpt.rules.compare.base import unproved
from gradegpt.rules.profiles.base import Question, Scored, last_box, not_given, right, same_values
from gradegpt.rules.reference import answer_places
from gradegpt.rules.tolerance import tolerance
from gradegpt.rules.validity import cut_off, refuses, says_nothing, without_loop

GRADES: Final = frozenset(AnswerType) - {AnswerType.CODE}
"""The question types of appendix A.2: calculation, multiple choice, true or false, descriptive."""
LABELS: Final = {Verdict.CORRECT: "A", Verdict.INCORRECT: "B", Verdict.INVALID: "C", None: "?"}
"""Labels of a sub-answer (prompt E.2); the last, for an undecided one, is not in the paper."""
_LIST_BEGUN = re.compile(r'```json\b|"answers"\s*:|\A\s*\[\s*"')
_REFUSED: Final = "incomplete-or-refusal"
_TEXT_NOT_SHOWN: Final = "cannot-grade-text"
_Labelled = tuple[list[Verdict | None], str, Found | None]
"""A verdict for each sub-answer, the reason, and what was found."""


def score(asked: Question, prove: Prove) -> Scored:
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
    if verdict is None and {Verdict.INCORRECT, Verdict.INVALID}.intersection(verdicts):
        verdict = Verdict.INCORRECT
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


def _labelled(asked: Question, prove: Prove) -> _Labelled:
    """A verdict for each sub-answer: B for a missing one, and for all if there are too many."""
    parts, found = _sub_answers(asked), last_box(asked.response)
    if found and plain(found.answer) == plain(asked.reference) and not not_given(asked, found):
        return [Verdict.CORRECT] * len(parts), "same-text", found
    if reason := _invalid(asked.response):
        return [Verdict.INVALID] * len(parts), reason, None
    verdicts: list[Verdict | None] = [Verdict.INCORRECT] * len(parts)
    given, found = _given(asked, len(parts))
    if found is None:
        return verdicts, "no-answer", None
    whole = asked._replace(kind=AnswerType.MULTI_PART) if len(parts) > 1 else asked
    if reason := not_given(whole, found):
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
        same = same_values(asked, answer, tolerance(policy), unproved)
    return right(same), why


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
    # An announcement of all of them precedes numbered lines, which may be steps.
    found = find_answer(response, AnswerType.MULTI_PART)
    if found is None or len(_split(found.answer, places)) != places:
        found = find_answer(response, AnswerType.MULTI_PART, places)
    return _split(found.answer, places) if found else (), found


def _split(answer: str, places: int) -> tuple[str, ...]:
    """``(1) 9; (2) 4``, ``9; 4`` and ``9, 4`` as 9 and 4."""
    answer = answer.strip(" `*。.")
    numbered = by_part(answer, places, str.strip) if places > 1 else None
    text = numbered.answer if numbered else answer
    text = text.replace("；", ";").replace("，", ",")
    several = split_top(text, ";" if ";" in text else ",")
    return _marked(text) or tuple(piece.strip() for piece in several if piece.strip())


def _marked(text: str) -> tuple[str, ...]:
    """The parts of ``(1) 9; (2) 4``, the form in which all readers join them; else empty."""
    run = unspaced_marks(text)
    whole = len(run) > 1 and not text[: run[0].start].strip()
    return tuple(piece.strip(" ;；") for piece in pieces(text, run)) if whole else ()


def listed(text: str, *, numbers: bool = False) -> tuple[str, ...]:
    """The answers in a JSON or Python list; empty for any other text.

    ``numbers`` accepts entries that are not texts; on its own, ``[1, 2]`` may be an interval.
    """
    found: object = None
    if text.lstrip().startswith("["):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            found = ast.literal_eval(mended(text.strip()).replace(r"\'", "'"))
    if not isinstance(found, list) or not (numbers or all(isinstance(x, str) for x in found)):
        return ()
    parts = tuple(map(str, found))
    return parts if all(part.strip() for part in parts) else ()
