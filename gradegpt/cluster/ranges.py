"""Rows by their place in a Parquet file, read forwards without decoding what lies before."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Final

from gradegpt.cluster.files import is_local, opened
from gradegpt.errors import InputError
from gradegpt.tables.parquet import pyarrow_for

_BATCH: Final = 1_024
_BUFFER: Final = 2**20
"""Bytes of a column that are read at a time: a column of a row group may hold gigabytes."""
_open: dict[str, Cursor] = {}
"""The file that this process read last. A row group is decoded from its beginning, so a process
that is given one part of it after another must not begin anew with each.
"""


def rows_between(url: str, name: str, start: int, end: int) -> list[dict[str, Any]]:
    """The rows ``[start, end)`` of a file."""
    pyarrow, _ = pyarrow_for(name)
    try:
        cursor = _open.pop(url, None)
        _open.clear()
        if cursor is None or not cursor.can_reach(start):
            cursor = Cursor(url, name, start)
        rows: list[dict[str, Any]] = cursor.read(start, end).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise _unreadable(name, error) from error
    _open[url] = cursor
    return rows


def row_count(url: str, name: str) -> int:
    """The number of rows of a file."""
    pyarrow, parquet = pyarrow_for(name)
    try:
        with opened(url) as file:
            return int(parquet.ParquetFile(file).metadata.num_rows)
    except pyarrow.ArrowException as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> InputError:
    return InputError(f"{name}: not a readable Parquet file ({error})")


class Cursor:
    """A file that is read forwards, from the row group that holds the row ``start``."""

    def __init__(self, url: str, name: str, start: int) -> None:
        self._pyarrow, parquet = pyarrow_for(name)
        file = url if is_local(url) else opened(url)  # a path is read without Python
        self._table = parquet.ParquetFile(file, buffer_size=_BUFFER)
        self._starts = self._row_groups()
        first = self._group(start)
        groups = [*range(first, self._table.num_row_groups)]
        self.at = self._starts[first]
        self._batches = self._table.iter_batches(_BATCH, groups)
        self._rest: Any = None

    def can_reach(self, start: int) -> bool:
        """Whether reading on is no more work than to begin at the row group of ``start``."""
        return self.at <= start and self._group(self.at) == self._group(start)

    def read(self, start: int, end: int) -> Any:
        """The rows ``[start, end)`` as an Arrow table."""
        held = []
        while self.at < end:
            if self._rest is None or not self._rest.num_rows:
                self._rest = next(self._batches)
            used = self._rest.slice(0, end - self.at)
            held.append(used.slice(min(max(0, start - self.at), used.num_rows)))
            self._rest = self._rest.slice(used.num_rows)
            self.at += used.num_rows
        return self._pyarrow.Table.from_batches(held, self._table.schema_arrow)

    def _row_groups(self) -> list[int]:
        """The number of the first row of each row group."""
        metadata = self._table.metadata
        sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
        return [0, *accumulate(sizes)][: len(sizes)]

    def _group(self, row: int) -> int:
        return max(n for n, start in enumerate(self._starts) if start <= row)
