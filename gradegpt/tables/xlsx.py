"""Excel workbooks, read and written. Needs openpyxl.

A cell is what the file holds, not what a number format shows: 75% is 0.75, and 3/4 may be a date.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TextIO

from gradegpt.errors import InputError, MissingError
from gradegpt.tables.forms import Row, Rows
from gradegpt.tables.separated import as_cell, header_of

LONGEST: Final = 32_767
"""Characters that a cell holds."""
_BROKEN: Final = (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError)
"""What openpyxl raises for a file that is no workbook; ``SyntaxError`` is XML's."""


def read_xlsx(path: Path, name: str) -> Rows:
    """The rows of the one sheet that has any; the number is the sheet's own."""
    openpyxl = openpyxl_for(name)
    try:
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            sheets = [sheet for sheet in book.worksheets if _has_rows(sheet)]
            if len(sheets) > 1:
                titles = ", ".join(sheet.title for sheet in sheets)
                raise InputError(f"{name}: rows in {len(sheets)} sheets, {titles}; keep one")
            for sheet in sheets:
                yield from _rows(sheet, name)
    except InputError:
        raise
    except _BROKEN as error:
        raise InputError(f"{name}: not a readable workbook ({error})") from error


def write_xlsx(out: TextIO, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """One sheet: the columns, then a row each. No text becomes a formula."""
    openpyxl = openpyxl_for("XLSX")
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("rows")

    def cell(value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        text = ILLEGAL_CHARACTERS_RE.sub("\ufffd", as_cell(value))
        made = WriteOnlyCell(sheet, text)
        made.data_type = "s"  # "=1+1" of a response is what it wrote, and nothing to compute
        return made

    sheet.append([cell(column) for column in columns])
    for row in rows:
        sheet.append([cell(row.get(column)) for column in columns])
    book.save(out.buffer)


def too_long(row: Row) -> str:
    """The column of a row whose text no cell holds; empty where there is none."""
    return next((name for name, value in row.items() if len(as_cell(value)) > LONGEST), "")


def _rows(sheet: Any, name: str) -> Rows:
    rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    _, names = next(rows)
    header = header_of(names, name)
    for number, cells in rows:
        row = {column: cell for column, cell in zip(header, cells, strict=False) if column}
        if any(cell is not None for cell in cells):
            yield number, row


def _has_rows(sheet: Any) -> bool:
    return any(cell is not None for cells in sheet.iter_rows(values_only=True) for cell in cells)


def openpyxl_for(name: str) -> Any:
    """openpyxl; ``MissingError``, with ``name``, without it."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingError(
            f"{name}: needs openpyxl; install it with pip install 'gradegpt[tables]'"
        ) from error
    return openpyxl
