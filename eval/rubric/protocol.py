"""Ask a model for rubrics of items, and for the points of responses by these rubrics.

The figures are those of ARB, section 4.4: table 5 has mean points and their correlation with human
points, table 4 the errors of rubric grading.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import read_objects, sha256_file, validate
from gradegpt.core.schema import Item, Outcome, Row
from gradegpt.judges.statistics import pearson, spearman
from gradegpt.tables.inputs import USUAL, Reading

from ..asking import Prompt, Protocol, Reply, read_asked
from ..figures import Figure, Finding, ProtocolSummary, mean, related
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

Points = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Figures = dict[str, Figure | None]


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
    points: Points | None = None
    total: Annotated[float, Field(gt=0)]
    awards: tuple[Award, ...] = ()
    faults: tuple[GradingFault, ...] = ()
    reason: str = ""


class People(Row):
    """The human points of one response.

    ``criteria``: the points by the rubric, in its order; ``points``: the overall points,
    independent of the rubric.
    """

    id: str
    points: Points | None = None
    criteria: tuple[Points, ...] = ()


Named = TypeVar("Named", RubricRow, People)


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
    return {row.id: (where, row) for where, row in _distinct(path, RubricRow)}


def _distinct(path: Path, kind: type[Named]) -> Iterator[tuple[str, Named]]:
    """The rows of a file, with their places; no id is repeated."""
    lines: dict[str, int] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        made = validate(kind, row, where)
        if (other := lines.setdefault(made.id, number)) != number:
            raise InputError(
                f"{where}: id: {made.id!r} is also the id of line {other}; give each its own"
            )
        yield where, made


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
    path: Path,
    out: Path,
    rubrics: Path | None,
    people: Path | None = None,
    reading: Reading = USUAL,
) -> Protocol[GradeRow]:
    """The points of every response, by the rubric of its item or question.

    A response without a usable rubric is ``undecided``, with the reason, and the model is not
    asked. ``people`` is a file of human points to compare with.

    Raises:
        SettingsError: there are no rubrics.
        InputError: items, rubrics or human points cannot be used, or no item has a rubric.

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
    graded = {}
    for (_, item, *_), own in zip(asked, found, strict=True):
        total, reason = item.points or TOTAL, "rubric:none has its id"
        none = RubricRow(id=item.id, criteria=(), total=total, reason=reason)
        graded[item.id] = (item, own[1] if own else none)
    pairs, given = list(graded.values()), read_people(people, graded) if people else {}

    def summary(rows: Mapping[int, GradeRow]) -> ProtocolSummary:
        spreads = [spread(rubric) for _, rubric in known.values()]
        return rubric_scores(list(rows.values()), given, spreads)

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


def read_people(path: Path, graded: Mapping[str, tuple[Item, RubricRow]]) -> dict[str, People]:
    """Human points by the id of the response.

    Raises:
        InputError: an id is repeated or unknown, or the points do not fit the rubric.

    """
    found: dict[str, People] = {}
    for where, people in _distinct(path, People):
        if people.id not in graded:
            raise InputError(
                f"{where}: id: {people.id!r} is no graded response; give ids of graded rows"
            )
        _check_points(people, graded[people.id][1], where)
        found[people.id] = people
    return found


def _check_points(people: People, rubric: RubricRow, where: str) -> None:
    if people.points is not None and people.points > rubric.total + SAME:
        raise InputError(
            f"{where}: points: {people.points:g} exceeds the total of {rubric.total:g}; correct it"
        )
    if not people.criteria or not rubric.criteria:
        return
    if len(people.criteria) != len(rubric.criteria):
        counts = f"{len(people.criteria)} for the {len(rubric.criteria)} criteria of its rubric"
        raise InputError(f"{where}: criteria: {counts}; give points for each, in order")
    for n, (given, one) in enumerate(zip(people.criteria, rubric.criteria, strict=True), 1):
        if given > one.points + SAME:
            above = f"{given:g} exceeds the {one.points:g} points of criterion {n}; correct it"
            raise InputError(f"{where}: criteria: {above}")


# --- figures --------------------------------------------------------------------------------------


def rubric_scores(
    grades: Sequence[GradeRow],
    people: Mapping[str, People],
    spreads: Sequence[float | None] = (),
) -> ProtocolSummary:
    """Every figure of graded rows; with ``people`` those that need human points, too.

    Points are shares of the rubric's total. Errors are over the responses in which they can be
    detected (table 4). ``alternative solutions``: a human gave full points overall, and fewer by
    the rubric. ``extra`` and ``reduced credit``: a criterion for which the model gave more, or
    fewer, points than a human. ``hallucinated rubric``: the reply has a criterion that the rubric
    does not have, or more points than it allows.
    """
    pairs = [(row, people[row.id]) for row in grades if row.id in people]
    figures: dict[str, Figures] = {
        "all": {
            "points": mean((g.rubric, g.points / g.total) for g in grades if g.points is not None),
            "hallucinated rubric": mean(
                (row.rubric, float(not HALLUCINATED.isdisjoint(row.faults)))
                for row in grades
                if row.outcome in (Outcome.JUDGED, Outcome.UNPARSED)
            ),
            "spread of rubrics": mean((str(n), one) for n, one in enumerate(spreads)),
        }
    }
    if pairs:
        figures["all"] |= {
            "alternative solutions": mean((row.rubric, _alternative(row, p)) for row, p in pairs),
            "extra credit": mean((row.rubric, _credit(row, p, 1)) for row, p in pairs),
            "reduced credit": mean((row.rubric, _credit(row, p, -1)) for row, p in pairs),
        }
        figures["points by the rubric"] = _compared(pairs, _by_rubric)
        figures["points on the whole"] = _compared(pairs, lambda person: person.points)
    faults = Counter(fault.value for row in grades for fault in row.faults)
    outcomes = Counter(row.outcome.value for row in grades)
    counts = {"responses": len(grades), "questions": len({row.rubric for row in grades})}
    return ProtocolSummary(
        figures=figures, counts=counts | dict(outcomes) | dict(faults.most_common())
    )


def _compared(
    pairs: Sequence[tuple[GradeRow, People]], given: Callable[[People], float | None]
) -> Figures:
    """Compare the model's points with the human points that ``given`` returns (table 5)."""
    some = [
        (row.rubric, row.points / row.total, points / row.total)
        for row, person in pairs
        if row.points is not None and (points := given(person)) is not None
    ]
    return {
        "people": mean((name, p) for name, _, p in some),
        "model": mean((name, m) for name, m, _ in some),
        "model less people": mean(((name, m - p) for name, m, p in some), is_share=False),
        "Pearson": related(pearson, some),
        "Spearman": related(spearman, some),
    }


def _by_rubric(person: People) -> float | None:
    return math.fsum(person.criteria) if person.criteria else None


def _alternative(row: GradeRow, person: People) -> float | None:
    by_rubric = _by_rubric(person)
    if person.points is None or by_rubric is None:
        return None
    return float(person.points > row.total - SAME and by_rubric < row.total - SAME)


def _credit(row: GradeRow, person: People, sign: int) -> float | None:
    """Whether the model gave a criterion more points (sign 1) or fewer (-1) than the human."""
    if not person.criteria or row.points is None:
        return None
    pairs = zip(row.awards, person.criteria, strict=True)
    return float(any(sign * (award.points - given) > SAME for award, given in pairs))
