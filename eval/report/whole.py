"""A judged table that has its items, judgements and labels in its own rows.

So the server's page gives a file back: with the columns of ``gradegpt judge``, or in JSON Lines
with the whole ``judgement``. A table without the file of judgements beside it is read likewise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.core.records import validate
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.neighbours import BY_HAND
from gradegpt.tables import Form, Table, TableRow, form_of
from gradegpt.tables.columns import ADDED, Columns
from gradegpt.tables.inputs import Reading, columns_in, placed
from gradegpt.tables.labels import read_label
from gradegpt.tables.outputs import judgements_path

_WHOLE: Final = "judgement"
_IN_WORDS: Final = "in_words"


JudgedTable = tuple[Table, Columns]
"""A table of items and how it is read."""


class JudgedFile(NamedTuple):
    """The judgements of a file, and its rows and labels where it has them, with their table."""

    judgements: Sequence[Judgement]
    rows: Sequence[tuple[TableRow, Item]] = ()
    labels: Sequence[Verdict | None] = ()
    source: JudgedTable | None = None

    @property
    def marked(self) -> list[Judgement]:
        """The judgements, with the label instead of another verdict where there is one."""
        labels = self.labels or [None] * len(self.judgements)
        return [_by_hand(*one) for one in zip(self.judgements, labels, strict=True)]


def _by_hand(judgement: Judgement, label: Verdict | None) -> Judgement:
    if label in (None, judgement.verdict):
        return judgement
    given = {"outcome": Outcome.JUDGED, "verdict": label, "withheld": None, "confidence": None}
    return judgement.model_copy(update={**given, "method": BY_HAND})


def is_whole(path: Path) -> bool:
    """Whether the rows of a file have their items beside their judgements."""
    if not path.is_file():
        return False
    if form_of(path) is not Form.JSONL:
        return not judgements_path(path, form_of(path) or Form.CSV).exists()
    first = (row for _, row in islice(Table.of(path).rows(), 1))
    return any(isinstance(row, dict) and isinstance(row.get(_WHOLE), dict) for row in first)


def read_whole(path: Path, reading: Reading) -> JudgedFile:
    """The rows of a judged table that have a judgement.

    Raises:
        InputError: a cell is no verdict, no outcome or no label.

    """
    table = Table.of(path, sheet=reading.sheet)
    held = columns_in(table, reading.columns, separator=reading.separator)
    added, label = _added(held.names), held.label(str(path))
    found: list[tuple[Judgement, tuple[TableRow, Item], Verdict | None]] = []
    for where, item, row, _ in placed(table, held, skip_bad=True):
        if said := row.get(_WHOLE) or _filled({f: row.get(name) for f, name in added.items()}):
            judgement = validate(Judgement, {**said, "id": item.id}, where)
            found.append((judgement, (row, item), _label(row.get(label or ""), where)))
    if not found:
        return JudgedFile(())
    judgements, rows, labels = zip(*found, strict=True)
    return JudgedFile([*judgements], [*rows], [*labels], (table, held))


def _added(names: Sequence[str]) -> dict[str, str]:
    """The columns of a judgement by its fields; of several the one that was added last."""
    of = {f: [n for n in names if re.fullmatch(rf"(?:judged_)*{f}", n)] for f in ADDED}
    return {f: max(found, key=len) for f, found in of.items() if found and f != _IN_WORDS}


def _filled(cells: Mapping[str, Any]) -> dict[str, Any]:
    given = {field: value for field, value in cells.items() if value not in (None, "")}
    return given if "outcome" in given else {}


def _label(value: Any, where: str) -> Verdict | None:
    try:
        return read_label(value)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error
