"""The forms of tables; a file's form is found by its suffix, else by its first bytes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from gradegpt.core.errors import MissingError


class Form(StrEnum):
    """The file format of a table."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    XLSX = "xlsx"


TableRow = dict[str, Any]
Rows = Iterator[tuple[int, TableRow | str]]
"""Rows with their number in the file. A text instead of a row is the error of that row."""

SUFFIXES: Final = {f".{form}": form for form in Form} | {".ndjson": Form.JSONL}
_BY_LINE: Final = frozenset((Form.JSONL, Form.CSV, Form.TSV))
_START: Final = 4_096
_OF_JSON: Final = (str, int, float, list, tuple, dict)


def form_of(path: str | Path) -> Form | None:
    """The form that the suffix names."""
    return SUFFIXES.get(Path(path).suffix.lower())


def sniffed(path: Path) -> Form:
    """The form of a file without a known suffix, by its first bytes; JSON Lines by default."""
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
    """A value that JSON can hold: bytes as their number, dates, decimals and the like as text."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return value if value is None or isinstance(value, _OF_JSON) else str(value)


def place(name: str, form: Form, number: int) -> str:
    """The place of a row: ``file:line``, or ``file: row n`` where rows are not lines."""
    return f"{name}:{number}" if form in _BY_LINE else f"{name}: row {number}"


def library(module: str, name: str, extra: str = "tables") -> Any:
    """A module that is not always installed.

    Raises:
        MissingError: it is not there; the message begins with ``name`` and says what to install.

    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        how = f"install it with pip install 'gradegpt[{extra}]'"
        raise MissingError(f"{name}: needs {package}; {how}") from error
