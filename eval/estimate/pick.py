"""Which judgements to label, and how many."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from gradegpt.errors import InputError
from gradegpt.proportions import CONFIDENCE

from .estimate import CORRECT, Stratum, counts_of
from .estimators import Counts, Numbers, stratified

_RIGHT: Final = 0.9
"""The share of right verdicts that a plan assumes where there are no labels yet."""
_FEWEST: Final = 4
"""The fewest labels of a stratum in a plan."""


def pick(strata: Sequence[Stratum], labelled: Sequence[bool], n: int, seed: int) -> list[int]:
    """The places of ``n`` items to label, in random order: as many of each stratum as of others.

    Strata that are used up leave their part to the others. Items that have a label are not picked.

    Raises:
        InputError: fewer than ``n`` items are left.

    """
    rng = random.Random(seed)
    places: dict[Stratum, list[int]] = {name: [] for name in sorted(set(strata))}
    for place, (name, has_label) in enumerate(zip(strata, labelled, strict=True)):
        if not has_label:
            places[name].append(place)
    left = sum(map(len, places.values()))
    if left < n:
        raise InputError(f"cannot pick {n:,} items, as {left:,} are without a label; pick fewer")
    for items in places.values():
        rng.shuffle(items)
    picked: list[int] = []
    while len(picked) < n:
        for items in places.values():
            if items and len(picked) < n:
                picked.append(items.pop())
    rng.shuffle(picked)
    return picked


def labels_for(
    width: float,
    strata: Sequence[Stratum],
    labels: Counts | None = None,
    confidence: float = CONFIDENCE,
) -> int | None:
    """How many labels, as many in each stratum, make the stratified interval so wide.

    The rates within the strata are those of the labels so far, or nine right verdicts in ten. None
    where labels of all items would not be enough.

    Raises:
        InputError: the width is not between 0 and 1.

    """
    if not 0 < width < 1:
        raise InputError(f"--plan {width:g}: the width of an interval is between 0 and 1")
    names, counts = counts_of(strata, [None] * len(strata))
    rate = _rates(names, labels)
    most = int(counts.items.max())
    for n in _growing(most):
        labelled = np.minimum(counts.items, n)
        found = stratified(Counts(counts.items, labelled, labelled * rate), confidence)
        if float(found.high - found.low) <= width:
            return int(labelled.sum())
    return None


def _rates(names: Sequence[Stratum], labels: Counts | None) -> Numbers:
    """The share labelled correct that is expected in each stratum."""
    expected: Numbers = np.array([_RIGHT if name[0] == CORRECT else 1 - _RIGHT for name in names])
    if labels is None:
        return expected
    return (labels.correct + expected) / (labels.labelled + 1)


def _growing(most: int) -> Sequence[int]:
    """Numbers of labels a stratum that are tried."""
    return [n for n in range(_FEWEST, most) if n < 200 or n % 10 == 0] + [most]
