"""A label in its usual forms -> a verdict: one table, and an error for anything else.

A table of labels labels the items whose ids it has, or whose questions and responses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Verdict
from gradegpt.tables.columns import FIELDS, LABEL, Columns, dig
from gradegpt.tables.inputs import columns_in
from gradegpt.tables.table import Table

_WRITTEN: Final[dict[Verdict, tuple[str, ...]]] = {
    Verdict.CORRECT: ("correct", "true", "1", "1.0", "yes", "c", "pass", "right", "正确", "对"),
    Verdict.INCORRECT: ("incorrect", "false", "0", "0.0", "no", "i", "fail", "wrong", "错误", "错"),
    Verdict.INVALID: ("invalid", "无效"),
}
"""``C`` and ``I`` are inspect_ai's. Its ``P`` and ``N`` have no equivalent verdict."""
_READ: Final = {text: verdict for verdict, texts in _WRITTEN.items() for text in texts}
USABLE: Final = (
    "true or false, 1 or 0, yes or no, pass or fail, C or I, correct, incorrect, invalid; an empty "
    "cell has no label"
)


def read_label(value: object) -> Verdict | None:
    """The verdict of a label in any case; None where there is no label.

    No label is null in JSON, and an empty cell in a table.

    Raises:
        ValueError: the label has another form, such as 0.5.

    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    verdict = _READ.get(str(value).strip().casefold())
    if verdict is None:
        raise ValueError(f"label {value!r} is not a verdict; use {USABLE}")
    return verdict


def labels_of(
    items: Sequence[Item], table: Table, mapped: Mapping[str, str]
) -> list[Verdict | None]:
    """The label of each item, None without one; never by its place in the table.

    It is found by the item's id or, where the table has no ids or several items have one, by its
    question (or the reference, for a table without questions) and its response.

    Raises:
        InputError: there is no label, it has another form, or nothing says of which item it is.
        SettingsError: ``mapped`` names a column that is not there.

    """
    columns, key = _found_by(items, table, mapped)
    if (label := columns.label(table.name)) is None:
        have = f"the columns are: {', '.join(columns.names) or '(none)'}"
        what = "has no column 'label'; name it: --map label=COLUMN"
        raise InputError(f"{table.name}: {what}; {have}")
    known: dict[tuple[str, ...], Verdict] = {}
    for number, row in table.numbered():
        where = f"{table.place(number)}: {label}"
        try:
            verdict = read_label(dig(row, label))
        except ValueError as error:
            raise InputError(f"{where}: {error}") from error
        of = tuple(columns.text(row, field).strip() for field in key)
        if verdict and known.setdefault(of, verdict) is not verdict:
            raise InputError(f"{where}: not that of an earlier row with the same {key[0]}")
    wanted = [tuple(_text_of(item, field) for field in key) for item in items]
    if known.keys().isdisjoint(wanted):
        how = f"labels none of the judged rows; use the same {key[0]} in both files"
        filled = f"no cell of {label!r} is filled in; write correct or incorrect there"
        raise InputError(f"{table.name}: {how if known else filled}")
    return [known.get(one) for one in wanted]


def _found_by(
    items: Sequence[Item], table: Table, mapped: Mapping[str, str]
) -> tuple[Columns, tuple[str, ...]]:
    """The columns of a table of labels, and the fields by which an item is found in it."""
    twice = [one for one, n in Counter(item.id for item in items).items() if n > 1]
    for key in (("id",), ("question", "response"), ("reference", "response")):
        given = {field: name for field, name in mapped.items() if field in (*key, LABEL)}
        columns = columns_in(table, {field: "" for field in FIELDS if field not in key} | given)
        if all(map(columns.fields.get, key)) and not (twice and key == ("id",)):
            return columns, key
    what = f"two rows have the id {twice[0]!r}" if twice else "does not say which rows are labelled"
    how = "add the columns question and response of these rows, or name them: --map id=COLUMN"
    raise InputError(f"{table.name}: {what}; {how}")


def _text_of(item: Item, field: str) -> str:
    value = getattr(item, field)
    return (value if isinstance(value, str) else " / ".join(value)).strip()
