"""The forms that a table comes in, and how a file's is known: by its suffix, else by its start."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final


class Form(StrEnum):
    """What a table is written as."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    XLSX = "xlsx"


Row = dict[str, Any]
Rows = Iterator[tuple[int, Row | str]]
"""Rows by their number in the file. A text instead of a row says what is wrong with that one."""

SUFFIXES: Final = {f".{form}": form for form in Form} | {".ndjson": Form.JSONL}
_BY_LINE: Final = frozenset((Form.JSONL, Form.CSV, Form.TSV))
_START: Final = 4_096
_OF_JSON: Final = (str, int, float, list, tuple, dict)


def form_of(path: str | Path) -> Form | None:
    """The form that the suffix names."""
    return SUFFIXES.get(Path(path).suffix.lower())


def sniffed(path: Path) -> Form:
    """The form of a file without a known suffix, by its first bytes; JSON Lines in doubt."""
    start = b""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(_START)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return Form.PARQUET
    if start.startswith(b"PK\x03\x04"):
        return Form.XLSX
    if text.startswith((b"[", b"{\n", b"{\r\n")):
        return Form.JSON
    head = text.partition(b"\n")[0]
    if text.startswith(b"{") or b"," not in head.replace(b"\t", b","):
        return Form.JSONL
    return Form.TSV if b"\t" in head else Form.CSV


def plain(value: Any) -> Any:
    """A value as JSON has it: bytes by their number, dates, decimals and the like as their text."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return value if value is None or isinstance(value, _OF_JSON) else str(value)


def place(name: str, form: Form, number: int) -> str:
    """Where a row is: ``file:line``, or ``file: row n`` where rows are no lines."""
    return f"{name}:{number}" if form in _BY_LINE else f"{name}: row {number}"
