"""The page's table: the rows of a file, and what graded answers say of the others.

POST /v1/table reads a file as every command does, and a class list too. POST /v1/neighbours adds
the nearest graded answers to judgements, as the setting ``labels`` of a cascade does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Self

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Json, model_validator
from starlette.concurrency import run_in_threadpool

from gradegpt.app.run import count
from gradegpt.core.schema import Example, Item, Judgement, Row
from gradegpt.judges.build import STOP_CONFIDENCE
from gradegpt.judges.cascade import CascadeJudge, Stage, Thresholds
from gradegpt.judges.neighbours import NeighbourJudge, after
from gradegpt.tables import read_table
from gradegpt.tables.classlist import NoReferencesError
from gradegpt.tables.columns import LABEL
from gradegpt.tables.labels import read_label

from .body import read_bytes, read_object, valid
from .native import JudgeReplies
from .openapi import schema_of
from .service import service_of

router = APIRouter(tags=["judge"])
_BODIES: Final = 8
"""Times the size of other bodies that a file may have."""


class FileRow(Row):
    """A row: its place, the file's own row, and its item and label, or why it cannot be judged."""

    where: str
    row: dict[str, Any]
    item: dict[str, Any] | None = None
    label: str | None = None
    problem: str = ""


class FileRows(Row):
    """The rows of a file in order, and how it was read.

    ``fields`` are the columns that hold a field of an item, or the label. The others, such as a
    pupil's name, are among ``columns`` alone. ``added`` are those of an earlier judgement. A class
    list without some references has ``asks`` alone, the columns of these questions.
    """

    columns: list[str]
    added: list[str]
    fields: dict[str, str]
    notes: list[str]
    rows: list[FileRow]
    asks: tuple[str, ...] = ()


@router.post("/v1/table", responses={200: {"content": {"application/json": schema_of(FileRows)}}})
async def table(
    request: Request, name: str = "rows", sheet: str = "", separator: str = "", key: str = "{}"
) -> Response:
    """Read a file of any form: JSON Lines, CSV, XLSX, Parquet; nothing of it is kept.

    ``name`` is its name, by which the form is known, ``sheet`` one of a workbook, ``separator``
    what is between the accepted answers in a cell, ``key`` the references that a class list has
    not, a JSON object with its columns of questions.
    """
    references = valid(_Key, {"key": key}).key
    data = await read_bytes(request, _BODIES * service_of(request).settings.max_body_bytes)
    read = partial(_read, data, name, sheet, separator, references)
    return Response(await run_in_threadpool(read), media_type="application/json")


class _Key(Row):
    key: Json[dict[str, str]]


def _read(data: bytes, name: str, sheet: str, separator: str, key: Mapping[str, str]) -> str:
    try:
        checked, placed, bad = read_table(data, name, sheet, references=key, separator=separator)
    except NoReferencesError as error:
        asks = FileRows(
            columns=[], added=[], fields={}, notes=[], rows=[], asks=tuple(error.questions)
        )
        return asks.model_dump_json()
    column = checked.columns.label(name)
    rows: list[dict[str, Any]] = [
        {"where": where, "row": row, "problem": why} for where, why, row in bad
    ]
    for where, item, row, _ in placed:
        one: dict[str, Any] = {"where": where, "row": row}
        rows.append(one)
        try:
            one["label"] = read_label(row.get(column) if column else None)
        except ValueError as error:
            one["problem"] = str(error)
        else:
            one["item"] = item.model_dump(mode="json", exclude_defaults=True, exclude={"meta"})
    rows.sort(key=lambda one: [int(n) for n in re.findall(r"\d+", one["where"][len(name) :])[:1]])
    fields = {**checked.columns.fields, **({LABEL: column} if column else {})}
    names, own = checked.columns.names, checked.columns.own
    found = {
        "columns": names, "added": [one for one in names if one not in own], "fields": fields,
        "notes": checked.notes, "rows": rows,
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False, default=str)


class NeighboursRequest(Row):
    """Items with the judgements that were made of them, and graded answers to their questions."""

    items: list[Item]
    judgements: list[Judgement]
    graded: list[Example]

    @model_validator(mode="after")
    def _are_of_one_length(self) -> Self:
        if len(self.items) != len(self.judgements):
            raise ValueError("items and judgements: give one judgement an item")
        return self


class _Made:
    """A judge whose judgements are made already."""

    name = fingerprint = "made"

    def __init__(self, judgements: Sequence[Judgement]) -> None:
        self._judgements = judgements

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        return [*self._judgements]


@router.post("/v1/neighbours", include_in_schema=False)
async def neighbours(request: Request) -> Response:
    """The judgements with what the nearest graded answers add to them.

    With a promised error they stay as they are: no error was measured with graded answers.
    """
    asked = valid(NeighboursRequest, await read_object(request))
    judge = service_of(request).settings.judge
    least = getattr(judge, "min_confidence", 0.0)
    policy = Thresholds(least, max(STOP_CONFIDENCE, least))
    graded = Stage(NeighbourJudge(asked.graded), after((), STOP_CONFIDENCE))
    cascade = CascadeJudge([_Made(asked.judgements), graded], policy)
    made = asked.judgements
    if getattr(judge, "max_error", None) is None:
        made = await run_in_threadpool(cascade.judge, asked.items)
    reply = JudgeReplies(judgements=made, counts=count(made))
    return Response(reply.model_dump_json(), media_type="application/json")
