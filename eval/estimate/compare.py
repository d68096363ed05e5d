"""Two models' judged answers to the same items, and labels -> their accuracies' difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gradegpt.agreement import says_yes
from gradegpt.errors import InputError
from gradegpt.proportions import CONFIDENCE
from gradegpt.schema import Item, Judgement, Row, Verdict
from gradegpt.tables import Row as TableRow

from ..report.judged import ANSWER_OF, has_column, read_judged
from ..report.results import Results
from .estimate import CORRECT, INCORRECT, Drawn, Labels, Stratum, strata_of
from .estimators import Interval
from .paired import LEAST_LABELS, PairCounts, bonett_price, mcnemar, stratified_difference
from .pick import pick

FIRST: Final = "A"
SECOND: Final = "B"
"""The names of the two models in a sheet of labels, which does not say who answered."""
_HOW: Final = "--pick 60 --compare OTHER.jsonl -o labels.csv"
_RANDOMLY: Final = "not usable: the labels were drawn by verdict, not at random"
_JUDGED: Final = (CORRECT, INCORRECT)


class Sides(NamedTuple):
    """The items that both models answered, in the first file's order, and what each has of them.

    ``left_out`` are the items that only one file has.
    """

    items: tuple[list[Item], list[Item]]
    judgements: tuple[list[Judgement], list[Judgement]]
    labels: tuple[list[Verdict | None], list[Verdict | None]]
    left_out: int

    @property
    def strata(self) -> list[Stratum]:
        """The pair of results of each item."""
        return strata_of(self.judgements)


class Difference(Row):
    """The first model's accuracy less the second's, in [-1, 1]; as ``Estimate`` in all else.

    ``n_labels`` is the number of items with both labels.
    """

    method: str
    difference: float | None
    low: float | None
    high: float | None
    n_items: int
    n_labels: int
    assumes: str


class Comparison(Row):
    """The estimates; and of the items with both labels, those that only one model has right.

    ``p`` is that of McNemar's exact test of equal accuracies; None where the labels were drawn by
    verdict, to which it does not apply.
    """

    estimates: tuple[Difference, ...]
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
    places = [_places(results, path) for results, path in zip(found, judged, strict=True)]
    shared = [key for key in places[0] if key in places[1]]
    if not shared:
        raise InputError(f"{judged[0]} and {judged[1]} share no id; give answers to the same items")
    kept = [[place[key] for key in shared] for place in places]
    a, b = (_kept(results, at) for results, at in zip(found, kept, strict=True))
    left_out = sum(len(place) - len(shared) for place in places)
    return Sides((a[0], b[0]), (a[1], b[1]), (a[2], b[2]), left_out)


def _places(results: Results, path: Path) -> dict[str, int]:
    places = {item.id: place for place, item in enumerate(results.items)}
    if len(places) < len(results.items):
        twice = Counter(item.id for item in results.items).most_common(1)[0][0]
        raise InputError(f"{path}: two rows have the id {twice!r}, so they cannot be matched by id")
    return places


def _kept(
    results: Results, places: Sequence[int]
) -> tuple[list[Item], list[Judgement], list[Verdict | None]]:
    (judgements,) = results.judges.values()
    return (
        [results.items[n] for n in places], [judgements[n] for n in places],
        [results.labels[n] for n in places],
    )  # fmt: skip


def pair_counts(strata: Sequence[Stratum], first: Labels, second: Labels) -> PairCounts:
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


def compared(sides: Sides, drawn: Drawn, confidence: float = CONFIDENCE) -> Comparison:
    """The difference as judged, by the labels alone, and corrected.

    Raises:
        InputError: no item has a label.

    """
    strata = sides.strata
    counts = pair_counts(strata, *sides.labels)
    n_labels = tuple(int(side.sum()) for side in counts.sides)
    if not any(n_labels):
        raise InputError(f"no item has a label; make a sheet: {_HOW}")
    found = [
        _as_judged(strata, confidence),
        _alone(counts, drawn, confidence),
        _corrected(counts, n_labels, strata, confidence),
    ]
    first, second = int(counts.table[1, 0]), int(counts.table[0, 1])
    p = mcnemar(first, second) if drawn is Drawn.RANDOM else None
    return Comparison(estimates=tuple(found), first_only=first, second_only=second, p=p)


def _as_judged(strata: Sequence[Stratum], confidence: float) -> Difference:
    table = np.zeros((2, 2))
    for first, second in strata:
        if first in _JUDGED and second in _JUDGED:
            table[int(first == CORRECT), int(second == CORRECT)] += 1
    n = int(table.sum())
    if not n:
        return _not_usable("as judged", "not usable: no item was judged for both models", 0, 0)
    left = len(strata) - n
    assumes = "the judge is always right" + (
        f", and would judge the {left:,} items left open as it did the others" if left else ""
    )
    return _made("as judged", bonett_price(table, confidence), assumes, n, 0)


def _alone(counts: PairCounts, drawn: Drawn, confidence: float) -> Difference:
    items, pairs = int(counts.items.sum()), int(counts.table.sum())
    few = f"not usable: needs {LEAST_LABELS} items with both labels" if pairs < LEAST_LABELS else ""
    if reason := (_RANDOMLY if drawn is not Drawn.RANDOM else few):
        return _not_usable("labels alone", reason, items, pairs)
    assumes = "the labelled items are a random draw of all items"
    return _made("labels alone", bonett_price(counts.table, confidence), assumes, items, pairs)


def _corrected(
    counts: PairCounts, n_labels: Sequence[int], strata: Sequence[Stratum], confidence: float
) -> Difference:
    items, pairs = int(counts.items.sum()), int(counts.table.sum())
    if min(n_labels) < LEAST_LABELS:
        have = " and ".join(map(str, n_labels))
        reason = f"not usable: needs {LEAST_LABELS} labels of each model, there are {have}"
        return _not_usable("stratified", reason, items, pairs)
    first, second = counts.sides
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
    return _made("stratified", stratified_difference(counts, confidence), assumes, items, pairs)


def _made(method: str, found: Interval, assumes: str, items: int, labels: int) -> Difference:
    value, low, high = (None if math.isnan(float(x)) else float(x) for x in found)
    return Difference(
        method=method, difference=value, low=low, high=high, n_items=items, n_labels=labels,
        assumes=assumes,
    )  # fmt: skip


def _not_usable(method: str, reason: str, items: int, labels: int) -> Difference:
    nan = np.array(math.nan)
    return _made(method, Interval(nan, nan, nan), reason, items, labels)


def sheet(sides: Sides, n: int, seed: int) -> list[TableRow]:
    """Rows to label for ``n`` items without a label, by the pair of results; two rows an item.

    Two responses that are the same text have one row, so that they have one label.

    Raises:
        InputError: fewer than ``n`` items have no label.

    """
    labelled = [a is not None or b is not None for a, b in zip(*sides.labels, strict=True)]
    places = pick(sides.strata, labelled, n, seed)
    return [
        {
            "id": item.id, ANSWER_OF: whose, "question": item.question,
            "reference": " / ".join(item.reference), "response": item.response, "label": "",
            "drawn": Drawn.BY_VERDICT.value,
        }
        for place in places
        for whose, item in _to_label(*(items[place] for items in sides.items))
    ]  # fmt: skip


def _to_label(a: Item, b: Item) -> list[tuple[str, Item]]:
    if a.response.strip() == b.response.strip() and a.reference == b.reference:
        return [(f"{FIRST} and {SECOND}", a)]
    return [(FIRST, a), (SECOND, b)]
