"""Ask a model for rubrics of items, and for the points of responses by these rubrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import typer

from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import sha256_file, write_json, write_rows
from gradegpt.core.schema import Item, Outcome, Row
from gradegpt.tables.inputs import Placed

from ..asking import Prompt, Protocol, read_asked
from ..console import say, show
from .form import SAME, TOTAL, Defect, Quality, check_rubric, parse_rubric, render_rubric
from .grading import grade_prompt, make_prompt, parse_grading, solution_of
from .rows import GradeRow, RubricRow, no_rubric, read_people, read_rubrics, rubric_of
from .score import ComparedPoints, Mean, RubricScores, rubric_scores

FINDINGS: Final = ".findings.jsonl"
_COSTS: Final = ("cut_off", "prompt_tokens", "completion_tokens")
_SHOWN: Final = 5
Rubrics = dict[str, tuple[str, RubricRow]]


class RubricFinding(Row):
    """A defect of a rubric: its item, the line of the rubric, the defect and its detail."""

    id: str
    where: str
    defect: Defect
    detail: str = ""


def make_protocol(
    path: Path, out: Path, rubrics: Path | None = None, columns: Mapping[str, str] | None = None
) -> Protocol[RubricRow]:
    """A rubric for every item; those in ``rubrics``, written by hand, are used without asking.

    A reply that is no rubric of the item's points (ten, if it states none) leaves a row without
    criteria, with the reason. Every defect of a rubric is written to ``out.findings.jsonl``.

    Raises:
        InputError: items, or rubrics written by hand, cannot be used.

    """
    asked = read_asked(path, "question", columns=columns)
    written = read_rubrics(rubrics) if rubrics else {}

    def read(n: int, reply: str | None) -> RubricRow:
        item = asked[n].item
        total = item.points or TOTAL
        parsed = parse_rubric(reply or "", total)
        return RubricRow(
            id=item.id,
            criteria=parsed.rubric.criteria if parsed.rubric else (),
            total=total,
            reason="not answered" if reply is None else parsed.reason,
            reply=reply or "",
        )

    def finish(rows: list[RubricRow]) -> None:
        measured = list(map(check_rubric, rows))
        found = list(findings(rows, measured, str(out)))
        write_rows(out.with_name(out.name + FINDINGS), found)
        print_checked(measured, found)

    return Protocol(
        source=path, rows=out, row_type=RubricRow,
        version=f"rubric|{sha256_file(rubrics) if rubrics else ''}",
        prompts=[_asks_for_rubric(one, written) for one in asked], read=read, finish=finish,
    )  # fmt: skip


def _asks_for_rubric(asked: Placed, written: Rubrics) -> Prompt:
    item = asked.item
    total = item.points or TOTAL
    if found := rubric_of(item, asked.where, written):
        line, rubric = found
        if rubric.problem or abs(rubric.total - total) > SAME:
            problem = rubric.problem or f"a total of {rubric.total:g}, and the item has {total:g}"
            raise InputError(f"{line}: criteria: {problem}; correct the rubric of {item.id!r}")
        return render_rubric(rubric)
    if not solution_of(item).strip():
        missing = "is empty; give a reference solution, or a rubric with --rubrics"
        raise InputError(f"{asked.where}: solution: {missing}")
    return make_prompt(item, total)


def findings(
    rubrics: Sequence[RubricRow], measured: Sequence[Quality], name: str
) -> Iterator[RubricFinding]:
    """Every defect of the rubrics in the file of that name."""
    for line, (rubric, quality) in enumerate(zip(rubrics, measured, strict=True), 1):
        for defect, detail in quality.defects:
            yield RubricFinding(
                id=rubric.id, where=f"{name}:{line}", defect=defect, detail=detail or rubric.reason
            )


def print_checked(measured: Sequence[Quality], found: Sequence[RubricFinding]) -> None:
    """Print the mean quality of the rubrics, and their defects, the most frequent first."""
    if spreads := [one.spread for one in measured if one.spread is not None]:
        say(f"spread of points: {sum(spreads) / len(spreads):.2f} on average, of 0 to 1")
    faulty = len({finding.id for finding in found})
    say(f"{faulty:,} of {len(measured):,} items have a rubric to check")
    rows = []
    for defect, count in Counter(finding.defect for finding in found).most_common():
        own = [finding for finding in found if finding.defect is defect][:_SHOWN]
        for n, finding in enumerate(own):
            first = ("", "") if n else (defect.value, f"{count:,}")
            rows.append((*first, finding.id, finding.detail[:60]))
    if rows:
        show(("defect", "rubrics", "id", ""), rows)


def grade_protocol(
    path: Path,
    out: Path,
    rubrics: Path | None,
    people: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Protocol[GradeRow]:
    """The points of every response, by the rubric of its item or question.

    A response without a usable rubric is ``undecided``, with the reason, and the model is not
    asked. ``people`` are human points, a file or a column of ``meta``, to compare with.

    Raises:
        SettingsError: there are no rubrics.
        InputError: items or rubrics cannot be used, or no item has a rubric.

    """
    if rubrics is None:
        raise SettingsError(f"{path}: has responses; give the rubrics to grade by, with --rubrics")
    known = read_rubrics(rubrics)
    asked = read_asked(path, "question", columns=columns, answered=True)
    found = [(_answered(one), rubric_of(one.item, one.where, known)) for one in asked]
    if not any(own for _, own in found):
        raise InputError(
            f"{rubrics}: no rubric has the id of an item in {path}; use the same ids in both files"
        )
    pairs = [(item, own[1] if own else no_rubric(item)) for item, own in found]

    def finish(rows: list[GradeRow]) -> None:
        scores = rubric_scores(rows, read_people(people, rows) if people else None)
        print_scores(scores)
        written = out.with_name(out.name + ".summary.json")
        write_json(written, scores.model_dump(mode="json"))
        typer.echo(f"wrote {written}")

    return Protocol(
        source=path, rows=out, row_type=GradeRow, version=f"grade-2|{sha256_file(rubrics)}",
        prompts=["" if rubric.problem else grade_prompt(item, rubric) for item, rubric in pairs],
        read=lambda n, reply: grade_row(*pairs[n], reply), finish=finish,
    )  # fmt: skip


def _answered(asked: Placed) -> Item:
    """The item without the cost of its response, which is not that of the grading.

    Raises:
        InputError: its question was not answered.

    """
    item = asked.item
    if "error" in item.meta:
        failed = f"the question was not answered ({item.meta['error']}); ask it again"
        raise InputError(f"{asked.where}: meta.error: {failed}")
    meta = {name: value for name, value in item.meta.items() if name not in _COSTS}
    return item.model_copy(update={"meta": meta})


def grade_row(item: Item, rubric: RubricRow, reply: str | None) -> GradeRow:
    """The row of a response from the grader's reply, which is None where the server refused."""
    row = GradeRow(
        id=item.id, rubric=rubric.id, outcome=Outcome.FAILED, total=rubric.total,
        criteria=rubric.criteria, spread=check_rubric(rubric).spread,
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


def print_scores(found: RubricScores) -> None:
    """Print outcomes, points, agreement with humans, and the errors of ARB's table 4."""
    ended = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items())
    say(
        f"{found.n_rows:,} responses to {found.n_questions:,} questions: {ended}; "
        f"{found.cut_off:,} replies cut off"
    )
    for fault, count in found.faults.items():
        say(f"  {fault}: {count:,}")
    say(f"points, share of the total: {_shown(found.points)}")
    compared = {"by the rubric": found.by_rubric, "on the whole": found.on_the_whole}
    for name, one in compared.items():
        if one is not None:
            say(_agreement(name, one))
    errors = found.errors
    figures = {
        "point spread, measured": found.spread,
        "rubric coverage, by people (1 to 5)": found.rated_coverage,
        "point spread, by people (1 to 5)": found.rated_spread,
        "alternative solutions": errors.alternative_solutions,
        "extra credit": errors.extra_credit,
        "reduced credit": errors.reduced_credit,
        "hallucinated rubric": errors.hallucinated_rubric,
    }
    rows = [(name, _shown(one), f"{one.n:,}" if one else "–") for name, one in figures.items()]
    show(("", "value", "responses"), rows)


def _agreement(name: str, compared: ComparedPoints) -> str:
    return (
        f"people's points {name}: {_shown(compared.people)}, the model's {_shown(compared.model)}, "
        f"difference {_shown(compared.difference)}\n"
        f"  Pearson {_shown(compared.pearson)}  Spearman {_shown(compared.spearman)}"
    )


def _shown(one: Mean | None) -> str:
    if one is None:
        return "–"
    ends = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
    return f"{one.value:.2f}{ends}"
