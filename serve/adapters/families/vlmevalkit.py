"""VLMEvalKit: MathVerse, MME-Reasoning, BabyVision and ChartMuseum.

MathVerse shows examples in the frame of the task itself, so the frame begins at the last of them:
the fourth in VLMEvalKit, a fifth in MathVerse's own code and in lmms-eval. Both are one mark, tried
at its first position only, so a response that quotes the fifth example changes nothing. The score
must be exactly ``0`` or ``1``; lmms-eval asks again until it is.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_SCORE = Words("1", "0")
_FIFTH = (
    r"(?:[^\[]{0,200}x-axis at 9[^\[]{0,200}\[Standard Answer\]: A \[Model_answer\]\s*:[^\[]{0,200}"
    r"Judgement: 1 \[Question\]:)?"
)
_SCORED = Frame(
    r"\[Model_answer\]\s*: null Judgement: 0 \[Question\]:" + _FIFTH, "{question}",
    r"\[Standard Answer\]:", "{reference}", r"\[Model_answer\]\s*:", "{response}", r"Judgement:",
)  # fmt: skip
_MME = Frame(
    r"question: \[Question\]:", "{question}", r"\[Standard answer\]:", "{reference}",
    r"\[Model answer\]:", "{response}", r"\[Judgement\]:",
)  # fmt: skip
_BABY = Frame(
    r"\*\*Input:\*\* Question:", "{question}", r", Ground Truth Answer:", "{reference}",
    r", Model Output:", "{response}",
)  # fmt: skip
_CHART = Frame(
    r"Question:", "{question}", r"Answer 1:", "{reference}", r"Answer 2:", "{response}",
    r"Please respond with: - \"Yes\"",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="mathverse_score",
        callers="VLMEvalKit MathVerse, MathVerse score_answer, lmms-eval",
        frames=(_SCORED,),
        tags=(r"\[Model_answer\]",),
        write=_SCORE,
        example="""Is [Model_answer] consistent with [Standard Answer]? 1 if so, else 0.

[Question]: How many sides has a square?
[Standard Answer]: 4
[Model_answer] : null
Judgement: 0

[Question]: {question}
[Standard Answer]: {reference}
[Model_answer] : {response}
Judgement:""",
    ),
    Adapter(
        name="mme_reasoning_score",
        callers="VLMEvalKit MME-Reasoning",
        frames=(_MME,),
        tags=(r"Judgement is 1",),
        write=_SCORE,
        example="""If they are consistent, Judgement is 1, else 0.
Example:
    [Question]: How many sides has a square?
    [Standard answer]: 4
    [Model answer]: four
    [Judgement]: 1
Now the question:
    [Question]: {question}
    [Standard answer]: {reference}
    [Model answer]: {response}
    [Judgement]:
""",
    ),
    Adapter(
        name="babyvision",
        callers="VLMEvalKit BabyVision",
        frames=(_BABY,),
        tags=(r"\bTrue\b", r"\bFalse\b"),
        write=Words("True", "False"),
        example="""Does the output match the truth? Return True or False.

**Input:**

Question: {question},
Ground Truth Answer: {reference},
Model Output: {response}
""",
    ),
    Adapter(
        name="chartmuseum",
        callers="VLMEvalKit ChartMuseum",
        frames=(_CHART,),
        tags=(r"two answers",),
        write=Words("Yes", "No"),
        example="""Are the two answers equivalent?

Question: {question}
Answer 1: {reference}
Answer 2: {response}

Please respond with:
- "Yes" if they are
- "No" if they are not""",
    ),
)
