"""GAIA and other searches as WebAgent, WebThinker and their descendants grade them: one word.

The words are those of the prompt; the reply is compared as a whole. Some put the prediction first,
some ask for a fenced JSON object, of which the first fence counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, placed, reason

_WORDS = Words("{positive}", "{negative}")
_AS_JSON = r"(?i)\bjson\b"
_PARTS = (
    r"Question:", "{question}", r"Labeled Answer:", "{reference}",
    r"(?:Predicted Answer|Model Output(?: \(Last few lines\))?):", "{response}",
)  # fmt: skip
_FRAME = Frame(*_PARTS, r"(?:Did the model give|Are these answers) ")
_FRAME_JSON = Frame(*_PARTS, r"\{ \"rationale\":")
_PREDICTION = Frame(
    r"Question:", "{question}", r"Model Predicted Answer:", "{response}",
    r"Labeled Answer:", "{reference}", r"Return '\w+' if",
)  # fmt: skip

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "judgement": {"type": "string"},
    },
    "required": ["rationale", "judgement"],
}


def _object(judgement: Judgement, fields: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    if word is None:
        return None
    why = reason(judgement)
    return {"rationale": "" if "```" in why else why, "judgement": placed(word, fields)}


ADAPTERS = (
    Adapter(
        name="labeled_answer",
        callers="WebAgent (GAIA), MiroThinker, agents that copy their judge",
        frames=(_FRAME,),
        tags=(r"respond with \"\w+\" if",),
        without=(_AS_JSON,),
        options={
            "positive": r"respond with \"(\w+)\" if",
            "negative": r"or \"(\w+)\" if",
        },
        write=_WORDS,
        example="""Question: {question}

Labeled Answer: {reference}

Predicted Answer: {response}

Did the model give the labeled answer? Please respond with "Correct" if so, or "Incorrect" if not.
""",
    ),
    Adapter(
        name="labeled_answer_json",
        callers="ASearcher and others who want a rationale",
        frames=(_FRAME, _FRAME_JSON),
        tags=(r"\"rationale\":", r"\"judgement\":", r"only be [\"']\w+[\"'] or [\"']\w+[\"']"),
        options={
            "positive": r"only be [\"'](\w+)[\"'] or",
            "negative": r"only be [\"']\w+[\"'] or [\"'](\w+)[\"']",
        },
        write=Json(_object, around="```json\n{json}\n```"),
        schema=_SCHEMA,
        write_json=Json(_object),
        example="""Question: {question}

Labeled Answer: {reference}

Predicted Answer: {response}

Did the model give the labeled answer? In json format:
{"rationale": "why", "judgement": can only be "Correct" or "Incorrect"}""",
    ),
    Adapter(
        name="labeled_answer_last",
        callers="WebThinker, OmniAtlas: the prediction before the labeled answer",
        frames=(_PREDICTION,),
        without=(_AS_JSON,),
        options={
            "positive": r"Return '(\w+)' if",
            "negative": r"otherwise return '(\w+)'",
        },
        write=_WORDS,
        example="""Question: {question}
Model Predicted Answer: {response}
Labeled Answer: {reference}
Return 'Correct' if they agree, otherwise return 'Incorrect'.""",
    ),
)
