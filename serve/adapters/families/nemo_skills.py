"""NeMo-Skills: ``judge/math`` and ``judge/speechlm``, a reason and then ``Judgement: Yes``.

By version the parser takes the first or the last ``Judgement:``, an old one only at the end.
A reply that it cannot parse counts as wrong.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_WORDS = Words(
    "Judgement: Yes",
    "Judgement: No",
    around="Reasoning: {why}\n{verdict}",
    hostile=r"(?i)judgement\W*:",
)
_MATH = Frame(
    r"YOUR TASK Problem:", "{question}", r"Predicted answer:", "{response}",
    r"Expected answer:", "{reference}",
)  # fmt: skip
_SPEECH = Frame(
    r"Question:", "{question}", r"Reference Answer:", "{reference}",
    r"Model Response:", "{response}", r"Your task is to determine",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="nemo_math",
        callers="NeMo-Skills judge/math",
        frames=(_MATH,),
        tags=(r"\bYes\b", r"\bNo\b"),
        write=_WORDS,
        example="""Say why, then Yes or No.

YOUR TASK

Problem: {question}
Predicted answer: {response}
Expected answer: {reference}""",
    ),
    Adapter(
        name="nemo_speechlm",
        callers="NeMo-Skills judge/speechlm, MMAU-Pro",
        frames=(_SPEECH,),
        tags=(r"Judgement: ",),
        write=_WORDS,
        example="""Question: {question}

Reference Answer: {reference}

Model Response: {response}

Your task is to determine whether the response is right.
Reasoning: why
Judgement: Yes or No""",
    ),
)
