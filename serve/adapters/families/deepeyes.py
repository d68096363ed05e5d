"""DeepEyes and its descendants: consistency as ``1`` or ``0``, and a report on mathematics.

The frame of the first is MathVerse's, with DeepEyes' own last example or without. A prompt whose
first item ends with a score has examples; where unknown examples end cannot be recognised.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_SCORED = (
    r"(?![^\[]{0,400}\[Standard Answer\]:[^\[]{0,200}\[Model_answer\]\s*:[^\[]{0,200}"
    r"Judgement: [01])"
)
_FRAME = Frame(
    r"(?:don't output anything else\W*|is pink\. Judgement: 0) \[Question\]:" + _SCORED,
    "{question}",
    r"\[Standard Answer\]:", "{reference}", r"\[Model_answer\]\s*:", "{response}", r"Judgement:",
)  # fmt: skip

# Omni-MATH's prompt has the same parts in its examples; these follow the last instruction.
_REPORT = Frame(
    r"extra explanation\. \*\*Question\*\*:", "{question}",
    r"\*\*Reference Answer\*\*:?", "{reference}", r"## Student Final Answer", "{response}",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="consistency",
        callers="DeepEyes, ms-swift and descendants, DAPO with a generative reward",
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
    Adapter(
        name="deepeyes_math",
        callers="DeepEyes and ms-swift on mathematics",
        frames=(_REPORT,),
        tags=(r"## Equivalence Judgement", r"TRUE or FALSE"),
        # A word of the other verdict after the heading would reverse the verdict.
        write=Words("## Equivalence Judgement\nTRUE", "## Equivalence Judgement\nFALSE"),
        example="""Report whether the answers are the same.
## Equivalence Judgement
[TRUE or FALSE]
No extra explanation.

**Question**:
{question}

**Reference Answer**
{reference}

## Student Final Answer
{response}""",
    ),
)
