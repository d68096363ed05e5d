"""lm-evaluation-harness, PISA: one token is read, ``1`` or anything else.

The prompt has the options and no question; they are used as the question, so that a letter and an
option's text are recognised as equal.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"Student Answer:", "{response}", r"Options:", "{question}",
    r"Correct Answer \(letter[^)]{0,40}\):", "{reference}", r"Instructions:",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="lm_eval_pisa",
        callers="lm-evaluation-harness pisa_*_llm_judged",
        frames=(_FRAME,),
        tags=(r"student_answer", r"\b1 or 0\b"),
        write=Words("1", "0"),
        example=(
            "Compare the option in student_answer with the correct one. Reply 1 or 0.",
            """Student Answer:
{response}

Options:
{question}

Correct Answer (letter and/or text):
{reference}

Instructions:
- Output 1 or 0.
""",
        ),
    ),
)
