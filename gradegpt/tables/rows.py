"""One reader and one writer for each form, and the files that match a pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from gradegpt.errors import InputError, MissingError
from gradegpt.records import A_FILE
from gradegpt.tables.forms import SUFFIXES, Form, Row, Rows, form_of, place
from gradegpt.tables.hub import HUB, read_hub
from gradegpt.tables.json_rows import read_json, read_json_lines, write_json
from gradegpt.tables.parquet import pyarrow_for, read_parquet, write_parquet
from gradegpt.tables.separated import read_separated, write_separated
from gradegpt.tables.xlsx import openpyxl_for, read_xlsx, write_xlsx

_READERS: Final[dict[Form, Callable[[Path, str], Rows]]] = {
    Form.JSONL: read_json_lines,
    Form.JSON: read_json,
    Form.CSV: partial(read_separated, separator=","),
    Form.TSV: partial(read_separated, separator="\t"),
    Form.PARQUET: read_parquet,
    Form.XLSX: read_xlsx,
}
_WRITERS: Final[dict[Form, Callable[[TextIO, Sequence[str], Iterable[Row]], None]]] = {
    Form.JSON: write_json,
    Form.CSV: partial(write_separated, separator=","),
    Form.TSV: partial(write_separated, separator="\t"),
    Form.PARQUET: write_parquet,
    Form.XLSX: write_xlsx,
}


def read(path: str | Path, form: Form, name: str = "") -> Rows:
    """The rows of a file, in order, each with its number; ``name`` is the file's in messages.

    Raises:
        MissingError: there is no such file, or the library that reads it is not installed.
        InputError: the file cannot be read as that form. A single wrong row is a text instead.

    """
    path, name = Path(path), name or str(path)
    if form is not Form.JSONL and not path.is_file():
        if path.is_dir():
            raise InputError(f"{name}: is a folder; {A_FILE}")
        raise MissingError(f"{name}: no such file; check the path")
    return _READERS[form](path, name)


def write(out: TextIO, form: Form, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write rows into an open file: for JSON with their own columns, else with ``columns``.

    ``gradegpt.records`` writes JSON Lines. Parquet and XLSX are bytes, written to ``out.buffer``.

    Raises:
        MissingError: the library that writes it is not installed.

    """
    _WRITERS[form](out, columns, rows)


def check_library(form: Form, name: str) -> None:
    """Raise ``MissingError`` where the library for a form is not installed."""
    if form is Form.PARQUET:
        pyarrow_for(name)
    if form is Form.XLSX:
        openpyxl_for(name)


def files(path: str) -> tuple[str, ...]:
    """The file ``path``, or the files that match its ``*``, sorted; none for the hub.

    Raises:
        MissingError: there is no such file.

    """
    if path.startswith(HUB):
        return ()
    if Path(path).exists():
        return (path,)
    pattern = Path(path)
    root = Path(pattern.anchor or ".")
    relative = str(pattern.relative_to(pattern.anchor))
    found = tuple(sorted(str(p) for p in root.glob(relative) if p.is_file()))
    if not found:
        raise MissingError(f"{path}: no such file; give a path, a pattern with *, or hf:owner/name")
    return found


def read_table(path: str) -> Iterator[tuple[str, Row]]:
    """Yield ``(where, row)`` for every row, in order; a path with ``*`` reads file after file.

    Raises:
        MissingError: there is no such file or data set, or a library is not installed.
        InputError: an unknown suffix, or a file whose contents do not fit it, with the place.

    """
    if path.startswith(HUB):
        yield from valid_rows(path, Form.JSON, read_hub(path))
    for name in files(path):
        form = form_of(name)
        if form is None:
            known = ", ".join(SUFFIXES)
            what = f"unknown suffix {Path(name).suffix!r}"
            raise InputError(f"{name}: {what}; save it as {known}")
        yield from valid_rows(name, form, read(name, form))


def valid_rows(name: str, form: Form, rows: Rows) -> Iterator[tuple[str, Row]]:
    """Yield ``(where, row)`` for every row; one that cannot be read is an ``InputError``."""
    for number, row in rows:
        where = place(name, form, number)
        if isinstance(row, str):
            raise InputError(f"{where}: {row}")
        yield where, row
