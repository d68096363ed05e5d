"""Read JSON Lines and JSON, and write JSON; ``gradegpt.records`` writes JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TextIO

from gradegpt.errors import InputError
from gradegpt.records import parse_json, parse_line, read_lines
from gradegpt.tables.forms import Rows, TableRow, plain

_MARK: Final = b"\xef\xbb\xbf"
_JSON: Final = (b"{", b"[")


def read_json_lines(path: Path, name: str, start: int = 0, first: int = 1) -> Rows:
    """One object per line, with the number of the line; ``start`` as in ``read_lines``.

    A line that holds none is the text of its error.
    """
    for number, raw in read_lines(path, start, first):
        if number == 1 and b"," in raw and not raw.removeprefix(_MARK).lstrip().startswith(_JSON):
            what = "not JSON; if it is a CSV file, name it .csv"
            raise InputError(f"{name}:{number}: {what}")
        try:
            row: TableRow | str = parse_line(raw, "")
        except InputError as error:
            row = str(error).removeprefix(": ")
        yield number, row


def read_json(path: Path, name: str) -> Rows:
    """The rows of a list of objects, an object with one such list, or an object by ids."""
    try:
        value = parse_json(path.read_bytes())
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
            f"{name}: is a {type(value).__name__}; expected a list of objects, an object with one "
            "such list inside, or an object from ids to objects"
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
