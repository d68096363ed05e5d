"""POST /v1/table: the rows of a file, as every command reads them, for the page."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from gradegpt.core.schema import Row
from gradegpt.tables import read_table
from gradegpt.tables.columns import LABEL
from gradegpt.tables.labels import read_label

from .body import read_bytes
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
    pupil's name, are among ``columns`` alone. ``added`` are those of an earlier judgement.
    """

    columns: list[str]
    added: list[str]
    fields: dict[str, str]
    notes: list[str]
    rows: list[FileRow]


@router.post("/v1/table", responses={200: {"content": {"application/json": schema_of(FileRows)}}})
async def table(
    request: Request, name: str = "rows", sheet: str = "", separator: str = ""
) -> Response:
    """Read a file of any form: JSON Lines, CSV, XLSX, Parquet; nothing of it is kept.

    ``name`` is its name, by which the form is known, ``sheet`` one of a workbook, ``separator``
    what is between the accepted answers in a cell.
    """
    data = await read_bytes(request, _BODIES * service_of(request).settings.max_body_bytes)
    return Response(
        await run_in_threadpool(_read, data, name, sheet, separator), media_type="application/json"
    )


def _read(data: bytes, name: str, sheet: str, separator: str) -> str:
    checked, placed, bad = read_table(data, name, sheet, separator=separator)
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
    rows.sort(key=lambda one: [int(n) for n in re.findall(r"\d+", one["where"])[-1:]])
    fields = {**checked.columns.fields, **({LABEL: column} if column else {})}
    names, own = checked.columns.names, checked.columns.own
    found = {
        "columns": names, "added": [one for one in names if one not in own], "fields": fields,
        "notes": checked.notes, "rows": rows,
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False, default=str)
