"""Read and write Parquet. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from gradegpt.errors import InputError, MissingError
from gradegpt.tables.forms import Row, Rows
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


def write_parquet(out: TextIO, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write columns with the type of their values; a column with several types is text."""
    pyarrow, parquet = pyarrow_for("Parquet")
    held = list(rows)
    arrays = {column: _array(pyarrow, [row.get(column) for row in held]) for column in columns}
    parquet.write_table(pyarrow.table(arrays), out.buffer)


def _array(pyarrow: Any, values: list[Any]) -> Any:
    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowException, OverflowError):  # or a whole number beyond 64 bits
        return pyarrow.array([None if value is None else as_cell(value) for value in values])


def pyarrow_for(name: str) -> tuple[Any, Any]:
    """Pyarrow and its Parquet module; raises ``MissingError``, which begins with ``name``."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingError(
            f"{name}: needs pyarrow; install it with pip install 'gradegpt[tables]'"
        ) from error
    return pyarrow, parquet
