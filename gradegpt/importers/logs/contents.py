"""The form and the first object of a file, from its contents and never from its name."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from gradegpt import tables
from gradegpt.errors import InputError
from gradegpt.records import parse_json

Form = Literal["lines", "json", "zip", "table", "html", "other"]
_HEAD: Final = 65_536
_TABLES: Final = (tables.Form.CSV, tables.Form.TSV, tables.Form.XLSX)


class Contents(NamedTuple):
    """The form of a file, and its contents.

    ``value`` is the first object of JSON Lines or the whole JSON document; ``names`` are the
    columns of a table, the members of a zip, or the keys of ``value``.
    """

    form: Form
    names: frozenset[str] = frozenset()
    value: Any = None

    @property
    def words(self) -> str:
        """The form and the names, in a few words."""
        shown = ", ".join(sorted(self.names)[:12]) or "nothing named"
        whats = {"lines": "JSON Lines with the keys", "json": "JSON with the keys",
                 "zip": "a zip of", "table": "a table with the columns",
                 "html": "HTML", "other": "not JSON, a zip, a table or HTML"}  # fmt: skip
        return f"{whats[self.form]} {shown}" if self.names else whats[self.form]


def contents_of(path: Path) -> Contents:
    """Find the form of a file. Only JSON that is not JSON Lines is read whole.

    Raises:
        MissingError: the file is a workbook, and openpyxl is not installed.

    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return Contents("html", value=head.decode("utf-8", "replace"))
    if start.startswith((b"{", b"[")):
        return _json(path)
    members = _members(path) if head.startswith(b"PK\x03\x04") else None
    if members and "xl/workbook.xml" not in members:
        return Contents("zip", members)
    form = tables.sniffed(path)
    return Contents("table", _columns(path, form)) if form in _TABLES else Contents("other")


def _columns(path: Path, form: tables.Form) -> frozenset[str]:
    """The columns of a table; none if it cannot be read, which its reader will report."""
    try:
        rows = (row for _, row in tables.read(path, form) if not isinstance(row, str))
        return frozenset(next(rows, ()))
    except InputError:
        return frozenset()


def _members(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as packed:
            return frozenset(packed.namelist())
    except zipfile.BadZipFile:
        return frozenset()


def _json(path: Path) -> Contents:
    with path.open("rb") as file:
        first = next((line for line in file if not line.isspace()), b"")
    lines = _parsed(first)
    if isinstance(lines, dict):
        return Contents("lines", frozenset(lines), lines)
    value = _parsed(path.read_bytes())
    if isinstance(value, dict):
        return Contents("json", frozenset(value), value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return Contents("json", frozenset(value[0]), value)
    return Contents("other")


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw)
    except (ValueError, RecursionError):
        return None


def table(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """``(where, row)`` of a table, tab- or comma-separated or a workbook; its cells are texts.

    Raises:
        InputError: a row that cannot be read; the message begins with its place.
        MissingError: the file is a workbook, and openpyxl is not installed.

    """
    form = tables.sniffed(path)
    for where, row in tables.valid_rows(str(path), form, tables.read(path, form)):
        yield where, {name: tables.as_cell(cell) for name, cell in row.items()}


def document(path: Path) -> Any:
    """A JSON document.

    Raises:
        InputError: not JSON.

    """
    try:
        return parse_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from error
