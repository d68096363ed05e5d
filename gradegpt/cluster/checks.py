"""The whole input checked before anything is judged, part by part; the same messages as locally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from gradegpt.cluster.files import File
from gradegpt.cluster.parts import Part, parts_of
from gradegpt.cluster.tasks import Each
from gradegpt.columns import Columns, joined, recognise, survey
from gradegpt.complaints import Complaints
from gradegpt.inputs import accept, count_items, hints_for
from gradegpt.tables.parquet import column_types, joined_types

ROWS: Final = 8_192
"""Rows of a part: some seconds of rules, some megabytes of texts."""


class Checked(NamedTuple):
    """Files whose rows are all items, except those ``set_aside``.

    ``items`` are the numbers of items of the parts; ``types`` the Arrow types of the columns.
    """

    files: tuple[File, ...]
    parts: tuple[Part, ...]
    items: tuple[int, ...]
    columns: Columns
    types: dict[str, Any]
    set_aside: Complaints
    rows_per_part: int

    @property
    def rows(self) -> int:
        """The number of items."""
        return sum(self.items)

    @property
    def manifest(self) -> dict[str, Any]:
        """The input's entry in a manifest: whatever the items and the parts depend on."""
        files = [{"path": f.name, "size": f.size, "digest": f.digest} for f in self.files]
        renamed = {"columns": self.columns.renamed} if self.columns.renamed else {}
        aside = {"set_aside": self.set_aside.rows} if self.set_aside.rows else {}
        return {"files": files, "rows": self.rows, **renamed, **aside}


def check_files(
    files: Sequence[File],
    each: Each,
    *,
    ignore_extra: bool = False,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    rows: int = ROWS,
) -> Checked:
    """Read all files and report every row that is not an item, as ``gradegpt.inputs.check_input``.

    Args:
        files: The files; their columns are those of one table.
        each: How a function of every part is computed.
        ignore_extra: Whether columns that hold no field are left out; else they are an error.
        columns: Fields and the columns that hold them; the others are recognised by their names.
        skip_bad: Whether rows that are not items are left out and counted; else they are an error.
        rows: Rows of a part.

    Raises:
        InputError, SettingsError, MissingError: as ``check_input``.

    """
    name, forms = _name(files), [file.form for file in files]
    parts = [part for some in each(partial(parts_of, rows=rows), files) for part in some]
    surveys = each(_surveyed, parts)
    found = recognise(
        joined(seen for seen, _ in surveys), columns,
        name=name, hints=hints_for(*forms), ignore_extra=ignore_extra,
    )  # fmt: skip
    items, wrong = list[int](), Complaints(name)
    for count, complaints in each(partial(_checked, found, name), parts):
        items.append(count)
        wrong.merge(complaints)
    accept(name, forms[0], sum(items), wrong, skip_bad=skip_bad)
    types = joined_types(types for _, types in surveys)
    return Checked(tuple(files), tuple(parts), tuple(items), found, types, wrong, rows)


def _name(files: Sequence[File]) -> str:
    return files[0].name + (f" and {len(files) - 1:,} more" if len(files) > 1 else "")


def _surveyed(part: Part) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The columns of a part with their first values, and their types."""
    rows = [row for _, row in part.rows() if not isinstance(row, str)]
    return survey(rows), column_types(rows)


def _checked(columns: Columns, name: str, part: Part) -> tuple[int, Complaints]:
    """The number of items of a part, and the complaints about the other rows."""
    wrong = Complaints(name)
    return count_items(part, columns, wrong), wrong
