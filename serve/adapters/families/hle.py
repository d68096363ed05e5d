"""Humanity's Last Exam and BrowseComp: simple-evals and lighteval, NeMo-Skills and NeMo Gym.

simple-evals takes the first ``correct: yes``, NeMo-Skills the first or the last ``Judgement:`` by
version, an old one only at the end of the reply. HLE's own script and lighteval ask for a JSON
schema. The confidence is that of the judged response, for a calibration error, never the judge's.
BrowseComp-Plus states the reference before the form of the reply, evalscope wants a grade.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Reply, Words, Writer, placed, reason

_BOTH = (r"\[question\]:", "{question}", r"\[response\]:", "{response}")
_REFERENCE = r"\[correct_answer\]:"
_FRAME = Frame(
    *_BOTH, r"Your judge?ment must be", rf"{_REFERENCE}(?! Repeat)", "{reference}",
    r"[Rr]easoning: Explain",
)  # fmt: skip
_PLUS = Frame(
    *_BOTH, _REFERENCE, "{reference}", r"Your judge?ment must be", rf"{_REFERENCE} Repeat",
    r"[Rr]easoning: Explain",
)  # fmt: skip
_GRADE = Frame(
    *_BOTH, _REFERENCE, "{reference}",
    r"(?:Your judge?ment must focus|After assessing the submitted answer)",
)  # fmt: skip
_CONFIDENCE: Final = re.compile(r"(?i)confidence\W{0,8}(\d{1,3})\b")
_YES_NO = Words("yes", "no")
_HEAD = """Does the [response] to the [question] give the [correct_answer]?

[question]: {question}

[response]: {response}

"""
_FORM = """Your judgement must be in this form:

extracted_final_answer: the answer in the [response]

[correct_answer]: {reference}

{why}: Explain whether they match.

{verdict}: Answer 'yes' or 'no'.

{confidence}: as stated in the [response].
"""
_STATED = "[correct_answer]: {reference}\n\n"
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "extracted_final_answer": {"type": "string"},
        "reasoning": {"type": "string"},
        "correct": {"type": "string", "enum": ["yes", "no"]},
        "confidence": {"type": "integer"},
        "strict": {"type": "boolean", "const": True},
    },
    "required": ["extracted_final_answer", "reasoning", "correct", "confidence", "strict"],
    "additionalProperties": False,
}


def _example(why: str, verdict: str, confidence: str) -> str:
    return _HEAD + placed(_FORM, {"why": why, "verdict": verdict, "confidence": confidence})


def _answer(judgement: Judgement) -> str:
    return " ".join((judgement.answer or "None").split())


def _confidence(fields: Mapping[str, str]) -> int:
    stated = _CONFIDENCE.findall(fields["response"])
    return min(int(stated[-1]), 100) if stated else 100


def _writer(label: str, around: str) -> Writer:
    """In lines; without the reason where it, or the answer, would be read for the verdict."""
    hostile = rf"(?i){label}\W*:"

    def write(judgement: Judgement, fields: Mapping[str, str]) -> Reply | None:
        answer = _answer(judgement)
        values = {"answer": answer, "confidence": str(_confidence(fields))}
        words = Words(
            f"{label}: yes",
            f"{label}: no",
            around=placed(around, values),
            hostile="" if re.search(hostile, answer) else hostile,
        )
        return words(judgement, fields)

    return write


def _object(judgement: Judgement, fields: Mapping[str, str]) -> dict[str, Any] | None:
    word = _YES_NO.word(judgement)
    if word is None:
        return None
    return {
        "extracted_final_answer": _answer(judgement),
        "reasoning": reason(judgement),
        "correct": word,
        "confidence": _confidence(fields),
        "strict": True,
    }


_CORRECT = _writer(
    "correct",
    "extracted_final_answer: {answer}\n\nreasoning: {why}\n\n{verdict}\n\nconfidence: {confidence}",
)

ADAPTERS = (
    Adapter(
        name="hle",
        callers="simple-evals BrowseComp, Humanity's Last Exam, lighteval",
        frames=(_FRAME,),
        tags=(r"correct: Answer",),
        write=_CORRECT,
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_example("reasoning", "correct", "confidence"),
    ),
    Adapter(
        name="browsecomp_plus",
        callers="BrowseComp-Plus and others who state the reference before the form",
        frames=(_PLUS,),
        tags=(r"correct: Answer",),
        # A response in a prompt of the other form may quote this: there the reference comes later.
        without=(rf"{_REFERENCE}(?!\s*(?:Your judge|Repeat))",),
        write=_CORRECT,
        schema=_SCHEMA,
        write_json=Json(_object),
        example=_HEAD
        + _STATED
        + _example("reasoning", "correct", "confidence")
        .removeprefix(_HEAD)
        .replace("{reference}", "Repeat it."),
    ),
    Adapter(
        name="hle_grade",
        callers="evalscope HLE, inspect_evals HLE and MASK",
        frames=(_GRADE,),
        tags=(r"GRADE: ",),
        write=Words("GRADE: C", "GRADE: I", around="{why}\n{verdict}", hostile=r"(?i)grade\s*:"),
        example=_HEAD + _STATED + "Your judgement must focus on them; end with 'GRADE: C' or I.",
    ),
    Adapter(
        name="hle_nemo",
        callers="NeMo-Skills judge/hle, NeMo Gym",
        frames=(_FRAME,),
        tags=(r"Judgement: Answer",),
        write=_writer(
            "Judgement",
            "extracted_final_answer: {answer}\n\nReasoning: {why}\n\n"
            "Confidence: {confidence}\n\n{verdict}",
        ),
        example=_example("Reasoning", "Judgement", "Confidence"),
    ),
)
