"""Reasoning360's STEM judge: one line and no reason, as it asks. The last decision is read."""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"(?<!#)## Question\b", "{question}", r"(?<!#)## Reference Answer\b", "{reference}",
    r"(?<!#)## Student Answer\b", "{response}", r"Decision rules:",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="reasoning360",
        callers="Reasoning360 STEM judge (STEM_LLM_JUDGE_URL)",
        frames=(_FRAME,),
        tags=(r"Final Decision: Yes",),
        write=Words("Final Decision: Yes", "Final Decision: No"),
        example=(
            "Trust the reference and give the decision alone.",
            """## Question
{question}

## Reference Answer
{reference}

## Student Answer
{response}

Decision rules: the same meaning is Yes, all else is No.
Final Decision: Yes
or
Final Decision: No""",
        ),
    ),
)
