"""Read and write Excel workbooks. Needs openpyxl.

A cell has the value in the file, not that of its number format: 75% is 0.75, 3/4 may be a date.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TextIO

from gradegpt.errors import InputError
from gradegpt.tables.forms import Rows, TableRow, library
from gradegpt.tables.separated import as_cell, header_of

LONGEST: Final = 32_767
"""The most characters of a cell."""
_BROKEN: Final = (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError)
"""The exceptions of openpyxl for a file that is not a workbook; ``SyntaxError`` is XML's."""


def read_xlsx(path: Path, name: str) -> Rows:
    """The rows of the only sheet with rows, each with its number in the sheet."""
    openpyxl = library("openpyxl", name)
    try:
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            sheets = [sheet for sheet in book.worksheets if _has_rows(sheet)]
            if len(sheets) > 1:
                titles = ", ".join(sheet.title for sheet in sheets)
                what = f"there are rows in {len(sheets)} sheets, {titles}"
                raise InputError(f"{name}: {what}; keep one")
            for sheet in sheets:
                yield from _rows(sheet, name)
    except InputError:
        raise
    except _BROKEN as error:
        raise InputError(f"{name}: not a readable workbook ({error})") from error


def write_xlsx(out: TextIO, columns: Sequence[str], rows: Iterable[TableRow]) -> None:
    """Write one sheet: the columns, then the rows. No text becomes a formula."""
    openpyxl, cells = library("openpyxl", "XLSX"), library("openpyxl.cell.cell", "XLSX")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("rows")

    def cell(value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        text = cells.ILLEGAL_CHARACTERS_RE.sub("\ufffd", as_cell(value))
        made = cells.WriteOnlyCell(sheet, text)
        made.data_type = "s"  # "=1+1" in a response is text, not a formula
        return made

    sheet.append([cell(column) for column in columns])
    for row in rows:
        sheet.append([cell(row.get(column)) for column in columns])
    book.save(out.buffer)


def too_long(row: TableRow) -> str:
    """The column of a row whose text is too long for a cell; empty where there is none."""
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
