"""The rows of a judged table in any form, with the columns of a judgement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from gradegpt.core.errors import OutputError
from gradegpt.core.records import whole_file
from gradegpt.core.schema import Judgement
from gradegpt.tables.binary import LONGEST, too_long
from gradegpt.tables.columns import ADDED
from gradegpt.tables.forms import SEPARATED, UTF8, Form, TableRow
from gradegpt.tables.inputs import CheckedInput
from gradegpt.tables.table import Table, check_library, write

Progress = Callable[[int, int], None]
"""Called with the number of rows judged so far and the number of all rows."""
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")


def check_form(name: str, form: Form, source: CheckedInput) -> None:
    """Check before any work that the rows can be written in that form, as ``name``.

    Raises:
        MissingError: the library that writes it is not installed.
        OutputError: a text is longer than a workbook's cell.

    """
    check_library(form, name)
    if form is not Form.XLSX:
        return
    for number, row in source.table.rows():
        if not isinstance(row, str) and (column := too_long(row)):
            where = source.table.place(number)
            most = f"is longer than the {LONGEST:,} characters of a cell"
            raise OutputError(f"{name}: {where}: {column} {most}; write .csv or .jsonl instead")


def write_table(
    source: CheckedInput, judgements: Iterable[Judgement], out: TextIO, form: Form
) -> None:
    """Write the rows of ``source``, each with its judgement in the columns ``ADDED``."""
    names = added_columns(source.columns.names)
    chinese = _CHINESE.search(source.columns.fields["reference"]) is not None
    rows = with_columns((row for row, _ in source.items()), judgements, names, chinese=chinese)
    same = source.table.layout.separator if form is source.table.form else None
    write(out, form, (*source.columns.names, *names.values()), rows, same)


def write_left_out(source: CheckedInput, output: Path, form: Form) -> Path:
    """Write the rows that are set aside, with their places and the reasons, beside an output."""
    path = output.with_name(f"{output.stem}.set-aside{output.suffix or '.jsonl'}")
    rows = [{"place": w, "problem": "; ".join(why), **row} for w, why, row in source.left_out()]
    with whole_file(path, encoding_for(source.table, form)) as out:
        write(out, form, ("place", "problem", *source.columns.names), rows)
    return path


def encoding_for(table: Table, form: Form) -> str:
    """The encoding of a table's output: that of the input where cells are separated in both."""
    both = form in SEPARATED and table.form in SEPARATED
    return table.layout.encoding if both else UTF8


def judgements_path(output: Path, form: Form) -> Path:
    """The file with the judgements of a run: the output itself, or a file beside a table."""
    if form is Form.JSONL:
        return output
    return output.with_name(f"{output.name}.judgements.jsonl")


def added_columns(columns: Sequence[str]) -> dict[str, str]:
    """The names of the columns ``ADDED``, made different from all ``columns`` of the table."""
    names = dict.fromkeys(ADDED, "")
    for field in ADDED:
        most = (f"{'judged_' * n}{field}" for n in range(len(columns) + 1))
        names[field] = next(name for name in most if name not in columns)
    return names


def with_columns(
    rows: Iterable[TableRow],
    judgements: Iterable[Judgement],
    names: Mapping[str, str],
    *,
    chinese: bool = False,
) -> Iterator[TableRow]:
    """Rows, each with its judgement in columns of these ``names``, as ``added_columns`` gives.

    The reason is said in English, or in ``chinese``.
    """
    for row, judgement in zip(rows, judgements, strict=True):
        values = judgement.model_dump(mode="json", include=set(ADDED))
        values["in_words"] = judgement.in_words(chinese=chinese)
        values["confidence"] = judgement.sureness
        yield row | {name: values[field] for field, name in names.items()}
