"""What a file looks like from its own bytes: its form and its first object, never its name."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradegpt.errors import InputError, MissingError
from gradegpt.records import parse_json

Form = Literal["lines", "json", "zip", "table", "html", "other"]
_HEAD = 65_536


class Seen(NamedTuple):
    """The form of a file, and what it holds.

    ``value`` is the first object of JSON Lines or the whole JSON document; ``names`` are the
    columns of a table, the members of a zip, or the keys of ``value``.
    """

    form: Form
    names: frozenset[str] = frozenset()
    value: Any = None

    @property
    def words(self) -> str:
        """What was seen, in a few words."""
        shown = ", ".join(sorted(self.names)[:12]) or "nothing named"
        whats = {"lines": "JSON Lines with the keys", "json": "JSON with the keys",
                 "zip": "a zip of", "table": "a table with the columns",
                 "html": "HTML", "other": "neither JSON, a zip, a table nor HTML"}  # fmt: skip
        return f"{whats[self.form]} {shown}" if self.names else whats[self.form]


def look(path: Path) -> Seen:
    """Look at a file. Only JSON that is not one object a line is read whole."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"PK\x03\x04"):
        return _zip(path)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return Seen("html", value=head.decode("utf-8", "replace"))
    if start.startswith((b"{", b"[")):
        return _json(path)
    return _table(head)


def _zip(path: Path) -> Seen:
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except zipfile.BadZipFile:
        return Seen("other")
    if "xl/workbook.xml" in names:
        return Seen("table", frozenset(next(sheet(path), ())))
    return Seen("zip", frozenset(names))


def _json(path: Path) -> Seen:
    with path.open("rb") as file:
        first = next((line for line in file if not line.isspace()), b"")
    lines = _parsed(first)
    if isinstance(lines, dict):
        return Seen("lines", frozenset(lines), lines)
    value = _parsed(path.read_bytes())
    if isinstance(value, dict):
        return Seen("json", frozenset(value), value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return Seen("json", frozenset(value[0]), value)
    return Seen("other")


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw)
    except (ValueError, RecursionError):
        return None


def _table(head: bytes) -> Seen:
    line = head.decode("utf-8-sig", "replace").split("\n", 1)[0]
    separator = "\t" if "\t" in line else ","
    try:
        columns = next(csv.reader(io.StringIO(line), delimiter=separator), [])
    except csv.Error:  # bytes that are no text
        columns = []
    return Seen("table", frozenset(columns)) if len(columns) > 1 else Seen("other")


def sheet(path: Path) -> Iterator[tuple[str, ...]]:
    """The rows of a workbook's first sheet as texts, the header first.

    Raises:
        MissingError: openpyxl is not installed.
        InputError: no workbook that openpyxl can open.

    """
    try:
        openpyxl = import_module("openpyxl")
    except ImportError as error:
        raise MissingError(f"{path}: to read a workbook, pip install openpyxl") from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: a broken workbook ({error})") from error
    with closing(book):
        for cells in book.worksheets[0].iter_rows(values_only=True):
            yield tuple("" if cell is None else str(cell) for cell in cells)


def table(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """``(where, row)`` of a table, tab- or comma-separated or a workbook.

    Raises:
        InputError: a row that cannot be read; ``file:line`` leads.
        MissingError: a workbook, and openpyxl is not installed.

    """
    rows = sheet(path) if zipfile.is_zipfile(path) else _separated(path)
    header = next(rows, ())
    for number, cells in enumerate(rows, start=2):
        yield f"{path}:{number}", dict(zip(header, cells, strict=False))


def _separated(path: Path) -> Iterator[tuple[str, ...]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        separator = "\t" if "\t" in "".join(islice(file, 1)) else ","
        file.seek(0)
        reader = csv.reader(file, delimiter=separator)
        try:
            yield from map(tuple, reader)
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"{path}:{reader.line_num}: not a table ({error})") from error


def document(path: Path) -> Any:
    """A JSON document.

    Raises:
        InputError: not JSON.

    """
    try:
        return parse_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from error
