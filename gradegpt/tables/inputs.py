"""A table whose rows are validated as items before anything is judged."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.complaints import Complaint, Complaints
from gradegpt.core.errors import InputError
from gradegpt.core.records import sha256_file
from gradegpt.core.schema import Item
from gradegpt.tables.classlist import by_answer
from gradegpt.tables.columns import (
    REQUIRED,
    Columns,
    has_blanks,
    looks_like_several,
    on_command_line,
    read_item,
    recognise,
    survey,
)
from gradegpt.tables.forms import Form, TableRow
from gradegpt.tables.table import Table


class Placed(NamedTuple):
    """An item with its place, such as ``file:line``, its row, and what was read beside it."""

    where: str
    item: Item
    row: TableRow
    also: Mapping[str, str]


_SWAPPED: Final = (
    "in {:,} of {:,} rows the response is a short part of the reference; if the columns are "
    "swapped, name them: --map reference=COLUMN --map response=COLUMN"
)
_SEVERAL: Final = (
    "{:,} of {:,} references look like several answers, such as {!r}; if any of them is right, "
    "--separator says what is between them"
)
_FILLED: Final = (
    "{:,} of {:,} questions have as many blanks as accepted answers, such as {!r}; if each "
    "is the answer of a blank, leave --separator out"
)


class Findings(NamedTuple):
    """The number of items, what is wrong with other rows, and a doubt about the references."""

    items: int
    wrong: Complaints
    doubt: str


class CheckedInput(NamedTuple):
    """A table whose rows are all items, except those ``set_aside``.

    ``sha256`` is the hash of the file's bytes when it was checked.
    """

    table: Table
    rows: int
    sha256: str
    columns: Columns
    set_aside: Complaints
    doubt: str = ""

    @property
    def path(self) -> Path:
        """The file."""
        return self.table.path

    @property
    def fingerprint(self) -> str:
        """The file's hash and, where they change the items, the columns and the rows left out.

        Where all columns have the names of the fields it is the file's hash alone.
        """
        depends = [self.sha256]
        depends += [f"{name}:{json.dumps(held)}" for name, held in self.columns.manifest.items()]
        if self.set_aside.rows:
            depends.append("set aside")
        return "|".join(depends)

    @property
    def manifest(self) -> dict[str, Any]:
        """The input's entry in a manifest."""
        file = {"path": self.table.name, "rows": self.rows, "sha256": self.sha256}
        left = {"set_aside": self.set_aside.rows} if self.set_aside.rows else {}
        sheet = {"sheet": self.table.layout.sheet} if self.table.layout.sheet else {}
        return file | sheet | self.columns.manifest | left

    @property
    def notes(self) -> list[str]:
        """What a user should know of how the table was read, a line each."""
        notes = [*self.table.notes, *self.columns.notes, self.doubt]
        return [note for note in notes if note] + aside(self.set_aside, self.rows)

    def items(self) -> Iterator[tuple[TableRow, Item]]:
        """The rows and their items, in order.

        Raises:
            InputError: a row that was an item when it was checked no longer is one.

        """
        return ((one.row, one.item) for one in self.placed())

    def placed(self) -> Iterator[Placed]:
        """The rows and their items with their places; raises as ``items``."""
        return placed(self.table, self.columns, skip_bad=self.set_aside.rows > 0)

    def left_out(self) -> Iterator[tuple[str, list[str], TableRow]]:
        """The rows that are set aside: the place, the reasons, and the row."""
        for number, row in self.table.rows():
            item, wrong = _read_item(row, self.columns, number)
            if item is None:
                what = [str(one) for one in wrong]
                yield self.table.place(number), what, {} if isinstance(row, str) else row


def aside(wrong: Complaints, rows: int) -> list[str]:
    """A note on the rows that are set aside, where there are any."""
    n = "1 row is" if wrong.rows == 1 else f"{wrong.rows:,} rows are"
    head = f"{n} set aside, {rows:,} are judged"
    return [f"{head}\n{wrong.listed('set aside')}"] if wrong.rows else []


class Reading(NamedTuple):
    """How a table is read where its file does not say.

    ``columns`` are fields and the columns that hold them, ``sheet`` is that of a workbook with
    several, ``separator`` is between the accepted answers in a cell.
    """

    columns: Mapping[str, str] = {}
    sheet: str = ""
    separator: str = ""

    def without(self, *fields: str) -> Reading:
        """With fields that no column holds."""
        return self._replace(columns={**self.columns, **dict.fromkeys(fields, "")})


USUAL: Final = Reading()
"""Columns by their usual names, one sheet, and one answer in a cell."""


