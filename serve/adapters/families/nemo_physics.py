"""NeMo-Skills ``judge/physics`` and NeMo Gym ``physics_judge``: xVerify's task on one line.

A reply with ``[Correct]`` anywhere is correct and all others are not, so nothing else is said.
"""

from __future__ import annotations

from ..adapter import Adapter
from ..frame import Frame
from ..reply import Words

_FRAME = Frame(
    r"Question:", "{question}", r", Output sentence:", "{response}",
    r", Correct answer:", "{reference}", r", Judgement:",
)  # fmt: skip

ADAPTERS = (
    Adapter(
        name="nemo_physics",
        callers="NeMo-Skills judge/physics, NeMo Gym physics_judge",
        frames=(_FRAME,),
        tags=(r"\[Correct\]", r"\[Incorrect\]"),
        write=Words("[Correct]", "[Incorrect]"),
        example="""Does the sentence give the answer? [Correct] or [Incorrect].
Question: {question}, Output sentence: {response}, Correct answer: {reference}, Judgement:""",
    ),
)
