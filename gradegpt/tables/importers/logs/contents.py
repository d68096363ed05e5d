"""The form and the first object of a file, from its contents and never from its name."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.core.records import parse_json
from gradegpt.tables import Form, Table, TableRow, as_cell, sniffed

_HEAD: Final = 65_536
_TABLES: Final = (Form.CSV, Form.TSV, Form.XLSX)
_WORDS: Final = {
    "lines": "JSON Lines with the keys", "json": "JSON with the keys", "zip": "a zip of",
    "table": "a table with the columns", "html": "HTML",
    "other": "not JSON, a zip, a table or HTML",
}  # fmt: skip


class Contents(NamedTuple):
    """The form of a file, one of ``_WORDS``, and its contents.

    ``value`` is the first object of JSON Lines or the whole JSON document; ``names`` are the
    columns of a table, the members of a zip, or the keys of ``value``.
    """

    form: str
    names: frozenset[str] = frozenset()
    value: Any = None

    @property
    def words(self) -> str:
        """The form and the names, in a few words."""
        return " ".join([_WORDS[self.form], ", ".join(sorted(self.names)[:12])]).rstrip()

    def is_document(self, *keys: str) -> bool:
        """Whether it is a JSON document with all these keys, on one line or several."""
        return self.form in ("json", "lines") and self.names.issuperset(keys)


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
    if head.startswith(b"PK\x03\x04"):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as packed:
            members = packed.namelist()
            if members and "xl/workbook.xml" not in members:
                return Contents("zip", frozenset(members))
    if sniffed(path) not in _TABLES:
        return Contents("other")
    try:
        rows = (row for _, row in _table(path).rows() if not isinstance(row, str))
        return Contents("table", frozenset(next(rows, ())))
    except InputError:  # which the reader of tables will report
        return Contents("table")


def _json(path: Path) -> Contents:
    with path.open("rb") as file:
        first = _parsed(next((line for line in file if not line.isspace()), b""))
    if isinstance(first, dict):
        return Contents("lines", frozenset(first), first)
    value = _parsed(path.read_bytes())
    head = value[0] if isinstance(value, list) and value else value
    return Contents("json", frozenset(head), value) if isinstance(head, dict) else Contents("other")


def _parsed(raw: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return parse_json(raw)


def _table(path: Path) -> Table:
    return Table.of(path, form=sniffed(path))


def rows_of(path: Path) -> Iterator[tuple[str, TableRow]]:
    """``(where, row)`` of JSON Lines or of a table, whose cells are texts.

    Raises:
        InputError: a row that cannot be read; the message begins with its place.
        MissingError: the file is a workbook, and openpyxl is not installed.

    """
    table = _table(path)
    for where, row in table.valid():
        of_text = table.form in _TABLES
        yield where, {name: as_cell(cell) for name, cell in row.items()} if of_text else row


def document(path: Path) -> Any:
    """A JSON document.

    Raises:
        InputError: not JSON.

    """
    try:
        return parse_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from error
