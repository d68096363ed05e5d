"""The rows of rubric grading and their readers: rubrics, gradings, and human points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gradegpt.core.errors import InputError
from gradegpt.core.records import read_objects, validate
from gradegpt.core.schema import Item, Outcome, Row

from .form import SAME, TOTAL, Criterion, Rubric
from .grading import Award, GradingFault

Points = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Likert = Annotated[float, Field(ge=1, le=5)]


class RubricRow(Rubric):
    """The rubric of an item, by a model or by hand; required: ``id``, ``criteria``, ``total``.

    A row without criteria has no rubric, and ``reason`` is why the ``reply`` was not parsed.
    """

    id: Annotated[str, Field(min_length=1)]
    reason: str = ""
    reply: str = ""
    meta: dict[str, Any] = Field(default_factory=dict)


class GradeRow(Row):
    """The points of one response. Only the outcome ``judged`` has points.

    ``rubric`` is the id of the rubric, which all answers to a question share; ``spread``
    is the rubric's, as ``eval.rubric.form`` measures it; ``undecided`` is a
    response whose item has no usable rubric.
    """

    id: str
    rubric: str
    outcome: Outcome
    points: Points | None = None
    total: Annotated[float, Field(gt=0)]
    criteria: tuple[Criterion, ...] = ()
    awards: tuple[Award, ...] = ()
    faults: tuple[GradingFault, ...] = ()
    reason: str = ""
    reply: str = ""
    spread: float | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _points_iff_judged(self) -> Self:
        judged = self.outcome is Outcome.JUDGED
        if judged != (self.points is not None) or judged != bool(self.awards):
            raise ValueError(f"outcome {self.outcome.value!r}: only 'judged' has points and awards")
        if judged and len(self.awards) != len(self.criteria):
            raise ValueError(f"{len(self.awards)} awards for {len(self.criteria)} criteria")
        return self


class People(Row):
    """The human points of one response.

    ``criteria``: the points by the rubric, in its order; ``points``: the overall points,
    independent of the rubric; ``coverage`` and ``spread``: the rating of the rubric, from 1 to 5
    (ARB, table 4).
    """

    id: str
    points: Points | None = None
    criteria: tuple[Points, ...] = ()
    coverage: Likert | None = None
    spread: Likert | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.points is None and not self.criteria and self.coverage is self.spread is None:
            raise ValueError("points: give points, criteria, coverage or spread")
        return self


def read_rubrics(path: Path) -> dict[str, tuple[str, RubricRow]]:
    """Each rubric by its item's id, with its ``file:line``.

    Raises:
        InputError: a row cannot be used, or an id is repeated.

    """
    found: dict[str, tuple[str, RubricRow]] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        rubric = validate(RubricRow, row, where)
        if rubric.id in found:
            other = found[rubric.id][0].rpartition(":")[2]
            raise InputError(
                f"{where}: id: {rubric.id!r} is also the id of line {other}; give each its own"
            )
        found[rubric.id] = (where, rubric)
    return found


def rubric_of(
    item: Item, where: str, rubrics: dict[str, tuple[str, RubricRow]]
) -> tuple[str, RubricRow] | None:
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


def no_rubric(item: Item) -> RubricRow:
    """The row of an item that has no rubric."""
    total = item.points or TOTAL
    return RubricRow(id=item.id, criteria=(), total=total, reason="rubric:none has its id")


def read_people(source: str, grades: Sequence[GradeRow]) -> dict[str, People]:
    """Human points by the id of the response, from their own file or a column of ``meta``.

    A file has a row ``{"id", "points", "criteria", ...}`` for each response; a column holds such an
    object, or the points alone.

    Raises:
        InputError: there is no such file or column, an id is repeated or unknown, or the points do
            not fit the rubric.

    """
    by_id = {row.id: row for row in grades}
    found: dict[str, People] = {}
    for where, value in _given(source, grades):
        people = validate(People, value, where)
        if people.id not in by_id:
            raise InputError(
                f"{where}: id: {people.id!r} is no graded response; give ids of graded rows"
            )
        if people.id in found:
            raise InputError(f"{where}: id: {people.id!r} occurs twice; give one row per response")
        _check_points(people, by_id[people.id], where)
        found[people.id] = people
    return found


def _given(source: str, grades: Sequence[GradeRow]) -> list[tuple[str, dict[str, Any]]]:
    if Path(source).is_file():
        return [(f"{source}:{number}", row) for number, row in read_objects(source)]
    values = [(row.id, row.meta[source]) for row in grades if row.meta.get(source) is not None]
    if not values:
        raise InputError(
            f"{source}: is neither a file nor a column of 'meta' in the graded rows; "
            "give one of them"
        )
    return [
        (f"{name}: meta.{source}", {"id": name, **(v if isinstance(v, dict) else {"points": v})})
        for name, v in values
    ]


def _check_points(people: People, row: GradeRow, where: str) -> None:
    if people.points is not None and people.points > row.total + SAME:
        raise InputError(
            f"{where}: points: {people.points:g} exceeds the total of {row.total:g}; correct it"
        )
    if not people.criteria or not row.criteria:
        return
    if len(people.criteria) != len(row.criteria):
        counts = f"{len(people.criteria)} for the {len(row.criteria)} criteria of its rubric"
        raise InputError(f"{where}: criteria: {counts}; give points for each, in order")
    for number, (given, criterion) in enumerate(zip(people.criteria, row.criteria, strict=True), 1):
        if given > criterion.points + SAME:
            raise InputError(
                f"{where}: criteria: {given:g} exceeds the {criterion.points:g} points of "
                f"criterion {number}; correct it"
            )
