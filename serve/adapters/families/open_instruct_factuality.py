"""open-instruct's factuality judge, also its creative-writing and refusal judges: a JSON object.

The prompt asks for ``True`` or ``False``, but the extractor turns the score into a number, and
``True`` into 0. A number in quotes is also found where the extractor breaks the JSON, as it does
with most LaTeX in the reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Item, Judgement

from ..adapter import Adapter, PromptError, item_of
from ..frame import Frame
from ..reply import Json, Words, reason

_WORDS = Words("1", "0")
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "REASONING": {"type": "string"},
        "SCORE": {"type": "string", "enum": ["0", "1"]},
    },
    "required": ["REASONING", "SCORE"],
}
_FRAME = Frame(
    r"Question:", "{question}", r"Provided Answer:", "{response}",
    r"Reference Answer:", "{reference}", r"Correct: Respond in JSON",
)  # fmt: skip


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"REASONING": reason(judgement), "SCORE": word}


def _item(fields: Mapping[str, str]) -> Item:
    """The template doubles its braces: some versions send the names of the fields."""
    if fields["response"] == "{output}":
        raise PromptError(
            "open_instruct_factuality: the prompt holds '{output}' where the answer belongs; "
            "write {input}, {output} and {label} with single braces in the caller's template"
        )
    return item_of(fields)


ADAPTERS = (
    Adapter(
        name="open_instruct_factuality",
        callers="open-instruct judge_utils factuality, creative_writing, refusal",
        frames=(_FRAME,),
        tags=(r'"SCORE":',),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        item=_item,
        example="""Is the provided answer the reference answer?

Question: {question}
Provided Answer: {response}
Reference Answer: {reference}
Correct:
Respond in JSON format. {"REASONING": "...", "SCORE": "..."}""",
    ),
)
