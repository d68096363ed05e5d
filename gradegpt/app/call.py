"""One call from Python: ``judge`` one response, or ``judge_many`` rows of any table.

>>> import gradegpt
>>> print(gradegpt.judge(response="The answer is 0.75.", reference="3/4", judge="rules"))
The model response gives its answer here: The answer is 0.75.
The reference answer 3/4 is a number; the model response gives 0.75.
The answers agree: <Yes>
<BLANKLINE>
verdict     correct
confidence  0.9...
method      rules
reason      number:equal
in words    Number: the answers are equal.
tolerance   auto
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from gradegpt.core.complaints import Complaints
from gradegpt.core.errors import InputError, SettingsError
from gradegpt.core.records import validate
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.judges.base import Judge, judge_each
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables.columns import (
    FIELDS,
    REQUIRED,
    Columns,
    read_item,
    recognise,
    survey,
    values_of,
)
from gradegpt.tables.outputs import Progress

_KEPT: Final = 4
"""Judges that stay loaded; the least recently used one is dropped first."""
_ROWS: Final = 64
"""Rows per call for a judge that the caller built."""
_building = Lock()
_log = logging.getLogger(__name__)


def judge(
    *,
    response: str | float | None,
    reference: str | float | Sequence[str | float],
    question: str = "",
    judge: str | JudgeSettings | Judge = "cascade",
    **options: Any,
) -> Judgement:
    """Judge one response. ``print`` shows the judgement for people.

    Args:
        response: What is judged; a number or True is read as its text, None as an empty text.
        reference: The reference answer, or several of which any is accepted.
        question: What was asked.
        judge: ``rules``, ``model``, ``cascade`` or another kind of ``JudgeSettings``;
            or settings; or a judge. A judge that was built from settings is kept for the next call.
        options: Other fields of an ``Item``, such as ``context`` and ``tolerance``; and settings of
            the judge, such as ``model``, ``base_url`` and ``cache``.

    Raises:
        InputError: a field that cannot be used.
        SettingsError: an unknown option, or a setting out of range.
        MissingError: a model or a package is not there.
        EngineError: a model does not load. A model that does not answer gives the outcome
            ``failed``.

    """
    fields = {name: options.pop(name) for name in FIELDS if name in options}
    fields |= {"response": response, "reference": reference, "question": question}
    item = validate(Item, values_of(fields), "judge")
    built, _ = _judge(judge, options)
    return judge_each(built, [item])[0]


def judge_many(
    rows: Iterable[Mapping[str, Any] | Item],
    judge: str | JudgeSettings | Judge = "cascade",
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    on_progress: Progress | None = None,
    **settings: Any,
) -> list[Judgement]:
    """Judge rows of any table; one judgement a row, in order. A blank response is ``invalid``.

    Args:
        rows: Mappings or items; also a data frame or a ``datasets.Dataset``. Columns are recognised
            by their usual names (``gradegpt.tables.columns``); what was recognised is logged.
        judge: As in ``judge``.
        columns: The column of a field, ``{"reference": "gold"}``, where its name does not show it;
            "" for a field that no column holds.
        skip_bad: Whether a row that cannot be judged, such as one without a reference, gets the
            outcome ``failed``, with the reason; else it is an error.
        on_progress: Called after every few rows with the numbers of rows judged and to judge.
        settings: Settings of the judge, such as ``model``, ``base_url`` and ``cache``.

    Raises:
        InputError: rows that cannot be judged, equal complaints as one; nothing was judged.
        SettingsError, MissingError, EngineError: as in ``judge``.

    """
    read = _read(_rows(rows), columns, skip_bad=skip_bad)
    items = [one for one in read if isinstance(one, Item)]
    built, at_a_time = _judge(judge, settings)
    done: list[Judgement] = []
    for start in range(0, len(items), at_a_time):
        done += judge_each(built, items[start : start + at_a_time])
        if on_progress is not None:
            on_progress(len(done), len(items))
    judged = iter(done)
    return [next(judged) if isinstance(one, Item) else one for one in read]


def _rows(rows: Any) -> list[Any]:
    """The rows of a pandas or polars data frame, or of any other iterable."""
    if hasattr(rows, "to_dicts"):
        return list(rows.to_dicts())
    if hasattr(rows, "notna") and hasattr(rows, "to_dict"):
        return list(rows.astype(object).where(rows.notna(), None).to_dict("records"))
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        kind = type(rows).__name__
        raise InputError(
            f"rows: {kind} cannot be judged; give a list of rows, a data frame, or one split"
        )
    return list(rows)


def _read(
    rows: Sequence[Any], given: Mapping[str, str] | None, *, skip_bad: bool
) -> list[Item | Judgement]:
    """The item of each row; of one that cannot be judged the judgement ``failed``."""
    tables = [_as_mapping(row, number) for number, row in enumerate(rows, start=1)]
    seen = survey(row for row in tables if not isinstance(row, Item))
    columns = recognise(seen, given if rows else None, name="rows", required=REQUIRED)
    for note in columns.notes:
        _log.info("%s", note)
    wrong = Complaints("rows")
    read = [_item(row, columns, number, wrong) for number, row in enumerate(tables, start=1)]
    if wrong.rows and not skip_bad:
        raise InputError(f"{wrong.listed()}\nskip_bad=True judges the other rows")
    return read


def _as_mapping(row: Any, number: int) -> Item | dict[str, Any]:
    if isinstance(row, Item):
        return row
    if not isinstance(row, Mapping):
        kind = type(row).__name__
        raise InputError(f"row {number}: {kind} is not a row; give a mapping or an Item")
    return {str(name): value for name, value in row.items()}


def _item(
    row: Item | dict[str, Any], columns: Columns, number: int, wrong: Complaints
) -> Item | Judgement:
    if isinstance(row, Item):
        return row if row.id else row.model_copy(update={"id": str(number)})
    item, found = read_item(row, columns, number)
    if item is not None:
        return item
    wrong.add(f"row {number}", found)
    reason = f"row:{'; '.join(map(str, found))}"
    own = columns.text(row, "id") or str(number)
    return Judgement(id=own, outcome=Outcome.FAILED, method="none", reason=reason)


def _judge(judge: str | JudgeSettings | Judge, given: Mapping[str, Any]) -> tuple[Judge, int]:
    """The judge, and how many rows to give it per call."""
    if isinstance(judge, str):
        judge = JudgeSettings.of(**given, kind=judge)
    elif given:
        names = ", ".join(given)
        use = "put it into the JudgeSettings"
        raise SettingsError(f"{names}: allowed only where judge is a name; {use}")
    if not isinstance(judge, JudgeSettings):
        return judge, _ROWS
    with _building:
        return _kept(judge), judge.rows_at_a_time


@lru_cache(maxsize=_KEPT)
def _kept(settings: JudgeSettings) -> Judge:
    judge = build_judge(settings)
    return judge if settings.takes_several else _OneAtATime(judge)


class _OneAtATime:
    """Lets several threads share a judge whose model works on one batch at a time."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self._judge = judge
        self._lock = Lock()

    @property
    def fingerprint(self) -> str:
        return self._judge.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        with self._lock:
            return self._judge.judge(items)
