"""Read and write Parquet. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from gradegpt.errors import InputError
from gradegpt.tables.forms import Rows, TableRow, library
from gradegpt.tables.separated import as_cell


def read_parquet(path: Path, name: str) -> Rows:
    """The rows, counted from 1."""
    pyarrow, parquet = pyarrow_for(name)
    try:
        with parquet.ParquetFile(path) as table:
            batches = table.iter_batches(batch_size=256)
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from enumerate(rows, start=1)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: not a readable Parquet file ({error})") from error


def write_parquet(
    out: TextIO,
    columns: Sequence[str],
    rows: Iterable[TableRow],
    types: Mapping[str, Any] | None = None,
) -> None:
    """Write columns with the ``types`` given, or else the type of their values.

    A column with values of several types is text.
    """
    pyarrow, parquet = pyarrow_for("Parquet")
    held, given = list(rows), types or {}
    arrays = {c: _array(pyarrow, [row.get(c) for row in held], given.get(c)) for c in columns}
    parquet.write_table(pyarrow.table(arrays), out.buffer)


def column_types(rows: Sequence[TableRow]) -> dict[str, Any]:
    """The Arrow type of each column of some rows, as ``write_parquet`` finds it."""
    pyarrow, _ = pyarrow_for("Parquet")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _array(pyarrow, [row.get(name) for row in rows]).type for name in names}


def joined_types(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The types that hold the values of all parts of a table; text where no other type does."""
    pyarrow, _ = pyarrow_for("Parquet")
    types: dict[str, Any] = {}
    for part in parts:
        for name, found in part.items():
            if types.setdefault(name, found) != found:
                types[name] = _wider(pyarrow, types[name], found)
    return types


def _wider(pyarrow: Any, one: Any, other: Any) -> Any:
    schemas = [pyarrow.schema([("", held)]) for held in (one, other)]
    try:
        return pyarrow.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pyarrow.ArrowException:
        return pyarrow.string()


def _array(pyarrow: Any, values: list[Any], wanted: Any = None) -> Any:
    try:
        return pyarrow.array(values, wanted)
    except (pyarrow.ArrowException, OverflowError):  # or a whole number beyond 64 bits
        return pyarrow.array([None if value is None else as_cell(value) for value in values])


def pyarrow_for(name: str) -> tuple[Any, Any]:
    """Pyarrow and its Parquet module; raises ``MissingError``, which begins with ``name``."""
    return library("pyarrow", name), library("pyarrow.parquet", name)
