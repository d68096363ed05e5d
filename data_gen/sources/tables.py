"""Rows of any table: JSON Lines, JSON, CSV, TSV, Parquet, or a data set of the hub."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import InputError, MissingError
from gradegpt.records import parse_json, read_objects

Table = Iterator[tuple[str, dict[str, Any]]]
"""Rows with where each stands: ``file:line``, or ``file: row n`` where a row has no line."""

HUB: Final = "hf:"


def files(path: str) -> tuple[str, ...]:
    """The files that ``path`` names, sorted: itself, or what its ``*`` match. None for the hub.

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


def read_table(path: str) -> Table:
    """Yield ``(where, row)`` for every row, in order; a path with ``*`` reads file after file.

    Raises:
        MissingError: no such file or data set, or a library that reads it is not installed.
        InputError: an unknown ending, or a file that is not what its ending says; it says where.

    """
    if path.startswith(HUB):
        yield from _hub(path)
    for name in files(path):
        yield from _reader(name)(name)


def _reader(path: str) -> Callable[[str], Table]:
    readers = {
        ".jsonl": _json_lines,
        ".json": _json,
        ".csv": lambda name: _separated(name, ","),
        ".tsv": lambda name: _separated(name, "\t"),
        ".parquet": _parquet,
    }
    ending = Path(path).suffix.lower()
    if ending not in readers:
        raise InputError(f"{path}: no reader for {ending!r}; save it as {', '.join(readers)}")
    return readers[ending]


def _json_lines(path: str) -> Table:
    for number, row in read_objects(path):
        yield f"{path}:{number}", row


def _json(path: str) -> Table:
    try:
        value = parse_json(Path(path).read_bytes())
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}: not JSON ({error.msg}); "
            "if every line is an object of its own, name the file .jsonl"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error
    rows = _listed(value, path)
    yield from _numbered(rows, path)


def _listed(value: Any, path: str) -> Iterable[Any]:
    """A list; the one list of rows in an object; an object from ids to rows; or a single row."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: a {type(value).__name__}; expected a list of objects, an object with one "
            "such list inside, or an object from ids to objects"
        )
    lists = [held for held in value.values() if isinstance(held, list) and _are_rows(held)]
    if len(lists) > 1:
        raise InputError(
            f"{path}: {len(lists)} lists of rows in one object; give each its own file"
        )
    if lists:
        return lists[0]
    if _are_rows(list(value.values())):
        return [{"id": name, **held} for name, held in value.items()]
    return [value]


def _are_rows(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(held, dict) for held in values)


def _numbered(rows: Iterable[Any], name: str) -> Table:
    for number, row in enumerate(rows, start=1):
        where = f"{name}: row {number}"
        if not isinstance(row, dict):
            raise InputError(f"{where}: a {type(row).__name__}; every row is an object")
        yield where, row


def _separated(path: str, separator: str) -> Table:
    with Path(path).open("rb") as raw:
        # Decoded line by line: a text file decodes ahead, and errors would name the wrong line.
        lines = (line.decode("utf-8").removeprefix("\ufeff") for line in raw)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        end = 0
        try:
            header = next(reader, [])
            end = reader.line_num
            for cells in reader:
                # A quoted cell may span lines: the row begins where the last one ended.
                where, end = f"{path}:{end + 1}", reader.line_num
                if cells:
                    yield where, _cells(header, cells, where)
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}:{end + 1}: not a readable table ({error}); "
                "save it as UTF-8, with cells that hold quotes or line ends quoted"
            ) from error


def _cells(header: list[str], cells: list[str], where: str) -> dict[str, Any]:
    if len(cells) != len(header):
        raise InputError(
            f"{where}: {len(cells)} cells under {len(header)} columns; "
            "quote the cells that hold the separator"
        )
    return dict(zip(header, cells, strict=True))


def _parquet(path: str) -> Table:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingError(
            f"{path}: needs pyarrow; install it with pip install 'gradegpt[data]'"
        ) from error
    try:
        with parquet.ParquetFile(path) as table:
            batches = table.iter_batches(batch_size=256)
            yield from _numbered((row for batch in batches for row in batch.to_pylist()), path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: not a readable Parquet file ({error})") from error


def _hub(path: str) -> Table:
    try:
        import datasets
    except ImportError as error:
        raise MissingError(
            f"{path}: needs datasets; install it with pip install 'gradegpt[data]'"
        ) from error
    address, _, split = path.removeprefix(HUB).partition("@")
    name, _, config = address.partition(":")
    try:
        splits = datasets.load_dataset(name, config or None, streaming=True)
        rows = splits[_split(split, list(splits), path)]
        # Undecoded, or a data set with pictures needs an image library to give its texts.
        yield from _numbered(rows.decode(False) if rows.features else rows, path)
    except InputError:
        raise
    except (OSError, datasets.exceptions.DatasetsError) as error:
        raise MissingError(
            f"{path}: cannot be read from the hub ({_line(error)}); check the name and the "
            "network, or download the files and give their path"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: {_line(error)}; write hf:owner/name:config@split") from error


def _split(wanted: str, have: list[str], path: str) -> str:
    if not wanted and len(have) == 1:
        return have[0]
    if wanted not in have:
        raise InputError(f"{path}: name one of its splits: {', '.join(f'@{s}' for s in have)}")
    return wanted


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
