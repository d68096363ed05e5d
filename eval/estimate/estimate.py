"""Judgements and labels -> a model's accuracy, or two models' difference, and what it assumes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Judgement, Row, Verdict
from gradegpt.judges.statistics import CONFIDENCE, numbered, ratio, says_yes, sums
from gradegpt.tables.importers.labelled import item_key

from ..console import percent, signed
from .estimators import (
    LEAST_LABELS,
    NOTHING,
    Bounds,
    LabelCounts,
    PairCounts,
    bonett_price,
    stratified,
    stratified_difference,
)
from .sides import Sides

Labels = Sequence[Verdict | None]
ResultStratum = tuple[str, ...]
"""The results that judges gave an item: ``correct``, ``incorrect`` or an outcome."""
CORRECT: Final = Verdict.CORRECT.value
INCORRECT: Final = Verdict.INCORRECT.value
_JUDGED: Final = (CORRECT, INCORRECT)


class Estimate(Row):
    """An accuracy, or the first model's less the second's, with limits, counts and assumptions.

    ``value`` is in [0, 1], or [-1, 1] for a difference. It and its limits are None where the method
    must not be used; ``assumes`` then says why. Of two models ``n_labels`` is the number of items
    with both labels. Labels are drawn at random over all items or, by ``pick``, within each result
    of the judge.
    """

    method: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int
    n_labels: int
    assumes: str


def _made(method: str, bounds: Bounds, assumes: str, n_items: int, n_labels: int) -> Estimate:
    value, low, high = (None if math.isnan(float(x)) else float(x) for x in bounds)
    return Estimate(
        method=method, value=value, low=low, high=high, n_items=n_items, n_labels=n_labels,
        assumes=assumes,
    )  # fmt: skip


def _always_right(left: int) -> str:
    others = f", and would judge the {left:,} items left open as it did the others" if left else ""
    return f"the judge is always right{others}"


def strata_of(judges: Sequence[Sequence[Judgement]]) -> list[ResultStratum]:
    """The stratum of each item: the results of all judges, ``invalid`` counted as incorrect."""
    return [tuple(map(_result, judgements)) for judgements in zip(*judges, strict=True)]


def _result(judgement: Judgement) -> str:
    if judgement.verdict is None:
        return judgement.outcome.value
    return CORRECT if judgement.verdict is Verdict.CORRECT else INCORRECT


def counts_of(
    strata: Sequence[ResultStratum], labels: Labels
) -> tuple[list[ResultStratum], LabelCounts]:
    """The strata in a fixed order, and their counts ``[strata]``."""
    names = sorted(set(strata))
    items = Counter(strata)
    labelled = Counter(s for s, label in zip(strata, labels, strict=True) if label is not None)
    right = Counter(s for s, label in zip(strata, labels, strict=True) if label is Verdict.CORRECT)
    return names, LabelCounts(*(
        np.array([count[name] for name in names], dtype=np.float64)
        for count in (items, labelled, right)
    ))  # fmt: skip


def estimates(
    items: Sequence[Item],
    judges: Sequence[Sequence[Judgement]],
    labels: Labels,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """The judge's own share, and the stratified estimate that corrects it by the labels.

    Args:
        items: What was judged.
        judges: Judgements of these items; the first judge is the one that is corrected, the
            others refine the strata.
        labels: The label of each item, None where it has none.
        confidence: The level of the intervals.

    Raises:
        InputError: no item has a label, or no item was judged.

    """
    names, counts = counts_of(strata_of(judges), labels)
    n_items, n_labels = int(counts.items.sum()), int(counts.labelled.sum())
    if not n_labels:
        raise InputError("no judged item has a label; label some: --pick 60 -o labels.csv")
    verdicts = [judgement.verdict for judgement in judges[0]]
    right, judged = [v is Verdict.CORRECT for v in verdicts], [v is not None for v in verdicts]
    share = ratio(sums(numbered(map(item_key, items)), right, judged), confidence=confidence)
    if share is None:
        raise InputError("no item was judged, so there is no accuracy to correct")
    own = Bounds(*map(np.array, (share.value, share.interval.low, share.interval.high)))
    unknown = [
        f"{int(n):,} {' and '.join(name)}"
        for name, n, labelled in zip(names, counts.items, counts.labelled, strict=True)
        if n and not labelled
    ]
    assumes = "within each result of the judge the labelled items are a random draw" + (
        f"; no label among the {', '.join(unknown)} (0 to 1)" if unknown else ""
    )
    return [
        _made("as judged", own, _always_right(n_items - sum(judged)), sum(judged), 0),
        _made("stratified", stratified(counts, confidence), assumes, n_items, n_labels),
    ]


def pair_counts(strata: Sequence[ResultStratum], first: Labels, second: Labels) -> PairCounts:
    """The counts of each stratum, in the order of their names."""
    place = {name: n for n, name in enumerate(sorted(set(strata)))}
    items, both = np.zeros(len(place)), np.zeros((len(place), 2, 2))
    alone = np.zeros((2, len(place), 2))
    for name, a, b in zip(strata, first, second, strict=True):
        stratum = place[name]
        items[stratum] += 1
        if a is not None and b is not None:
            both[stratum, int(says_yes(a)), int(says_yes(b))] += 1
        elif (one := a or b) is not None:
            alone[int(a is None), stratum, int(says_yes(one))] += 1
    return PairCounts(items, both, alone[0], alone[1])


def compared(sides: Sides, confidence: float = CONFIDENCE) -> list[Estimate]:
    """The difference as judged, and corrected.

    Raises:
        InputError: no item has a label.

    """
    strata = strata_of([sides.first.only, sides.second.only])
    counts = pair_counts(strata, sides.first.labels, sides.second.labels)
    if not any(side.sum() for side in counts.sides):
        raise InputError("no item has a label; make a sheet: --pick 60 --compare OTHER.jsonl")
    items, pairs = int(counts.items.sum()), int(counts.both.sum())
    return [
        _difference_as_judged(strata, confidence),
        _made("stratified", *_corrected(counts, strata, confidence), items, pairs),
    ]


def _difference_as_judged(strata: Sequence[ResultStratum], confidence: float) -> Estimate:
    table = np.zeros((2, 2))
    for first, second in strata:
        if first in _JUDGED and second in _JUDGED:
            table[int(first == CORRECT), int(second == CORRECT)] += 1
    n = int(table.sum())
    if not n:
        return _made("as judged", NOTHING, "not usable: no item was judged for both models", 0, 0)
    bounds = bonett_price(table, confidence)
    return _made("as judged", bounds, _always_right(len(strata) - n), n, 0)


def _corrected(
    counts: PairCounts, strata: Sequence[ResultStratum], confidence: float
) -> tuple[Bounds, str]:
    labels = [side.sum(axis=-1) for side in counts.sides]
    if min(side.sum() for side in labels) < LEAST_LABELS:
        have = " and ".join(f"{side.sum():.0f}" for side in labels)
        return NOTHING, f"not usable: needs {LEAST_LABELS} labels of each model, there are {have}"
    missing = [
        f"{int(n):,} {' / '.join(name)}"
        for name, n, *both in zip(sorted(set(strata)), counts.items, *labels, strict=True)
        if not min(both)
    ]
    assumes = "within each pair of results the labelled items are a random draw" + (
        f"; too few labels among the {', '.join(missing)}" if missing else ""
    )
    return stratified_difference(counts, confidence), assumes


def in_words(found: Sequence[Estimate], confidence: float = CONFIDENCE) -> str:
    """The answer of ``estimates`` in one sentence: the last one, beside the judge's own share."""
    own, best = found[0], found[-1]
    if best.value is None or best.low is None or best.high is None:
        return f"No corrected accuracy yet: {best.assumes}."
    ends = f"{confidence:.0%} interval {percent(best.low)} to {percent(best.high)}"
    return (
        f"The accuracy is {percent(best.value)} % ({ends}), by {best.n_labels:,} labels; the judge "
        f"alone says {percent(own.value)} %, of the {own.n_items:,} items that it decided."
    )


def difference_in_words(found: Sequence[Estimate], confidence: float = CONFIDENCE) -> str:
    """Which model is better, and whether it may be chance, in one sentence."""
    best = found[-1]
    if best.value is None or best.low is None or best.high is None:
        return f"No corrected difference yet: {best.assumes}."
    sign = -1 if best.value < 0 else 1
    ends = sorted((sign * best.low, sign * best.high))
    interval = f"{confidence:.0%} interval {signed(ends[0])} to {signed(ends[1])}"
    said = (
        f"{'AB'[sign < 0]} is better by {percent(abs(best.value))} points"
        if best.value else "A and B are equally accurate"
    )  # fmt: skip
    chance = "; that may be chance" if best.value and ends[0] <= 0 else ""
    return f"{said} ({interval}), by {best.n_labels:,} items with both labels{chance}."
