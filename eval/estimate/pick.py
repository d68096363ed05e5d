"""Which judgements to label, and how many."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gradegpt.core.errors import InputError
from gradegpt.judges.statistics import CONFIDENCE, Values

from .estimate import CORRECT, INCORRECT, Labels, ResultStratum, counts_of
from .estimators import LabelCounts, stratified

_RIGHT: Final = 0.9
"""The share of right verdicts that a plan assumes where there are no labels yet."""
_FEWEST: Final = 4
"""The fewest labels of a stratum, if it has so many items."""


def allocation(sizes: Values, n: int) -> Values:
    """``n`` labels for strata of these sizes ``[strata]``, in proportion to the sizes' square root.

    That is between as many labels of each stratum, which wastes them on small ones, and a
    proportional draw, which hardly sees the judge's errors in small ones: over the cases of
    ``benchmarks/intervals.py`` its interval is at most 8 % wider than the best of them, equal
    numbers give up to 39 %, a proportional draw up to 29 %.

    Raises:
        InputError: the strata have fewer than ``n`` items.

    """
    left = int(sizes.sum())
    if left < n:
        raise InputError(f"cannot pick {n:,} items, as {left:,} are without a label; pick fewer")
    quota = np.zeros_like(sizes)
    wanted = np.minimum(sizes, _FEWEST)
    if wanted.sum() <= n:
        quota = wanted
    weights = np.sqrt(sizes)
    while quota.sum() < n:
        behind = np.where(quota < sizes, quota / np.maximum(weights, 1), np.inf)
        quota[np.argmin(behind)] += 1
    return quota


def pick(strata: Sequence[ResultStratum], labels: Labels, n: int, seed: int) -> list[int]:
    """The places of ``n`` items to label, in random order, drawn by ``allocation``.

    Items that have a label are not picked.

    Raises:
        InputError: fewer than ``n`` items have no label.

    """
    rng = random.Random(seed)
    places: dict[ResultStratum, list[int]] = {name: [] for name in sorted(set(strata))}
    for place, (name, label) in enumerate(zip(strata, labels, strict=True)):
        if label is None:
            places[name].append(place)
    quota = allocation(np.array([len(items) for items in places.values()], dtype=float), n)
    picked = [
        place
        for items, k in zip(places.values(), quota, strict=True)
        for place in rng.sample(items, int(k))
    ]
    rng.shuffle(picked)
    return picked


def labels_for(
    width: float,
    strata: Sequence[ResultStratum],
    labels: LabelCounts | None = None,
    confidence: float = CONFIDENCE,
) -> int | None:
    """How many labels, drawn by ``allocation``, make the stratified interval so wide.

    The rates within the strata are those of the labels so far, or nine right verdicts in ten. None
    where labels of all items would not be enough.

    Raises:
        InputError: the width is not between 0 and 1.

    """
    if not 0 < width < 1:
        raise InputError(f"--plan {width:g}: the width of an interval is between 0 and 1")
    names, counts = counts_of(strata, [None] * len(strata))
    rate = _rates(names, labels)

    def reached(n: int) -> bool:
        labelled = allocation(counts.items, n)
        found = stratified(LabelCounts(counts.items, labelled, labelled * rate), confidence)
        return bool(found.high - found.low <= width)

    return next((n for n in _growing(len(strata)) if reached(n)), None)


def _rates(names: Sequence[ResultStratum], labels: LabelCounts | None) -> Values:
    """The share labelled correct that is expected in each stratum."""
    of_result = {CORRECT: _RIGHT, INCORRECT: 1 - _RIGHT}
    expected: Values = np.array([of_result.get(name[0], 0.5) for name in names])
    if labels is None:
        return expected
    return (labels.correct + expected) / (labels.labelled + 1)


def _growing(most: int) -> Iterator[int]:
    """Values of labels that are tried: each a tenth more than the one before."""
    n = 2 * _FEWEST
    while n < most:
        yield n
        n += max(1, n // 10)
    yield most
