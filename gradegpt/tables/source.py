"""The source of rows: a file, standard input, or a data set of the hub; readable many times."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from gradegpt.tables.forms import Form, Rows, form_of, place, plain, sniffed
from gradegpt.tables.hub import HUB, read_hub
from gradegpt.tables.rows import read

STDIN: Final = "-"


class Table(Protocol):
    """Rows that can be read again and again: a file, or a part of one."""

    @property
    def name(self) -> str:
        """The table's name in messages."""
        ...

    @property
    def form(self) -> Form:
        """Its file format."""
        ...

    def rows(self) -> Rows:
        """The rows, from the first; see ``gradegpt.tables.read``."""
        ...

    def place(self, number: int) -> str:
        """The place of the row with that number."""
        ...


class Source(NamedTuple):
    """A table in a file. Messages use ``name``, and places of rows as in the form ``shown``."""

    path: Path
    form: Form
    name: str
    shown: Form

    @classmethod
    def of(cls, path: str | Path, form: Form | None = None, name: str = "") -> Source:
        """The table in a file; its form is found by the suffix, else by the first bytes."""
        form = form or form_of(path) or sniffed(Path(path))
        return cls(Path(path), form, name or str(path), form)

    def rows(self) -> Rows:
        """The rows, from the first; see ``gradegpt.tables.read``."""
        return read(self.path, self.form, self.name)

    def place(self, number: int) -> str:
        """The place of the row with that number."""
        return place(self.name, self.shown, number)


@contextmanager
def opened(given: str) -> Iterator[Source]:
    """The table ``given``: a path, ``-`` for standard input, or ``hf:owner/name``.

    Standard input and hub data are copied into a file first, as the rows are read repeatedly.
    """
    if given != STDIN and not given.startswith(HUB):
        yield Source.of(given)
        return
    with tempfile.TemporaryDirectory(prefix="gradegpt-") as folder:
        path = Path(folder) / "rows"
        if given == STDIN:
            with path.open("wb") as out:
                shutil.copyfileobj(sys.stdin.buffer, out)
            yield Source.of(path, name="stdin")
        else:
            _copy_hub(given, path)
            yield Source(path, Form.JSONL, given, Form.JSON)


def _copy_hub(given: str, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        for _, row in read_hub(given):
            out.write(json.dumps(row, default=plain) + "\n")
