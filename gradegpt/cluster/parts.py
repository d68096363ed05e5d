"""The input divided into parts: a fixed number of rows of one file, by its contents alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from io import BufferedReader, BytesIO
from typing import Any, Final, NamedTuple

from gradegpt.cluster.files import File, opened, reading
from gradegpt.cluster.ranges import row_count, rows_between
from gradegpt.tables import Form, Rows, place
from gradegpt.tables import read as read_file
from gradegpt.tables.json_rows import parsed_lines

_READ: Final = 2**20


class Part(NamedTuple):
    """Rows of a file that one task judges; a ``gradegpt.tables.Table``.

    ``[start, end)`` are the bytes of lines of JSON Lines or the numbers of rows of Parquet; other
    forms are one part. ``first`` is the number of the first line or row.
    """

    file: File
    start: int = 0
    end: int = 0
    first: int = 1

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return self.file.name

    @property
    def form(self) -> Form:
        """The file's form."""
        return self.file.form

    def rows(self) -> Rows:
        """The rows with their numbers in the file."""
        if self.form is Form.JSONL:
            return parsed_lines(_lines(_bytes(self), self.first), self.name)
        if self.form is Form.PARQUET:
            return enumerate(_rows(self), start=self.first)
        return read_file(self.file.url, self.form, self.name)

    def place(self, number: int) -> str:
        """The place of the row with that number."""
        return place(self.name, self.form, number)


def parts_of(file: File, rows: int) -> list[Part]:
    """The parts of a file, with so many rows each; blank lines are no rows.

    Raises:
        InputError: the file cannot be read.

    """
    with reading(file.name):
        if file.form is Form.JSONL:
            return list(_line_parts(file, rows))
        if file.form is Form.PARQUET:
            total = row_count(file.url, file.name)
            starts = range(0, total, rows)
            return [Part(file, at, min(at + rows, total), at + 1) for at in starts]
        return [Part(file)]


def _line_parts(file: File, rows: int) -> Iterator[Part]:
    with BufferedReader(opened(file.url), _READ) as lines:  # type: ignore[type-var]
        start = at = held = 0
        first = number = 1
        for line in lines:
            if held == rows and not line.isspace():
                yield Part(file, start, at, first)
                start, first, held = at, number, 0
            at, number, held = at + len(line), number + 1, held + (not line.isspace())
        if held:
            yield Part(file, start, at, first)


# A task reads its part once to judge it and once to write it.
@lru_cache(maxsize=1)
def _bytes(part: Part) -> bytes:
    with reading(part.name), opened(part.file.url) as file:
        file.seek(part.start)
        return file.read(part.end - part.start)


@lru_cache(maxsize=1)
def _rows(part: Part) -> list[dict[str, Any]]:
    return rows_between(part.file.url, part.name, part.start, part.end)


def _lines(data: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(BytesIO(data), start=first):
        if not line.isspace():
            yield number, line
