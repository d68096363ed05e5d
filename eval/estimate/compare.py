"""Two models' judged answers to the same items, and labels -> their accuracies' difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Judgement, Row, Verdict
from gradegpt.judges.statistics import CONFIDENCE, mcnemar, says_yes

from ..report.results import ANSWER_OF, JudgedRows, has_column, read_judged
from .estimate import (
    BY_VERDICT_ONLY,
    CORRECT,
    INCORRECT,
    Drawn,
    Estimate,
    Labels,
    ResultStratum,
    always_right,
    made,
    strata_of,
)
from .estimators import (
    LEAST_LABELS,
    NOTHING,
    Bounds,
    PairCounts,
    bonett_price,
    stratified_difference,
)

FIRST: Final = "A"
SECOND: Final = "B"
"""The names of the two models in a sheet of labels, which does not say who answered."""
_HOW: Final = "--pick 60 --compare OTHER.jsonl -o labels.csv"
_JUDGED: Final = (CORRECT, INCORRECT)


class Side(NamedTuple):
    """One model's answers to the items, its judgements of them, and their labels."""

    items: list[Item]
    judgements: list[Judgement]
    labels: list[Verdict | None]


class Sides(NamedTuple):
    """What both models have of the items that both answered, in the first file's order.

    ``left_out`` are the items that only one file has.
    """

    first: Side
    second: Side
    left_out: int

    @property
    def strata(self) -> list[ResultStratum]:
        """The pair of results of each item."""
        return strata_of([self.first.judgements, self.second.judgements])


class AccuracyDifference(Estimate):
    """The first model's accuracy less the second's, in [-1, 1].

    ``n_labels`` is the number of items with both labels.
    """

    difference: float | None


class ModelComparison(Row):
    """The estimates; and of the items with both labels, those that only one model has right.

    ``p`` is that of McNemar's exact test of equal accuracies; None where the labels were drawn by
    verdict, to which it does not apply.
    """

    estimates: tuple[AccuracyDifference, ...]
    first_only: int
    second_only: int
    p: float | None


def read_sides(
    judged: Sequence[Path], items: Sequence[Path] = (), labels: Sequence[Path] = ()
) -> Sides:
    """Match two judged files by id.

    Args:
        judged: The two files.
        items: The files that were judged, where the manifests do not find them.
        labels: The labels of each file, or one sheet of ``--pick --compare`` with both.

    Raises:
        InputError: two rows of a file have one id, no id is in both files, or labels that do not
            say which file they are of.

    """
    if len(labels) == 1 and not has_column(labels[0], ANSWER_OF):
        raise InputError(
            f"{labels[0]}: has no column {ANSWER_OF!r} that says whose answers it labels; give a "
            f"file of labels for each model, or make one sheet: {_HOW}"
        )
    if max(len(labels), len(items)) > 2:
        raise InputError("--compare: takes at most two files of labels, and two of --items")
    tables = [labels[0], labels[-1]] if labels else [None, None]
    found = [
        read_judged([path], items=(items[n] if n < len(items) else None), labels=tables[n], of=side)
        for n, (path, side) in enumerate(zip(judged, (FIRST, SECOND), strict=True))
    ]
    a, b = (_places(results, path) for results, path in zip(found, judged, strict=True))
    shared = [key for key in a if key in b]
    if not shared:
        raise InputError(f"{judged[0]} and {judged[1]} share no id; give answers to the same items")
    left_out = len(a) + len(b) - 2 * len(shared)
    sides = (
        _side(found[0], [a[key] for key in shared]),
        _side(found[1], [b[key] for key in shared]),
    )
    return Sides(*sides, left_out)


def _places(results: JudgedRows, path: Path) -> dict[str, int]:
    places = {item.id: place for place, item in enumerate(results.items)}
    if len(places) < len(results.items):
        twice = Counter(item.id for item in results.items).most_common(1)[0][0]
        raise InputError(f"{path}: two rows have the id {twice!r}, so they cannot be matched by id")
    return places


