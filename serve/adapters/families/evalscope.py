"""evalscope: its default judge, as JSON since the reply has a contract, as a letter before.

Exactly one JSON object is read, with both keys; anything else is a parse error, and the sample is
left out, as a refusal leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gradegpt.schema import Judgement, Outcome, Verdict

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, reason

_FRAME = Frame(
    r"\[Question\]", "{question}", r"\[Reference Answer\]", "{reference}",
    r"\[Predicted Answer\]", "{response}", r"Evaluate the model's answer",
)  # fmt: skip
_INPUT = r"# Input \[Question\]"
_LINES = Frame(
    r"Question:", "{question}", r"Reference Answer:", "{reference}",
    r"Model Answer:", "{response}", r"Evaluate the model's answer",
)  # fmt: skip
_RULES = Frame(
    _INPUT, "{question}", r"\[Reference Answer\]", "{reference}",
    r"\[Predicted Answer\]", "{response}", r"# Evaluation Rules",
)  # fmt: skip
_EXAMPLE = """Judge a predicted answer against the gold target.

[Question]
{question}

[Reference Answer]
{reference}

[Predicted Answer]
{response}

Evaluate the model's answer as one of:
A: CORRECT
B: INCORRECT
"""
_LETTER = r"(?i)just return the letters?"
_MENU = r"A: CORRECT B: INCORRECT"

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": ["A", "B"]},
    },
    "required": ["reasoning", "verdict"],
}


def _fill(judgement: Judgement, _: Mapping[str, str]) -> dict[str, Any] | None:
    if judgement.outcome is not Outcome.JUDGED:
        return None
    letter = "A" if judgement.verdict is Verdict.CORRECT else "B"
    return {"reasoning": reason(judgement) or f"Compared by {judgement.method}.", "verdict": letter}


ADAPTERS = (
    Adapter(
        name="evalscope",
        callers="evalscope LLMJudge",
        frames=(_FRAME,),
        tags=(_MENU,),
        without=(_LETTER, _INPUT),
        write=Json(_fill),
        schema=SCHEMA,
        write_json=Json(_fill),
        example=_EXAMPLE + "\nReply with one JSON object: reasoning and verdict.",
    ),
    Adapter(
        name="evalscope_letter",
        callers="evalscope LLMJudge before its reply had a contract",
        frames=(_FRAME,),
        tags=(_MENU, _LETTER),
        without=(_INPUT,),
        write=Words("A", "B"),
        example=_EXAMPLE + "\nJust return the letter.",
    ),
    Adapter(
        name="evalscope_letter_lines",
        callers="evalscope LLMJudge in its first form",
        frames=(_LINES,),
        tags=(_MENU, _LETTER),
        write=Words("A", "B"),
        example="""Judge a model's answer against the gold target.

Question: {question}

Reference Answer: {reference}

Model Answer: {response}

Evaluate the model's answer as one of:
A: CORRECT
B: INCORRECT

Just return the letter.""",
    ),
    Adapter(
        name="evalscope_letter_rules",
        callers="VLMEvalKit ScienceOlympiad: evalscope's older judge, with rules behind the answer",
        frames=(_RULES,),
        tags=(_MENU, _LETTER),
        write=Words("A", "B"),
        example="# Input\n"
        + _EXAMPLE.partition("\n\n")[2].replace(
            "Evaluate the", "# Evaluation Rules\n- Evaluate the"
        )
        + "\nJust return the letter.",
    ),
)
