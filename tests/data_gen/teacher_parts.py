"""An item, its chains, a clock and scripts, shared by the tests of the teacher."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from data_gen.teacher import Teacher, TeacherLabel
from gradegpt.chains.chain import Chain, parse_prompt, render_chain
from gradegpt.core.schema import AnswerType, ChainFormat, Item, Message, Verdict
from gradegpt.rules.reference import answer_kind
from tests.data_gen.teacher_server import Say, Script, ScriptedServer

CROSS = ChainFormat.CROSS_LINGUAL
RESPONSE = "先算 6×7。\n所以一共有 42 个苹果。"
QUOTE = "所以一共有 42 个苹果。"
GLOSS = "So there are 42 apples in all."
WHY = "42 apples are counted"


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
            "why": WHY,
            **changes,
        },
    )


YES, NO, NONE = (render_chain(chain(verdict), CROSS) for verdict in Verdict)


def item(number: int = 0, response: str = RESPONSE) -> Item:
    return Item(question=f"question {number}", reference=("42 个",), response=response)


def teacher_of(right: Callable[[Item], bool], *, glosses: bool = True) -> Script:
    """A teacher that quotes the last line; its English has the numbers and names of the quote.

    Without ``glosses`` it translates only where it is asked for that alone.
    """

    def english(text: str) -> str:
        return f"It says {', '.join(re.findall('[A-Za-z0-9.]+', text))}."

    def script(body: dict[str, Any], _: int) -> Say:
        asked = [Message.model_validate(message) for message in body["messages"]]
        if (item := parse_prompt(asked)) is None:
            return Say(english(asked[-1].content.removeprefix("<text>").removesuffix("</text>")))
        key, wanted = item.response.splitlines()[-1], item.reference[0]
        said = chain(
            Verdict.CORRECT if right(item) else Verdict.INCORRECT, reference_answer=wanted,
            quotes=(key,), glosses=(english(key) * glosses,), answer=key.strip("。."),
            answer_type=answer_kind(item, wanted), why="it is so",
        )  # fmt: skip
        return Say(render_chain(said, CROSS if said.is_glossed else ChainFormat.JUDGE_OF_CHAIN))

    return script


Ask = Callable[..., tuple[list[TeacherLabel], ScriptedServer, Teacher]]
"""A script and items -> the votes, the server and the teacher, closed."""


def always(*says: Say | str) -> Script:
    """A script that repeats the same replies in turn."""
    turns = [say if isinstance(say, Say) else Say(say) for say in says]
    return lambda _, number: turns[number % len(turns)]
