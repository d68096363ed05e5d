"""Ask a model for rubrics of items, and for the points of responses by these rubrics.

The figures are those of ARB, section 4.4, that need no people: the mean points of table 5, and of
table 4 the rubrics' spread and the criteria that a grader makes up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import read_objects, sha256_file, validate
from gradegpt.core.schema import Item, Outcome, Row
from gradegpt.tables.inputs import USUAL, Reading

from ..asking import Prompt, Protocol, Reply, read_asked
from ..figures import Finding, ProtocolSummary, mean
from .form import SAME, TOTAL, Rubric, parse_rubric, render_rubric, spread
from .grading import (
    HALLUCINATED,
    Award,
    Grading,
    GradingFault,
    grade_prompt,
    make_prompt,
    parse_grading,
    solution_of,
)


class RubricRow(Rubric):
    """The rubric of an item, by a model or by hand; required: ``id``, ``criteria``.

    A row without criteria has no rubric, and ``reason`` is why the reply was not parsed.
    """

    id: Annotated[str, Field(min_length=1)]
    reason: str = ""


class GradeRow(Row):
    """The points of one response. Only the outcome ``judged`` has points.

    ``rubric`` is the id of the rubric, which all answers to a question share; ``undecided`` is a
    response whose item has no usable rubric.
    """

    id: str
    rubric: str
    outcome: Outcome
    points: float | None = None
    total: Annotated[float, Field(gt=0)]
    awards: tuple[Award, ...] = ()
    faults: tuple[GradingFault, ...] = ()
    reason: str = ""


PlacedRubric = tuple[str, RubricRow]
"""A rubric with its ``file:line``."""


# --- rubrics of questions -------------------------------------------------------------------------


def make_protocol(
    path: Path, out: Path, rubrics: Path | None = None, reading: Reading = USUAL
) -> Protocol[RubricRow]:
    """A rubric for every item; those in ``rubrics``, written by hand, are used without asking.

    A reply that is no rubric of the item's points (ten, if it states none) leaves a row without
    criteria, with the reason, and is a finding.

    Raises:
        InputError: items, or rubrics written by hand, cannot be used.

    """
    asked = read_asked(path, "question", reading=reading)
    known = read_rubrics(rubrics) if rubrics else {}
    by_hand = [rubric_of(one.item, one.where, known) for one in asked]
    totals = [
        own[1].total if own else one.item.points or TOTAL
        for one, own in zip(asked, by_hand, strict=True)
    ]

    def prompt(n: int) -> Prompt:
        item = asked[n].item
        if own := by_hand[n]:
            where, rubric = own
            if rubric.problem:
                problem = f"{rubric.problem}; correct the rubric of {item.id!r}"
                raise InputError(f"{where}: criteria: {problem}")
            return render_rubric(rubric)
        if not solution_of(item).strip():
            missing = "is empty; give a reference solution, or a rubric with --rubrics"
            raise InputError(f"{asked[n].where}: solution: {missing}")
        return make_prompt(item, totals[n])

    def read(n: int, reply: Reply) -> RubricRow:
        found = parse_rubric(reply.reply, totals[n])
        reason, criteria = (found, ()) if isinstance(found, str) else ("", found.criteria)
        return RubricRow(id=asked[n].item.id, criteria=criteria, total=totals[n], reason=reason)

    return Protocol(
        source=path, out=out, version=f"rubric|{sha256_file(rubrics) if rubrics else ''}",
        prompts=[prompt(n) for n in range(len(asked))], read=read,
        summary=lambda rows: checked(list(rows.values()), out),
    )  # fmt: skip


def checked(rows: Sequence[RubricRow], out: Path) -> ProtocolSummary:
    """The mean spread of the points, and the items without a usable rubric."""
    found = tuple(
        Finding(
            id=row.id, where=f"{out}:{line}", fault="no usable rubric",
            detail=row.reason or row.problem,
        )
        for line, row in enumerate(rows, 1) if row.problem
    )  # fmt: skip
    counts = {"items": len(rows), "without a usable rubric": len(found)}
    figures = {"rubrics": {"spread of points": mean((row.id, spread(row)) for row in rows)}}
    return ProtocolSummary(figures=figures, counts=counts, findings=found)


def read_rubrics(path: Path) -> dict[str, PlacedRubric]:
    """Each rubric by its item's id.

    Raises:
        InputError: a row cannot be used, or an id is repeated.

    """
    found: dict[str, PlacedRubric] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        made = validate(RubricRow, row, where)
        if made.id in found:
            raise InputError(
                f"{where}: id: {made.id!r} is also that of {found[made.id][0]}; give each its own"
            )
        found[made.id] = where, made
    return found


def rubric_of(item: Item, where: str, rubrics: dict[str, PlacedRubric]) -> PlacedRubric | None:
    """The rubric with the item's id, or with its question's: ``q1#0`` is an answer to ``q1``.

    Raises:
        InputError: the item's points differ from the rubric's total.

    """
    found = rubrics.get(item.id) or rubrics.get(item.id.rpartition("#")[0])
    if found and item.points is not None and abs(found[1].total - item.points) > SAME:
        raise InputError(
            f"{found[0]}: total: {found[1].total:g}, but the item at {where} has "
            f"{item.points:g} points; make the two equal"
        )
    return found


# --- points of responses --------------------------------------------------------------------------


def grade_protocol(
    path: Path, out: Path, rubrics: Path | None, reading: Reading = USUAL
) -> Protocol[GradeRow]:
    """The points of every response, by the rubric of its item or question.

    A response without a usable rubric is ``undecided``, with the reason, and the model is not
    asked.

    Raises:
        SettingsError: there are no rubrics.
        InputError: items or rubrics cannot be used, or no item has a rubric.

    """
    if rubrics is None:
        raise SettingsError(f"{path}: has responses; give the rubrics to grade by, with --rubrics")
    known = read_rubrics(rubrics)
    asked = read_asked(path, "question", reading=reading, answered=True)
    found = [rubric_of(one.item, one.where, known) for one in asked]
    if not any(found):
        raise InputError(
            f"{rubrics}: no rubric has the id of an item in {path}; use the same ids in both files"
        )
    pairs = []
    for (_, item, *_), own in zip(asked, found, strict=True):
        total, reason = item.points or TOTAL, "rubric:none has its id"
        none = RubricRow(id=item.id, criteria=(), total=total, reason=reason)
        pairs.append((item, own[1] if own else none))

    def summary(rows: Mapping[int, GradeRow]) -> ProtocolSummary:
        spreads = [spread(rubric) for _, rubric in known.values()]
        return rubric_scores(list(rows.values()), spreads)

    return Protocol(
        source=path, out=out, version=f"grade-3|{sha256_file(rubrics)}",
        prompts=["" if rubric.problem else grade_prompt(item, rubric) for item, rubric in pairs],
        read=lambda n, reply: grade_row(*pairs[n], reply.reply), summary=summary,
    )  # fmt: skip


def grade_row(item: Item, rubric: RubricRow, reply: str) -> GradeRow:
    """The row of a response from the grader's reply."""
    row = GradeRow(id=item.id, rubric=rubric.id, outcome=Outcome.UNDECIDED, total=rubric.total)
    if rubric.problem:
        return row.model_copy(update={"reason": rubric.reason or f"rubric:{rubric.problem}"})
    found = parse_grading(reply, rubric, item.response)
    if isinstance(found, Grading):
        made = {"outcome": Outcome.JUDGED, "points": found.points, "awards": found.awards}
        return row.model_copy(update=made)
    reason = "; ".join(f"{fault.value} {where}" for fault, where in found)
    faults = tuple(dict.fromkeys(fault for fault, _ in found))
    made = {"outcome": Outcome.UNPARSED, "faults": faults, "reason": f"grading:{reason}"}
    return row.model_copy(update=made)


# --- figures --------------------------------------------------------------------------------------


def rubric_scores(
    grades: Sequence[GradeRow], spreads: Sequence[float | None] = ()
) -> ProtocolSummary:
    """Every figure of graded rows; points are shares of the rubric's total.

    ``hallucinated rubric``: the share of replies with a criterion that the rubric does not have, or
    more points than it allows.
    """
    figures = {
        "points": mean((g.rubric, g.points / g.total) for g in grades if g.points is not None),
        "hallucinated rubric": mean(
            (row.rubric, float(not HALLUCINATED.isdisjoint(row.faults)))
            for row in grades
            if row.outcome in (Outcome.JUDGED, Outcome.UNPARSED)
        ),
        "spread of rubrics": mean((str(n), one) for n, one in enumerate(spreads)),
    }
    faults = Counter(fault.value for row in grades for fault in row.faults)
    outcomes = Counter(row.outcome.value for row in grades)
    counts = {"responses": len(grades), "questions": len({row.rubric for row in grades})}
    return ProtocolSummary(
        figures={"all": figures}, counts=counts | dict(outcomes) | dict(faults.most_common())
    )
