"""An item, its chains, a clock and scripts, shared by the tests of the teacher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from data_gen.teacher import Teacher, TeacherVote
from gradegpt.chains.chain import Chain, render_chain
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Verdict
from tests.data_gen.teacher_server import Say, Script, ScriptedServer

CROSS = ChainFormat.CROSS_LINGUAL
RESPONSE = "先算 6×7。\n所以一共有 42 个苹果。"
QUOTE = "所以一共有 42 个苹果。"
GLOSS = "So there are 42 apples in all."


def chain(verdict: Verdict = Verdict.CORRECT, **changes: Any) -> Chain:
    if verdict is Verdict.INVALID:
        parts: dict[str, Any] = {}
    else:
        parts = {"quotes": (QUOTE,), "glosses": (GLOSS,), "answer": "42"}
    return Chain(
        verdict=verdict,
        **{
            **parts,
            "reference_answer": "42 个",
            "answer_type": AnswerType.NUMBER,
            **changes,
        },
    )


YES, NO, NONE = (render_chain(chain(verdict), CROSS) for verdict in Verdict)


def item(number: int = 0, response: str = RESPONSE) -> Item:
    return Item(question=f"question {number}", reference=("42 个",), response=response)


Ask = Callable[..., tuple[list[TeacherVote], ScriptedServer, Teacher]]
"""A script and items -> the votes, the server and the teacher, closed."""


def always(*says: Say | str) -> Script:
    """A script that repeats the same replies in turn."""
    turns = [say if isinstance(say, Say) else Say(say) for say in says]
    return lambda _, number: turns[number % len(turns)]
