"""GradeGPT: grade a model's response against a reference answer, with a checkable chain.

>>> import gradegpt
>>> gradegpt.judge(response="The answer is 0.75.", reference="3/4", judge="rules").verdict
<Verdict.CORRECT: 'correct'>

``judge_many`` takes rows, a data frame or a data set. ``errors`` has what they raise. The judges
themselves take items:

>>> from gradegpt import Item, RuleJudge
>>> item = Item(question="1/2 + 1/4 = ?", reference="3/4", response="So the answer is 0.75.")
>>> RuleJudge().judge([item])[0].verdict
<Verdict.CORRECT: 'correct'>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gradegpt import errors
    from gradegpt.app.call import judge, judge_many
    from gradegpt.core.schema import (
        AnswerType,
        ChainFormat,
        Example,
        Item,
        Judgement,
        Outcome,
        Verdict,
    )
    from gradegpt.judges.base import Judge
    from gradegpt.judges.cascade import CascadeJudge
    from gradegpt.judges.model import ModelJudge
    from gradegpt.judges.rules import RuleJudge
    from gradegpt.judges.settings import JudgeSettings

__version__ = "0.2.0"
__all__ = [
    "AnswerType", "CascadeJudge", "ChainFormat", "Example", "Item", "Judge", "JudgeSettings",
    "Judgement", "ModelJudge", "Outcome", "RuleJudge", "Verdict", "errors", "judge", "judge_many",
]  # fmt: skip

_NAMES: Final = {
    "gradegpt.app.call": ("judge", "judge_many"),
    "gradegpt.core.schema": (
        "AnswerType", "ChainFormat", "Example", "Item", "Judgement", "Outcome", "Verdict",
    ),
    "gradegpt.judges.base": ("Judge",),
    "gradegpt.judges.cascade": ("CascadeJudge",),
    "gradegpt.judges.model": ("ModelJudge",),
    "gradegpt.judges.rules": ("RuleJudge",),
    "gradegpt.judges.settings": ("JudgeSettings",),
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that ``import gradegpt`` itself costs nothing."""
    if name == "errors":
        return import_module("gradegpt.errors")
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
