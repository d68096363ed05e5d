"""Read and write Parquet, which needs pyarrow, and Excel workbooks, which need openpyxl.

A workbook's cell has the value in the file, not that of its number format: 75% is 0.75. A date that
is shown with its year is read as 2026-04-03; one without may have been typed as 3/4, and stays a
date, which is no answer.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Final, TextIO

from gradegpt.core.errors import InputError
from gradegpt.tables.forms import Layout, Rows, TableRow, above_header, library
from gradegpt.tables.text import as_cell, header_of

LONGEST: Final = 32_767
"""The most characters of a cell."""
_BROKEN: Final = (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError)
"""The exceptions of openpyxl for a file that is not a workbook; ``SyntaxError`` is XML's."""


def read_parquet(path: Path, name: str, start: int = 0) -> Rows:
    """The rows after the first ``start``, counted from 1; whole row groups are left out unread."""
    pyarrow, parquet = pyarrow_for(name)
    try:
        with parquet.ParquetFile(path) as table:
            sizes = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
            ends = [*accumulate(sizes)]
            groups = [n for n, end in enumerate(ends) if end > start]
            before = ends[groups[0]] - sizes[groups[0]] if groups else start
            batches = table.iter_batches(256, groups)
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from islice(enumerate(rows, before + 1), start - before, None)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: not a readable Parquet file ({error})") from error


def count_rows(path: Path, name: str) -> int:
    """The number of rows."""
    pyarrow, parquet = pyarrow_for(name)
    try:
        return int(parquet.read_metadata(path).num_rows)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: not a readable Parquet file ({error})") from error


def write_parquet(out: TextIO, columns: Sequence[str], rows: Iterable[TableRow]) -> None:
    """Write columns with the type of their values; one with several types is text."""
    pyarrow, parquet = pyarrow_for("Parquet")
    held = list(rows)

    def array(values: list[Any]) -> Any:
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowException, OverflowError):  # or a whole number beyond 64 bits
            return pyarrow.array([None if value is None else as_cell(value) for value in values])

    arrays = {column: array([row.get(column) for row in held]) for column in columns}
    parquet.write_table(pyarrow.table(arrays), out.buffer)


def pyarrow_for(name: str) -> tuple[Any, Any]:
    """Pyarrow and its Parquet module; raises ``MissingError``, which begins with ``name``."""
    return library("pyarrow", name), library("pyarrow.parquet", name)


def read_xlsx(path: Path, name: str, layout: Layout) -> Rows:
    """The rows of the sheet that is named or has rows alone, with their numbers in the sheet."""
    with _sheet(path, name, layout.sheet) as sheet:
        rows = enumerate(sheet.iter_rows() if sheet else (), start=1)
        _, names = next(islice(rows, len(layout.above), None), (0, ()))
        header = header_of([cell.value for cell in names], name)
        for number, cells in rows:
            values = [_value(cell) for cell in cells]
            if any(value != "" for value in values):
                yield number, {c: v for c, v in zip(header, values, strict=False) if c}


def layout_of_xlsx(path: Path, name: str, sheet: str) -> Layout:
    """The sheet, and the rows above its header."""
    with _sheet(path, name, sheet) as found:
        rows = found.iter_rows(values_only=True) if found else ()
        return Layout(sheet=sheet, above=above_header(rows))


@contextmanager
def _sheet(path: Path, name: str, title: str) -> Iterator[Any]:
    """The sheet that is named or has rows alone; None where none has rows."""
    openpyxl = library("openpyxl", name)
    try:
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            found = [
                sheet for sheet in book.worksheets
                if (sheet.title == title if title else _has_rows(sheet))
            ]  # fmt: skip
            if len(found) > 1 or (title and not found):
                titles = ", ".join(repr(sheet.title) for sheet in found or book.worksheets)
                how = "choose one by --sheet NAME, or keep one"
                raise InputError(f"{name}: has the sheets {titles}; {how}")
            yield next(iter(found), None)
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


def _value(cell: Any) -> Any:
    value = "" if cell.value is None else cell.value
    if isinstance(value, date) and "y" in cell.number_format.lower():
        return str(value).removesuffix(" 00:00:00")
    return value


def _has_rows(sheet: Any) -> bool:
    return any(cell is not None for cells in sheet.iter_rows(values_only=True) for cell in cells)
