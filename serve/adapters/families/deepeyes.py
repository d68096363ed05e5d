"""DeepEyes' consistency judge and its descendants: a score of ``1`` or ``0``.

The frame is MathVerse's, without examples. A prompt whose first item ends with a score has
examples, and only its own family knows where they end.
"""

from __future__ import annotations

from serve.adapters.adapter import Adapter
from serve.adapters.frame import Frame
from serve.adapters.reply import Words

_SCORED = (
    r"(?![^\[]{0,400}\[Standard Answer\]:[^\[]{0,200}\[Model_answer\]\s*:[^\[]{0,200}"
    r"Judgement: [01])"
)
_FRAME = Frame(
    r"don't output anything else\W* \[Question\]:" + _SCORED, "{question}",
    r"\[Standard Answer\]:", "{reference}", r"\[Model_answer\]\s*:", "{response}", r"Judgement:",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="consistency",
        callers="DeepEyes and its descendants without examples, DAPO with a generative reward",
        frames=(_FRAME,),
        tags=(r"\[Model_answer\]",),
        write=Words("1", "0"),
        example="""Is [Model_answer] consistent with [Standard Answer]? 1 or 0, and
don't output anything else.

[Question]: {question}
[Standard Answer]: {reference}
[Model_answer] : {response}
Judgement:""",
    ),
)
