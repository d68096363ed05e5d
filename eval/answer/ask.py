"""A model's answers to questions, one row per answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gradegpt.schema import Item

from ..asking import Protocol, read_asked
from .prompts import PromptStyle, prompt
from .turns import in_turns

UNIT: Final = "unit"
"""A column of the questions' file that is no field of an item: the unit of the answer."""


def answer_protocol(
    path: Path,
    out: Path,
    *,
    style: PromptStyle = PromptStyle.DIRECT,
    samples: int = 1,
    progressive: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Protocol[Item]:
    """Every answer as an item; the samples of a question follow each other.

    Each row's ``meta`` holds its sample, the style, whether it was cut off, and its tokens. A
    question that the server finally refuses has an empty response and the ``error``.
    ``progressive``: the parts of a problem are one conversation, as in ``eval.answer.turns``; rows
    are in the order in which they were asked. A column ``response`` is ignored.

    Raises:
        InputError: the questions cannot be used.

    """
    found = read_asked(path, "question", columns=columns, also=(UNIT,))
    questions = [(one.item, one.also.get(UNIT, "")) for one in found]
    turns = in_turns(questions, path) if progressive else None
    if turns is not None:
        questions = turns.questions
    shown = turns.shown if turns else [item for item, _ in questions]

    def answered(n: int, reply: str | None) -> Item:
        item, sample = questions[n // samples][0], n % samples
        meta = item.meta | {"sample": sample, "style": style.value}
        return item.model_copy(
            update={"id": f"{item.id}#{sample}", "response": reply or "", "meta": meta}
        )

    pairs = zip(shown, (unit for _, unit in questions), strict=True)
    prompts = [p for item, unit in pairs for p in [prompt(item, style, unit)] * samples]
    return Protocol(
        source=path, rows=out, row_type=Item, prompts=prompts, read=answered,
        version=f"{style}|{samples}" + ("|progressive" if turns else ""),
        rounds=turns.rounds(samples) if turns else (),
        prompt_after=turns.conversation(prompts, samples) if turns else None,
    )  # fmt: skip
