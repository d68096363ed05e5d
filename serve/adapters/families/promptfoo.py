"""promptfoo's factuality: the relations of openai/evals as a JSON object.

Of the five relations a judge of correctness knows two: the same details (C), a disagreement (D).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradegpt.schema import Judgement

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Json, Words, reason

_WORDS = Words("C", "D")
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "category": {"type": "string", "enum": ["C", "D"]},
        "reason": {"type": "string"},
    },
    "required": ["category", "reason"],
}
_FRAME = Frame(
    r"<question>", "{question}", r"</question> <expert_answer>", "{reference}",
    r"</expert_answer> <submitted_answer>", "{response}", r"</submitted_answer>",
)  # fmt: skip


def _object(judgement: Judgement, _: Mapping[str, str]) -> dict[str, str] | None:
    word = _WORDS.word(judgement)
    return None if word is None else {"category": word, "reason": reason(judgement)}


ADAPTERS = (
    Adapter(
        name="promptfoo_factuality",
        callers="promptfoo factuality",
        frames=(_FRAME,),
        tags=(r"\"category\":", r"\(C\) ", r"\(D\) "),
        write=Json(_object),
        schema=_SCHEMA,
        write_json=Json(_object),
        example=(
            """How do the answers relate?
(C) the same details
(D) a disagreement
As JSON: {"category": "C", "reason": "why"}""",
            """<question>
{question}
</question>

<expert_answer>
{reference}
</expert_answer>

<submitted_answer>
{response}
</submitted_answer>""",
        ),
    ),
)
