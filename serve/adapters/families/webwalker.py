"""WebWalkerQA as MemEvolve and its descendants grade it: a JSON object with one word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words

_WORDS = Words("correct", "incorrect")
_SCHEMA: Final = {
    "type": "object",
    "properties": {"judgement": {"type": "string", "enum": ["correct", "incorrect"]}},
    "required": ["judgement"],
}
_FRAME = Frame(
    r"\[Original Question\]:", "{question}", r"\[Correct Answer\]:", "{reference}",
    r"\[Response\]:", "{response}", r"Your judge?ment must follow",
)  # fmt: skip


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"judgement": word}


ADAPTERS = (
    Adapter(
        name="webwalker",
        callers="MemEvolve WebWalkerQA and its descendants",
        frames=(_FRAME,),
        tags=(r"\"judgement\":",),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example="""Is the response the correct answer?

[Original Question]: {question}

[Correct Answer]: {reference}

[Response]: {response}

Your judgment must follow this form: {"judgement": "correct" or "incorrect"}""",
    ),
)
