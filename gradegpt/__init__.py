"""GradeGPT: grade a model's response against a reference answer, with a checkable chain.

>>> import gradegpt
>>> gradegpt.judge(response="The answer is 0.75.", reference="3/4", judge="rules").verdict
<Verdict.CORRECT: 'correct'>

``judge_many`` takes rows, a data frame or a data set; ``ajudge`` and ``ajudge_many`` are the same
for asyncio. The judges themselves take items:

>>> from gradegpt import Item, RuleJudge
>>> item = Item(question="1/2 + 1/4 = ?", reference="3/4", response="So the answer is 0.75.")
>>> RuleJudge().judge([item])[0].verdict
<Verdict.CORRECT: 'correct'>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gradegpt.app.call import ajudge, ajudge_many, judge, judge_many
    from gradegpt.core.schema import (
        AnswerType,
        ChainFormat,
        Example,
        Item,
        Judgement,
        Outcome,
        Verdict,
    )
    from gradegpt.judges import CascadeJudge, Judge, ModelJudge, RuleJudge
    from gradegpt.judges.settings import JudgeSettings

__version__ = "0.1.0"
__all__ = [
    "AnswerType", "CascadeJudge", "ChainFormat", "Example", "Item", "Judge", "JudgeSettings",
    "Judgement", "ModelJudge", "Outcome", "RuleJudge", "Verdict", "ajudge", "ajudge_many", "judge",
    "judge_many",
]  # fmt: skip

_HOME: Final = {
    **dict.fromkeys(("ajudge", "ajudge_many", "judge", "judge_many"), "gradegpt.app.call"),
    "JudgeSettings": "gradegpt.judges.settings",
    **dict.fromkeys(("CascadeJudge", "Judge", "ModelJudge", "RuleJudge"), "gradegpt.judges"),
    **dict.fromkeys(
        ("AnswerType", "ChainFormat", "Example", "Item", "Judgement", "Outcome", "Verdict"),
        "gradegpt.core.schema",
    ),
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that ``import gradegpt`` itself costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
