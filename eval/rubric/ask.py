"""Ask a model for rubrics of items, and for the points of responses by these rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from gradegpt.engines.base import Engine
from gradegpt.errors import InputError
from gradegpt.records import sha256_file
from gradegpt.rubric import (
    TOTAL,
    check_rubric,
    grade_prompt,
    make_prompt,
    parse_grading,
    parse_rubric,
    render_rubric,
)
from gradegpt.rubric.form import SAME
from gradegpt.rubric.prompts import solution_of
from gradegpt.schema import Item, Outcome

from ..asking import Asked, AskOptions, Prompt, ask_rows
from .rows import (
    GradeRow,
    RubricRow,
    no_rubric,
    read_items,
    read_rubrics,
    rubric_of,
)


def make(
    items: Path,
    out: Path,
    engine: Engine,
    *,
    by_hand: Path | None = None,
    **options: Unpack[AskOptions],
) -> Asked:
    """Write a rubric for every item to ``out``; rubrics in ``by_hand`` are used without asking.

    A reply that is no rubric of the item's points (ten, if it states none) leaves a row without
    criteria, with the reason. A stopped run resumes as in ``ask_rows``.

    Raises:
        InputError: items, or rubrics written by hand, cannot be used.
        OutputError, EngineError: as ``ask_rows``.

    """
    rows = read_items(items, answered=False)
    written = read_rubrics(by_hand) if by_hand else {}
    prompts = [_asks_for_rubric(item, where, written) for where, item in rows]

    def made(n: int, reply: str | None) -> RubricRow:
        item, total = rows[n][1], rows[n][1].points or TOTAL
        parsed = parse_rubric(reply or "", total)
        return RubricRow(
            id=item.id,
            criteria=parsed.rubric.criteria if parsed.rubric else (),
            total=total,
            reason="not answered" if reply is None else parsed.reason,
            reply=reply or "",
        )

    return ask_rows(
        prompts, made, out, engine, row_type=RubricRow, source=items,
        settings=f"rubric|{sha256_file(by_hand) if by_hand else ''}", **options,
    )  # fmt: skip


def grade(
    items: Path,
    rubrics: Path,
    out: Path,
    engine: Engine,
    **options: Unpack[AskOptions],
) -> Asked:
    """Write the points of every response to ``out``, by the rubric of its item or question.

    A response without a usable rubric is ``undecided``, with the reason, and the model is not
    asked. A stopped run resumes as in ``ask_rows``.

    Raises:
        InputError: items or rubrics cannot be used, or no item has a rubric.
        OutputError, EngineError: as ``ask_rows``.

    """
    known = read_rubrics(rubrics)
    found = [
        (item, rubric_of(item, where, known)) for where, item in read_items(items, answered=True)
    ]
    if not any(own for _, own in found):
        raise InputError(
            f"{rubrics}: no rubric has the id of an item in {items}; use the same ids in both files"
        )
    pairs = [(item, own[1] if own else no_rubric(item)) for item, own in found]
    prompts = ["" if rubric.problem else grade_prompt(item, rubric) for item, rubric in pairs]

    def graded(n: int, reply: str | None) -> GradeRow:
        return grade_row(*pairs[n], reply)

    return ask_rows(
        prompts, graded, out, engine, row_type=GradeRow, source=items,
        settings=f"grade|{sha256_file(rubrics)}", **options,
    )  # fmt: skip


def grade_row(item: Item, rubric: RubricRow, reply: str | None) -> GradeRow:
    """The row of a response from the grader's reply, which is None where the server refused."""
    quality = check_rubric(rubric, item)
    row = GradeRow(
        id=item.id, rubric=rubric.id, outcome=Outcome.FAILED, total=rubric.total,
        criteria=rubric.criteria, coverage=quality.coverage, spread=quality.spread,
        meta=item.meta,
    )  # fmt: skip
    if rubric.problem:
        reason = rubric.reason or f"rubric:{rubric.problem}"
        return row.model_copy(update={"outcome": Outcome.UNDECIDED, "reason": reason})
    if reply is None:
        return row
    parsed = parse_grading(reply, rubric, item.response)
    found = parsed.grading
    return row.model_copy(
        update={
            "outcome": parsed.outcome,
            "points": found.points if found else None,
            "awards": found.awards if found else (),
            "faults": parsed.faults,
            "reason": parsed.reason,
            "reply": reply,
        }
    )


def _asks_for_rubric(item: Item, where: str, written: dict[str, tuple[str, RubricRow]]) -> Prompt:
    total = item.points or TOTAL
    if found := rubric_of(item, where, written):
        line, rubric = found
        if rubric.problem or abs(rubric.total - total) > SAME:
            problem = rubric.problem or f"a total of {rubric.total:g}, and the item has {total:g}"
            raise InputError(f"{line}: criteria: {problem}; correct the rubric of {item.id!r}")
        return render_rubric(rubric)
    if not solution_of(item).strip():
        missing = "is empty; give a reference solution, or a rubric with --by-hand"
        raise InputError(f"{where}: solution: {missing}")
    return make_prompt(item, total)