def _side(results: JudgedRows, places: Sequence[int]) -> Side:
    (judgements,) = results.judges.values()
    return Side(
        [results.items[n] for n in places], [judgements[n] for n in places],
        [results.labels[n] for n in places],
    )  # fmt: skip


def pair_counts(strata: Sequence[ResultStratum], first: Labels, second: Labels) -> PairCounts:
    """The counts of each stratum, in the order of their names."""
    place = {name: n for n, name in enumerate(sorted(set(strata)))}
    items, both = np.zeros(len(place)), np.zeros((len(place), 2, 2))
    alone = np.zeros((2, len(place), 2))
    for name, *labels in zip(strata, first, second, strict=True):
        stratum = place[name]
        items[stratum] += 1
        a, b = (None if label is None else int(says_yes(label)) for label in labels)
        if a is not None and b is not None:
            both[stratum, a, b] += 1
        elif (one := a if b is None else b) is not None:
            alone[int(a is None), stratum, one] += 1
    return PairCounts(items, both, alone[0], alone[1])


def compared(sides: Sides, drawn: Drawn, confidence: float = CONFIDENCE) -> ModelComparison:
    """The difference as judged, by the labels alone, and corrected.

    Raises:
        InputError: no item has a label.

    """
    strata = sides.strata
    counts = pair_counts(strata, sides.first.labels, sides.second.labels)
    if not any(side.sum() for side in counts.sides):
        raise InputError(f"no item has a label; make a sheet: {_HOW}")
    items, pairs = int(counts.items.sum()), int(counts.table.sum())
    found = (
        _as_judged(strata, confidence),
        _difference("labels alone", *_alone(counts, drawn, confidence), items, pairs),
        _difference("stratified", *_corrected(counts, strata, confidence), items, pairs),
    )
    first, second = int(counts.table[1, 0]), int(counts.table[0, 1])
    p = mcnemar(first, second) if drawn is Drawn.RANDOM else None
    return ModelComparison(estimates=found, first_only=first, second_only=second, p=p)


def _difference(
    method: str, bounds: Bounds, assumes: str, items: int, labels: int
) -> AccuracyDifference:
    value, others = made(method, bounds, assumes, items, labels)
    return AccuracyDifference(difference=value, **others)


def _as_judged(strata: Sequence[ResultStratum], confidence: float) -> AccuracyDifference:
    table = np.zeros((2, 2))
    for first, second in strata:
        if first in _JUDGED and second in _JUDGED:
            table[int(first == CORRECT), int(second == CORRECT)] += 1
    n = int(table.sum())
    if not n:
        why = "not usable: no item was judged for both models"
        return _difference("as judged", NOTHING, why, 0, 0)
    bounds = bonett_price(table, confidence)
    return _difference("as judged", bounds, always_right(len(strata) - n), n, 0)


def _alone(counts: PairCounts, drawn: Drawn, confidence: float) -> tuple[Bounds, str]:
    if drawn is not Drawn.RANDOM:
        return NOTHING, BY_VERDICT_ONLY
    if counts.table.sum() < LEAST_LABELS:
        return NOTHING, f"not usable: needs {LEAST_LABELS} items with both labels"
    assumes = "the labelled items are a random draw of all items"
    return bonett_price(counts.table, confidence), assumes


def _corrected(
    counts: PairCounts, strata: Sequence[ResultStratum], confidence: float
) -> tuple[Bounds, str]:
    first, second = counts.sides
    n_labels = [int(first.sum()), int(second.sum())]
    if min(n_labels) < LEAST_LABELS:
        have = " and ".join(map(str, n_labels))
        return NOTHING, f"not usable: needs {LEAST_LABELS} labels of each model, there are {have}"
    missing = [
        f"{int(n):,} {' / '.join(name)}"
        for name, n, a, b in zip(
            sorted(set(strata)), counts.items, first.sum(axis=-1), second.sum(axis=-1), strict=True
        )
        if not min(a, b)
    ]
    assumes = "within each pair of results the labelled items are a random draw" + (
        f"; too few labels among the {', '.join(missing)}" if missing else ""
    )
    return stratified_difference(counts, confidence), assumes


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
