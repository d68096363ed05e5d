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
from gradegpt.tables.labels import read_label

from .body import read_bytes
from .openapi import schema_of
from .service import service_of

router = APIRouter(tags=["judge"])
_BODIES: Final = 8
"""Times the size of other bodies that a file may have."""


class FileRow(Row):
    """A row that can be judged: its place, its item, the file's own row, its label as a verdict."""

    where: str
    item: dict[str, Any]
    row: dict[str, Any]
    given: Any = None
    label: str | None = None


class FileRows(Row):
    """The rows of a file, those that cannot be judged with the reason, and how it was read.

    ``others`` are the columns that hold no field of an item and no label, such as a pupil's name.
    """

    columns: list[str]
    others: list[str]
    notes: list[str]
    rows: list[FileRow]
    bad: list[tuple[str, str]]


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
    rows = []
    for where, item, row, _ in placed:
        given = row.get(column) if column else None
        try:
            label = read_label(given)
        except ValueError as error:
            bad.append((where, str(error)))
            continue
        fields = item.model_dump(mode="json", exclude_defaults=True, exclude={"meta"})
        rows.append({"where": where, "item": fields, "row": row, "given": given, "label": label})
    bad.sort(key=lambda one: [int(n) for n in re.findall(r"\d+", one[0])[-1:]])
    names, read = checked.columns.names, {*checked.columns.fields.values(), column}
    found = {
        "columns": names, "others": [one for one in names if one not in read],
        "notes": checked.notes, "rows": rows, "bad": bad,
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False, default=str)
