"""A model's answers to questions, one row per answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Unpack

from gradegpt.console import read_items
from gradegpt.engines.base import Engine
from gradegpt.errors import InputError
from gradegpt.schema import Item

from ..asking import Asked, AskOptions, ask_rows
from .parts import Question, in_turns
from .prompts import Style, prompt

UNIT: Final = "unit"
"""A column of the questions' file that is no field of an item: the unit of the answer."""


def read_questions(path: Path, columns: Mapping[str, str] | None = None) -> list[Question]:
    """The questions of a table with their units; a column ``response`` is ignored.

    Raises:
        InputError: a row lacks question or reference, or two have the same id; with ``file:line``.

    """
    given = {**(columns or {}), "response": ""}
    rows = read_items(path, given, defaults={"response": ""}, also=(UNIT,), distinct=True)
    for where, item, *_ in rows:
        if not item.question.strip():
            raise InputError(f"{where}: question: is empty; write the question to ask")
    return [(row.item, row.also.get(UNIT, "")) for row in rows]


def ask(
    path: Path,
    out: Path,
    engine: Engine,
    *,
    style: Style = Style.DIRECT,
    samples: int = 1,
    progressive: bool = False,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[AskOptions],
) -> Asked:
    """Write every answer to ``out`` as an item; the samples of a question follow each other.

    Each row's ``meta`` holds its sample, the style, whether it was cut off, and its tokens. A
    question that the server finally refuses has an empty response and the ``error``. A stopped run
    resumes as in ``ask_rows``. ``progressive``: the parts of a problem are one conversation, as in
    ``eval.answer.parts``; rows are in the order in which they were asked.

    Raises:
        InputError: the questions cannot be used.
        OutputError, EngineError: as ``ask_rows``.

    """
    questions = read_questions(path, columns)
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
    return ask_rows(
        prompts, answered, out, engine, row_type=Item, source=path,
        settings=f"{style}|{samples}" + ("|progressive" if turns else ""),
        rounds=turns.rounds(samples) if turns else (),
        prompt_after=turns.conversation(prompts, samples) if turns else None, **options,
    )  # fmt: skip
