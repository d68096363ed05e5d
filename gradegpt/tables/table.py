"""The one reader and writer of tables: a file, or standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.records import A_FILE, or_example, read_lines
from gradegpt.tables import binary, forms, text
from gradegpt.tables.forms import SEPARATED, SUFFIXES, UTF8, Form, Layout, Rows, TableRow

STDIN: Final = "-"
_READERS: Final[dict[Form, Callable[[Path, str, Layout], Rows]]] = {
    Form.JSONL: text.read_lines_of_text,
    Form.JSON: text.read_json,
    Form.CSV: text.read_separated,
    Form.TSV: text.read_separated,
    Form.XLSX: binary.read_xlsx,
}
_WRITERS: Final[dict[Form, Callable[[TextIO, Sequence[str], Iterable[TableRow]], None]]] = {
    Form.JSONL: text.write_json_lines, Form.JSON: text.write_json,
    Form.PARQUET: binary.write_parquet, Form.XLSX: binary.write_xlsx,
}  # fmt: skip
_LIBRARIES: Final = {Form.PARQUET: "pyarrow.parquet", Form.XLSX: "openpyxl"}


class Table(NamedTuple):
    """A file with rows, or a part of it. ``path`` may be a copy; messages use ``name``.

    A part has ``limit`` rows. It begins at the byte ``start`` of JSON Lines, whose line has the
    number ``first``, or after ``start`` rows of another form.
    """

    path: Path
    form: Form
    name: str
    start: int = 0
    first: int = 1
    limit: int | None = None
    layout: Layout = Layout()

    @classmethod
    def of(
        cls, path: str | Path, name: str = "", sheet: str = "", form: Form | None = None
    ) -> Table:
        """The table in a file; its form is found by the suffix, else by the first bytes.

        Raises:
            InputError: the file is no table, or a broken one.
            MissingError: the file is a workbook, and openpyxl is not installed.

        """
        path, name = Path(path), name or str(path)
        form = form or forms.form_of(name) or forms.sniffed(path)
        if form is None:
            raise InputError(f"{name}: not a table; save it as .xlsx, .csv or .jsonl")
        if form is Form.XLSX and path.is_file():
            return cls(path, form, name, layout=binary.layout_of_xlsx(path, name, sheet))
        return cls(path, form, name, layout=forms.layout_of(path, form, sheet))

    @property
    def _has_lines(self) -> bool:
        """Whether a part begins at a byte of the file."""
        return self.form is Form.JSONL and self.layout.encoding.startswith(UTF8)

    def rows(self) -> Rows:
        """The rows, in order, each with its number; one that cannot be read is a text.

        Raises:
            MissingError: there is no such file, or the library that reads it is not installed.
            InputError: the file cannot be read as that form.

        """
        if self._has_lines:
            rows = text.read_json_lines(self.path, self.name, self.start, self.first)
        elif self.path.is_dir():
            raise InputError(f"{self.name}: is a folder; {A_FILE}")
        elif not self.path.is_file():
            raise MissingError(f"{self.name}: no such file; check the path{or_example(self.name)}")
        elif self.form is Form.PARQUET:
            rows = binary.read_parquet(self.path, self.name, self.start)
        else:
            read = _READERS[self.form](self.path, self.name, self.layout)
            rows = islice(read, self.start, None)
        return islice(rows, self.limit)

    def row_count(self) -> int:
        """The number of rows of the whole table, also of those that cannot be read."""
        if self.form is Form.PARQUET:
            return binary.count_rows(self.path, self.name)
        return sum(1 for _ in (read_lines(self.path) if self._has_lines else self.rows()))

    def parts(self, size: int) -> list[Table]:
        """The table in parts of ``size`` rows, the last of which has fewer."""
        part = self._replace(limit=size)
        if not self._has_lines:
            return [part._replace(start=start) for start in range(0, self.row_count(), size)]
        starts, at, rows = list[tuple[int, int]](), 0, 0
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.isspace():
                    if rows % size == 0:
                        starts.append((at, number))
                    rows += 1
                at += len(line)
        return [part._replace(start=start, first=first) for start, first in starts]

    @property
    def notes(self) -> list[str]:
        """What a user should know of how it is read."""
        layout = self.layout.description
        return [f"{self.name}: {layout}"] if layout else []

    def valid(self) -> Iterator[tuple[str, TableRow]]:
        """``(where, row)`` for every row; one that cannot be read is an ``InputError``."""
        return ((self.place(number), row) for number, row in self.numbered())

    def numbered(self) -> Iterator[tuple[int, TableRow]]:
        """The rows with their numbers; one that cannot be read is an ``InputError``."""
        for number, row in self.rows():
            if isinstance(row, str):
                raise InputError(f"{self.place(number)}: {row}")
            yield number, row

    def place(self, number: int) -> str:
        """The place of the row with that number."""
        return forms.place(self.name, self.form, number)


@contextmanager
def opened(given: str, sheet: str = "") -> Iterator[Table]:
    """The table ``given``: a path, or ``-`` for standard input.

    This is copied into a file first, as the rows are read repeatedly.
    """
    if given != STDIN:
        yield Table.of(given, sheet=sheet)
        return
    with tempfile.TemporaryDirectory(prefix="gradegpt-") as folder:
        path = Path(folder) / "rows"
        with path.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield Table.of(path, "stdin", sheet)


def each_row(path: str) -> Iterator[tuple[str, TableRow]]:
    """Yield ``(where, row)`` for every row, in order; a path with ``*`` reads file after file.

    Raises:
        MissingError: there is no such file, or a library is not installed.
        InputError: an unknown suffix, or a file whose contents do not fit it, with the place.

    """
    for name in files(path):
        if forms.form_of(name) is None:
            known = ", ".join(SUFFIXES)
            what = f"unknown suffix {Path(name).suffix!r}"
            raise InputError(f"{name}: {what}; save it as {known}")
        yield from Table.of(name).valid()


def files(path: str) -> tuple[str, ...]:
    """The file ``path``, or the files that match its ``*``, sorted.

    Raises:
        MissingError: there is no such file.

    """
    if Path(path).exists():
        return (path,)
    pattern = Path(path)
    root = Path(pattern.anchor or ".")
    relative = str(pattern.relative_to(pattern.anchor))
    found = tuple(sorted(str(p) for p in root.glob(relative) if p.is_file()))
    if not found:
        raise MissingError(f"{path}: no such file; give a path, or a pattern with *")
    return found


def write(
    out: TextIO,
    form: Form,
    columns: Sequence[str],
    rows: Iterable[TableRow],
    separator: str | None = None,
) -> None:
    """Write rows into an open file: for JSON with their own columns, else with ``columns``.

    Parquet and XLSX are bytes, written to ``out.buffer``.

    Raises:
        MissingError: the library that writes it is not installed.

    """
    if form in SEPARATED:
        text.write_separated(out, columns, rows, separator or SEPARATED[form])
    else:
        _WRITERS[form](out, columns, rows)


def check_library(form: Form, name: str) -> None:
    """Raise ``MissingError`` where the library for a form is not installed."""
    if form in _LIBRARIES:
        forms.library(_LIBRARIES[form], name)