def check_input(
    source: str | Path | Table,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    defaults: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
    separator: str = "",
    references: Mapping[str, str] | None = None,
    command: bool = False,
) -> CheckedInput:
    """Read a whole table and report every row that is not an item. It may hold labels.

    A class list has an item for each answer of a pupil.

    Args:
        source: The table, or its file.
        columns: Fields and the columns that hold them; the others are recognised by their names.
        skip_bad: Whether rows that are not items are left out and counted; else they are an error.
        defaults: The values of fields that a row may lack.
        also: What is read beside the fields of an item, such as a unit.
        separator: What is between the accepted answers in a cell.
        references: The accepted answers of a class list, as in ``by_answer``.
        command: Whether an error names the option ``--skip-bad`` of the command.

    Raises:
        MissingError: there is no such file, or the library that reads it is not installed.
        InputError: ``file:line: field: what``, equal complaints as one; or the table is empty.
        SettingsError: ``columns`` names an unknown field or column.

    """
    table = source if isinstance(source, Table) else Table.of(source)
    table = by_answer(table, references, columns)
    held = columns_in(
        table, columns, defaults=defaults, also=also, separator=separator, required=REQUIRED
    )
    found = findings(table, held)
    accept(table.name, table.form, found.items, found.wrong, skip_bad=skip_bad, command=command)
    return CheckedInput(table, found.items, sha256_file(table.path), held, *found[1:])


def read_table(
    data: bytes,
    name: str,
    sheet: str = "",
    **reading: Any,
) -> tuple[CheckedInput, list[Placed], list[tuple[str, str, TableRow]]]:
    """The rows of a file that was sent, with the items that can be judged.

    Args:
        data: The bytes of the file, in any form and encoding that is read from a disk.
        name: Its name, by whose suffix the form is found.
        sheet: Of a workbook with several.
        reading: ``columns``, ``separator`` and ``references``, as in ``check_input``.

    Returns:
        How it was read, with ``notes`` for people and the columns; the items with their rows and
        places; and the places of the rows that are no items, with the reasons, a line each, and the
        rows.

    Raises:
        InputError, MissingError, SettingsError: as ``check_input``.

    """
    with tempfile.TemporaryDirectory(prefix="gradegpt-") as folder:
        path = Path(folder) / "rows"
        path.write_bytes(data)
        checked = check_input(Table.of(path, name, sheet), skip_bad=True, **reading)
        left_out = [(where, "\n".join(why), row) for where, why, row in checked.left_out()]
        return checked, [*checked.placed()], left_out


def columns_in(
    table: Table,
    given: Mapping[str, str] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
    separator: str = "",
    required: Sequence[str] = (),
) -> Columns:
    """The columns of a table; arguments as in ``check_input``, errors as in ``recognise``.

    A ``required`` field may have a default.
    """
    seen = survey(row for _, row in table.rows() if not isinstance(row, str))
    found = recognise(
        seen, given, name=table.name, hint=on_command_line, also=also, separator=separator,
        required=[field for field in required if field not in (defaults or {})],
    )  # fmt: skip
    return found._replace(defaults=defaults or {})


def findings(table: Table, columns: Columns) -> Findings:
    """The number of rows that are items; complaints about the others; whether one is doubtful."""
    items, swapped, wrong = 0, 0, Complaints(table.name)
    several, filled = list[str](), list[str]()
    for number, row in table.rows():
        item, complaints = _read_item(row, columns, number)
        items += item is not None
        if item is None:
            wrong.add(table.place(number), complaints)
            continue
        several += item.reference[:1] if looks_like_several(item) else ()
        if columns.separator and has_blanks(item, len(item.reference)):
            filled.append(columns.separator.join(item.reference))
        said, wanted = item.response.strip(), item.reference[0]
        swapped += 0 < 3 * len(said) < len(wanted) and said in wanted
    doubt = _SEVERAL.format(len(several), items, several[0]) if several else ""
    doubt = _FILLED.format(len(filled), items, filled[0]) if filled else doubt
    doubt = _SWAPPED.format(swapped, items) if swapped > items / 2 else doubt
    return Findings(items, wrong, doubt)


def accept(
    name: str, form: Form, items: int, wrong: Complaints, *, skip_bad: bool, command: bool = False
) -> None:
    """Raise ``InputError`` for a table with wrong rows, unless they are skipped, or without any.

    In the command that has ``--skip-bad`` the error names it.
    """
    if wrong.rows and not (skip_bad and items):
        rest = f"\n--skip-bad leaves them out and judges the other {items:,}"
        raise InputError(wrong.listed() + (rest if command and items else ""))
    if not items:
        lines = "; write one item per line as a JSON object" if form is Form.JSONL else ""
        raise InputError(f"{name}: there are no rows{lines}")


def placed(table: Table, columns: Columns, *, skip_bad: bool) -> Iterator[Placed]:
    """The rows and their items with their places, in order.

    Raises:
        InputError: a row is no item, and ``skip_bad`` is not set.

    """
    for number, row in table.rows():
        item, wrong = _read_item(row, columns, number)
        if item is not None and not isinstance(row, str):
            also = {name: columns.text(row, name) for name in columns.also}
            yield Placed(table.place(number), item, row, also)
        elif not skip_bad:
            found = Complaints(table.name)
            found.add(table.place(number), wrong)
            raise InputError(found.listed())


def _read_item(
    row: TableRow | str, columns: Columns, number: int
) -> tuple[Item | None, list[Complaint]]:
    if isinstance(row, str):
        return None, [Complaint("", row)]
    return read_item(row, columns, number)
