"""Read and write forms of text: JSON Lines, JSON, CSV and TSV.

CSV and TSV are quoted as in spreadsheets, and every cell is
text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, TextIO

from gradegpt.core.errors import InputError
from gradegpt.core.records import parse_json, parse_line, read_lines
from gradegpt.tables.forms import Layout, Rows, TableRow, plain

_BEFORE: Final = b"\xef\xbb\xbf \t"
"""A mark of UTF-8, and blanks, as bytes."""
_JSON: Final = (b"{", b"[")


def read_json_lines(path: Path, name: str, start: int = 0, first: int = 1) -> Rows:
    """One object per line, with the number of the line; ``start`` as in ``read_lines``.

    A line that holds none is the text of its error.
    """
    return _objects(read_lines(path, start, first), name)


def read_lines_of_text(path: Path, name: str, layout: Layout) -> Rows:
    """The same from a text that is not UTF-8."""
    with path.open(encoding=layout.encoding, errors="replace") as lines:
        numbered = enumerate((line.encode() for line in lines), start=1)
        yield from _objects(((n, line) for n, line in numbered if not line.isspace()), name)


def _objects(lines: Iterable[tuple[int, bytes]], name: str) -> Rows:
    for number, raw in lines:
        if number == 1 and b"," in raw and not raw.lstrip(_BEFORE).startswith(_JSON):
            what = "not JSON; if it is a CSV file, name it .csv"
            raise InputError(f"{name}:{number}: {what}")
        try:
            row: TableRow | str = parse_line(raw, "")
        except InputError as error:
            row = str(error).removeprefix(": ")
        yield number, row


def read_json(path: Path, name: str, layout: Layout) -> Rows:
    """The rows of a list of objects, an object with one such list, or an object by ids."""
    try:
        value = parse_json(path.read_text(encoding=layout.encoding).encode())
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}:{error.lineno}: not JSON ({error.msg}); "
            "if every line is a separate object, name the file .jsonl"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: cannot be read as JSON ({error})") from error
    for number, row in enumerate(_listed(value, name), start=1):
        is_row = isinstance(row, dict)
        yield number, row if is_row else f"{type(row).__name__} instead of an object"


def write_json_lines(out: TextIO, columns: Iterable[str], rows: Iterable[TableRow]) -> None:
    """Write one object per line."""
    out.writelines(f"{json.dumps(row, ensure_ascii=False, default=plain)}\n" for row in rows)


def write_json(out: TextIO, columns: Iterable[str], rows: Iterable[TableRow]) -> None:
    """Write a list of objects, one per line."""
    before = "[\n"
    for row in rows:
        out.write(before + json.dumps(row, ensure_ascii=False, default=plain))
        before = ",\n"
    out.write("[]\n" if before == "[\n" else "\n]\n")


def _listed(value: Any, name: str) -> Iterable[Any]:
    """A list; the one list of rows in an object; an object from ids to rows; or a single row."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise InputError(
            f"{name}: expected a list of objects, an object with one such list inside, or an "
            f"object from ids to objects; found {type(value).__name__}"
        )
    lists = [held for held in value.values() if isinstance(held, list) and _are_rows(held)]
    if len(lists) > 1:
        raise InputError(
            f"{name}: {len(lists)} lists of rows are in one object; put each into its own file"
        )
    if lists:
        return lists[0]
    if _are_rows(list(value.values())):
        return [{"id": name, **held} for name, held in value.items()]
    return [value]


def _are_rows(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(held, dict) for held in values)


def read_separated(path: Path, name: str, layout: Layout) -> Rows:
    """The rows by the columns of the first line, each with the number of its first line."""
    with path.open(encoding=layout.encoding, newline="") as lines:
        reader = csv.reader(lines, delimiter=layout.separator, strict=True)
        end = 0
        try:
            header = header_of(next(islice(reader, len(layout.above), None), []), name)
            end = reader.line_num
            for cells in reader:
                # A quoted cell may span lines: the row begins where the last one ended.
                start, end = end + 1, reader.line_num
                if cells:
                    yield start, _cells(header, cells)
        except UnicodeDecodeError as error:
            # The text is decoded ahead of the reader.
            line = _undecoded(path.read_bytes(), layout.encoding)
            what = f"not {layout.encoding.upper()} ({error.reason}); save the file as UTF-8"
            raise InputError(f"{name}:{line}: {what}") from error
        except csv.Error as error:
            what = f"not a readable table ({error}); quote cells that hold quotes or line ends"
            raise InputError(f"{name}:{end + 1}: {what}") from error


def _undecoded(data: bytes, encoding: str) -> int:
    """The line that cannot be decoded."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return data[: error.start].count(b"\n") + 1
    return 1


def write_separated(
    out: TextIO, columns: Sequence[str], rows: Iterable[TableRow], separator: str
) -> None:
    """Write the columns, then the rows; a missing value is an empty cell."""
    writer, quoting = (
        csv.writer(out, delimiter=separator, lineterminator="\n", quoting=how)
        for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for cells in chain([columns], ([as_cell(row.get(c)) for c in columns] for row in rows)):
        # Readers end a line at a carriage return, but the writer does not quote it by default.
        (quoting if any("\r" in cell for cell in cells) else writer).writerow(cells)


def header_of(names: Sequence[Any], name: str) -> list[str]:
    """The columns of a table; an ``InputError`` where one occurs twice."""
    header = ["" if column is None else str(column) for column in names]
    twice = next((column for column in header if column and header.count(column) > 1), None)
    if twice is not None:
        raise InputError(f"{name}: the column {twice!r} occurs twice; rename one of them")
    return header


def as_cell(value: Any) -> str:
    """A value as the text of a cell: a text itself, None as an empty text, the rest as JSON."""
    if value is None:
        return ""
    cell = plain(value)
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=plain)


def _cells(header: list[str], cells: list[str]) -> TableRow | str:
    if len(cells) != len(header):
        return (
            f"{len(cells)} cells under {len(header)} columns; "
            "quote the cells that hold the separator"
        )
    return dict(zip(header, cells, strict=True))
