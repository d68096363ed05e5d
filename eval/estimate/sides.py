"""Two models' judged answers, matched by id, and whose answers a sheet of labels has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item
from gradegpt.tables.inputs import USUAL, Reading

from ..report.results import ANSWER_OF, JudgedRows, has_column, read_judged

FIRST: Final = "A"
SECOND: Final = "B"
"""The names of the two models in a sheet of labels, which does not say who answered."""


class Sides(NamedTuple):
    """What both models have of the items that both answered, in the first file's order.

    ``left_out`` are the items that only one file has.
    """

    first: JudgedRows
    second: JudgedRows
    left_out: int


def read_sides(
    judged: Sequence[Path],
    items: Sequence[Path] = (),
    labels: Sequence[Path] = (),
    reading: Reading = USUAL,
) -> Sides:
    """Match two judged files by id.

    Args:
        judged: The two files.
        items: The files that were judged, where the manifests do not find them.
        labels: The labels of each file, or one sheet of ``--pick --compare`` with both.
        reading: How ``items`` are read, and the sheet of ``labels``.

    Raises:
        InputError: two rows of a file have one id, no id is in both files, or labels that do not
            say which file they are of.

    """
    if len(labels) == 1 and not has_column(labels[0], ANSWER_OF, reading.sheet):
        raise InputError(
            f"{labels[0]}: has no column {ANSWER_OF!r} that says whose answers it labels; give a "
            "file of labels for each model, or make one sheet: --pick 60 --compare OTHER.jsonl"
        )
    if max(len(labels), len(items)) > 2:
        raise InputError("--compare: takes at most two files of labels, and two of --items")
    tables = [labels[0], labels[-1]] if labels else [None, None]
    files = [*items, None, None][:2]
    found = [
        read_judged([path], items=file, labels=table, of=side, reading=reading)
        for path, file, table, side in zip(judged, files, tables, (FIRST, SECOND), strict=True)
    ]
    a, b = (_places(results, path) for results, path in zip(found, judged, strict=True))
    shared = [key for key in a if key in b]
    if not shared:
        raise InputError(f"{judged[0]} and {judged[1]} share no id; give answers to the same items")
    left_out = len(a) + len(b) - 2 * len(shared)
    first, second = (
        results.chosen([places[key] for key in shared])
        for results, places in zip(found, (a, b), strict=True)
    )
    return Sides(first, second, left_out)


def _places(results: JudgedRows, path: Path) -> dict[str, int]:
    places = {item.id: place for place, item in enumerate(results.items)}
    if len(places) < len(results.items):
        twice = Counter(item.id for item in results.items).most_common(1)[0][0]
        raise InputError(f"{path}: two rows have the id {twice!r}, so they cannot be matched by id")
    return places


def to_label(sides: Sides, places: Sequence[int]) -> Iterator[tuple[str, Item]]:
    """The responses of both models to the picked items, each with the model's name in a sheet.

    Two responses that are the same text have one row, so that they have one label.
    """
    for place in places:
        a, b = sides.first.items[place], sides.second.items[place]
        if a.response.strip() == b.response.strip() and a.reference == b.reference:
            yield f"{FIRST} and {SECOND}", a
        else:
            yield from ((FIRST, a), (SECOND, b))
