"""A table whose rows are validated as items before anything is judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradegpt.core.complaints import Complaint, Complaints
from gradegpt.core.errors import InputError
from gradegpt.core.records import sha256_file
from gradegpt.core.schema import Item
from gradegpt.tables import Form, Table, TableRow
from gradegpt.tables.columns import COMMAND_LINE, Columns, Hints, read_item, recognise, survey


class Placed(NamedTuple):
    """An item with its place, such as ``file:line``, its row, and what was read beside it."""

    where: str
    item: Item
    row: TableRow
    also: Mapping[str, str]


class CheckedInput(NamedTuple):
    """A table whose rows are all items, except those ``set_aside``.

    ``sha256`` is the hash of the file's bytes when it was checked.
    """

    table: Table
    rows: int
    sha256: str
    columns: Columns
    set_aside: Complaints

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
        if self.table.limit is not None:
            depends.append(f"rows:{self.table.start}+{self.table.limit}")
        if self.columns.renamed:
            depends.append(f"columns:{json.dumps(self.columns.renamed)}")
        if self.set_aside.rows:
            depends.append("set aside")
        return "|".join(depends)

    @property
    def manifest(self) -> dict[str, Any]:
        """The input's entry in a manifest."""
        file = {"path": self.table.name, "rows": self.rows, "sha256": self.sha256}
        renamed = {"columns": self.columns.renamed} if self.columns.renamed else {}
        aside = {"set_aside": self.set_aside.rows} if self.set_aside.rows else {}
        return file | renamed | aside

    def items(self) -> Iterator[tuple[TableRow, Item]]:
        """The rows and their items, in order.

        Raises:
            InputError: a row that was an item when it was checked no longer is one.

        """
        return items_of(self.table, self.columns, skip_bad=self.set_aside.rows > 0)

    def placed(self) -> Iterator[Placed]:
        """The rows and their items with their places; raises as ``items``."""
        return _placed(self.table, self.columns, skip_bad=self.set_aside.rows > 0)


def check_input(
    source: str | Path | Table,
    *,
    ignore_extra: bool = False,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    defaults: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
) -> CheckedInput:
    """Read a whole table and report every row that is not an item. It may hold labels.

    Args:
        source: The table, or its file.
        ignore_extra: Whether columns that hold no field are left out; else they are an error.
        columns: Fields and the columns that hold them; the others are recognised by their names.
        skip_bad: Whether rows that are not items are left out and counted; else they are an error.
        defaults: The values of fields that a row may lack.
        also: What is read beside the fields of an item, such as a unit.

    Raises:
        MissingError: there is no such file, or the library that reads it is not installed.
        InputError: ``file:line: field: what``, equal complaints as one; or the table is empty.
        SettingsError: ``columns`` names an unknown field or column.

    """
    table = source if isinstance(source, Table) else Table.of(source)
    found = columns_in(table, columns, ignore_extra=ignore_extra, defaults=defaults, also=also)
    wrong = Complaints(table.name)
    rows = count_items(table, found, wrong)
    accept(table.name, table.form, rows, wrong, skip_bad=skip_bad)
    return CheckedInput(table, rows, sha256_file(table.path), found, wrong)


def columns_in(
    table: Table,
    given: Mapping[str, str] | None = None,
    *,
    ignore_extra: bool = False,
    defaults: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
) -> Columns:
    """The columns of a table; arguments as in ``check_input``, errors as in ``recognise``."""
    seen = survey(row for _, row in table.rows() if not isinstance(row, str))
    found = recognise(
        seen, given,
        name=table.name, hints=hints_for(table.form), ignore_extra=ignore_extra, also=also,
    )  # fmt: skip
    return found._replace(defaults=defaults or {})


def hints_for(*forms: Form) -> Hints:
    """How messages about tables of these forms write the options that help."""
    return COMMAND_LINE._replace(has_objects={*forms} <= {Form.JSONL, Form.JSON})


def count_items(table: Table, columns: Columns, wrong: Complaints) -> int:
    """The number of rows that are items; the others are added to ``wrong``."""
    items = 0
    for number, row in table.rows():
        item, complaints = _read_item(row, columns, number)
        items += item is not None
        if item is None:
            wrong.add(table.place(number), complaints)
    return items


def accept(name: str, form: Form, items: int, wrong: Complaints, *, skip_bad: bool) -> None:
    """Raise ``InputError`` for a table with wrong rows, unless they are skipped, or without any."""
    if wrong.rows and not (skip_bad and items):
        raise InputError(wrong.listed())
    if not items:
        lines = "; write one item per line as a JSON object" if form is Form.JSONL else ""
        raise InputError(f"{name}: there are no rows{lines}")


def items_of(table: Table, columns: Columns, *, skip_bad: bool) -> Iterator[tuple[TableRow, Item]]:
    """The rows and their items, in order.

    Raises:
        InputError: a row is no item, and ``skip_bad`` is not set.

    """
    return ((one.row, one.item) for one in _placed(table, columns, skip_bad=skip_bad))


def _placed(table: Table, columns: Columns, *, skip_bad: bool) -> Iterator[Placed]:
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
