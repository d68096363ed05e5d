"""LongMemEval: ``yes`` or ``no``, found anywhere in the reply, so nothing else is said.

Its questions without an answer, and those with a rubric for one, have other labels and are not
known here: neither has a reference answer.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"Question:", "{question}", r"Correct Answer:", "{reference}",
    r"Model Response:", "{response}", r"Is the model response correct\?",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="longmemeval",
        callers="LongMemEval",
        frames=(_FRAME,),
        tags=(r"\byes or no\b",),
        write=Words("yes", "no"),
        example="""Does the response contain the correct answer?

Question: {question}

Correct Answer: {reference}

Model Response: {response}

Is the model response correct? Answer yes or no.""",
    ),
)
