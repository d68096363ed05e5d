"""LoCoMo as mem0 and other memory systems grade it: a JSON object with a label.

The label alone is read, and ``response_format`` asks for an object; what is no object is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words

_WORDS = Words("CORRECT", "WRONG")
_SCHEMA: Final = {
    "type": "object",
    "properties": {"label": {"type": "string", "enum": ["CORRECT", "WRONG"]}},
    "required": ["label"],
}
# An example before it has a question and a gold answer too.
_FRAME = Frame(
    r"the real question: Question:", "{question}", r"Gold answer:", "{reference}",
    r"Generated answer:", "{response}", r"First, provide a ",
)  # fmt: skip


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"label": word}


ADAPTERS = (
    Adapter(
        name="locomo",
        callers="mem0 and other memory systems on LoCoMo",
        frames=(_FRAME,),
        tags=(r"CORRECT or WRONG", r"[\"']label[\"']"),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example="""Does the generated answer say what the gold answer says?
Now the real question:
Question: {question}
Gold answer: {reference}
Generated answer: {response}

First, provide a short reason, then CORRECT or WRONG as JSON with the key "label".""",
    ),
)
