"""The rows of rubric grading and their readers: rubrics, gradings, and what people gave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from gradegpt.errors import InputError
from gradegpt.records import read_objects, validate
from gradegpt.rubric import TOTAL, Award, Criterion, Fault, Rubric
from gradegpt.rubric.form import SAME
from gradegpt.schema import Item, Outcome, Row

Points = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Likert = Annotated[float, Field(ge=1, le=5)]
_COSTS: Final = ("cut_off", "prompt_tokens", "completion_tokens")


class RubricRow(Rubric):
    """The rubric of an item, by a model or by hand: ``id``, ``criteria`` and ``total`` suffice.

    Without criteria there is none, and ``reason`` says why the model's ``reply`` was not read.
    """

    id: Annotated[str, Field(min_length=1)]
    reason: str = ""
    reply: str = ""
    meta: dict[str, Any] = Field(default_factory=dict)


class GradeRow(Row):
    """The points of one response. Only the outcome ``judged`` has any.

    ``rubric`` is the id of the rubric, which all answers to a question share; ``coverage`` and
    ``spread`` are the rubric's, as ``gradegpt.rubric.quality`` measures them; ``undecided`` is a
    response whose item has no rubric that can be used.
    """

    id: str
    rubric: str
    outcome: Outcome
    points: Points | None = None
    total: Annotated[float, Field(gt=0)]
    criteria: tuple[Criterion, ...] = ()
    awards: tuple[Award, ...] = ()
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    reply: str = ""
    coverage: float | None = None
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
    """What people gave one response.

    ``criteria``: their points by the rubric, in its order; ``points``: their points on the whole,
    whatever the rubric says; ``coverage`` and ``spread``: their rating of the rubric, from 1 to 5
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


def read_items(path: Path, *, answered: bool) -> list[tuple[str, Item]]:
    """Each item with its ``file:line``; labels may be there, and without ``answered`` no response.

    Raises:
        InputError: a row that cannot be used, or two with one id; ``file:line: field`` leads.

    """
    found: list[tuple[str, Item]] = []
    lines: dict[str, int] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        known = {k: v for k, v in row.items() if k in Item.model_fields}
        item = validate(Item, known if answered else {"response": "", **known}, where)
        if not item.question.strip():
            raise InputError(f"{where}: question: empty; there is nothing to grade an answer to")
        if answered and "error" in item.meta:
            lost = f"the question was never answered ({item.meta['error']}); ask it again"
            raise InputError(f"{where}: meta.error: {lost}")
        name = item.id or str(number)
        if lines.setdefault(name, number) != number:
            raise InputError(f"{where}: id: {name!r} is that of line {lines[name]} too")
        meta = {k: v for k, v in item.meta.items() if k not in _COSTS}
        found.append((where, item.model_copy(update={"id": name, "meta": meta})))
    if not found:
        raise InputError(f"{path}: no rows; every line holds one item as a JSON object")
    return found


def read_rubrics(path: Path) -> dict[str, tuple[str, RubricRow]]:
    """Each rubric by its item's id, with its ``file:line``.

    Raises:
        InputError: a row that cannot be used, or two with one id.

    """
    found: dict[str, tuple[str, RubricRow]] = {}
    for number, row in read_objects(path):
        where = f"{path}:{number}"
        rubric = validate(RubricRow, row, where)
        if rubric.id in found:
            other = found[rubric.id][0].rpartition(":")[2]
            raise InputError(f"{where}: id: {rubric.id!r} is that of line {other} too")
        found[rubric.id] = (where, rubric)
    return found


def rubric_of(
    item: Item, where: str, rubrics: dict[str, tuple[str, RubricRow]]
) -> tuple[str, RubricRow] | None:
    """The rubric with the item's id, or, as ``q1#0`` is an answer to ``q1``, with its question's.

    Raises:
        InputError: the item's points are not the rubric's total.

    """
    found = rubrics.get(item.id) or rubrics.get(item.id.rpartition("#")[0])
    if found and item.points is not None and abs(found[1].total - item.points) > SAME:
        raise InputError(
            f"{found[0]}: total: {found[1].total:g}, but the item at {where} has "
            f"{item.points:g} points; make the two equal"
        )
    return found


def no_rubric(item: Item) -> RubricRow:
    """In the place of a rubric for an item that has none."""
    total = item.points or TOTAL
    return RubricRow(id=item.id, criteria=(), total=total, reason="rubric:none has its id")


def read_people(source: str, grades: Sequence[GradeRow]) -> dict[str, People]:
    """What people gave, by the id of the response: from a file of its own or a column of ``meta``.

    A file has a row ``{"id", "points", "criteria", ...}`` for each response; a column holds such an
    object, or the points alone.

    Raises:
        InputError: neither such a file nor such a column, an id twice or unknown, points that the
            rubric does not have.

    """
    by_id = {row.id: row for row in grades}
    found: dict[str, People] = {}
    for where, value in _given(source, grades):
        people = validate(People, value, where)
        if people.id not in by_id:
            raise InputError(f"{where}: id: {people.id!r} is no response that was graded")
        if people.id in found:
            raise InputError(f"{where}: id: {people.id!r} is there twice")
        _check_points(people, by_id[people.id], where)
        found[people.id] = people
    return found


def _given(source: str, grades: Sequence[GradeRow]) -> list[tuple[str, dict[str, Any]]]:
    if Path(source).is_file():
        return [(f"{source}:{number}", row) for number, row in read_objects(source)]
    values = [(row.id, row.meta[source]) for row in grades if row.meta.get(source) is not None]
    if not values:
        raise InputError(f"{source}: neither a file nor a column of 'meta' in the graded rows")
    return [
        (f"{name}: meta.{source}", {"id": name, **(v if isinstance(v, dict) else {"points": v})})
        for name, v in values
    ]


def _check_points(people: People, row: GradeRow, where: str) -> None:
    if people.points is not None and people.points > row.total + SAME:
        raise InputError(f"{where}: points: {people.points:g}, of {row.total:g} at most")
    if not people.criteria or not row.criteria:
        return
    if len(people.criteria) != len(row.criteria):
        counts = f"{len(people.criteria)} for the {len(row.criteria)} criteria of its rubric"
        raise InputError(f"{where}: criteria: {counts}; give points for each, in order")
    for number, (given, criterion) in enumerate(zip(people.criteria, row.criteria, strict=True), 1):
        if given > criterion.points + SAME:
            raise InputError(
                f"{where}: criteria: {given:g} for criterion {number}, of {criterion.points:g}"
            )
