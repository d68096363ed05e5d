"""Judgements and labels -> estimates of the model's accuracy, each with what it assumes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

import numpy as np

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Judgement, Row, Verdict
from gradegpt.judges.statistics import CONFIDENCE, wilson

from .estimators import (
    LEAST_COUNT,
    NOTHING,
    Bounds,
    LabelCounts,
    gold_only,
    prediction_powered,
    rogan_gladen,
    stratified,
)

Labels = Sequence[Verdict | None]
ResultStratum = tuple[str, ...]
"""The results that judges gave an item: ``correct``, ``incorrect`` or an outcome."""
CORRECT: Final = Verdict.CORRECT.value
INCORRECT: Final = Verdict.INCORRECT.value
BY_VERDICT_ONLY: Final = "not usable: the labels were drawn by verdict, not at random"


class Drawn(StrEnum):
    """How the labelled items were chosen."""

    RANDOM = "random"
    BY_VERDICT = "by verdict"


class Estimate(Row):
    """A number with its interval, and the method, counts and assumptions behind it.

    The number and its limits are None where the method must not be used; ``assumes`` then says why.
    """

    method: str
    low: float | None
    high: float | None
    n_items: int
    n_labels: int
    assumes: str


class Accuracy(Estimate):
    """An accuracy in [0, 1]."""

    accuracy: float | None


def made(
    method: str, bounds: Bounds, assumes: str, n_items: int, n_labels: int
) -> tuple[float | None, dict[str, Any]]:
    """The number of an estimate, and its other fields."""
    value, low, high = (None if math.isnan(float(x)) else float(x) for x in bounds)
    low, high = (None, None) if value is None else (low, high)
    counts = {"n_items": n_items, "n_labels": n_labels}
    return value, {"method": method, "low": low, "high": high, "assumes": assumes, **counts}


def _accuracy(method: str, bounds: Bounds, assumes: str, items: int, labels: int) -> Accuracy:
    value, others = made(method, bounds, assumes, items, labels)
    return Accuracy(accuracy=value, **others)


def always_right(left: int) -> str:
    """What it assumes to take the judge's own verdicts."""
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
    judges: Sequence[Sequence[Judgement]],
    labels: Labels,
    drawn: Drawn,
    confidence: float = CONFIDENCE,
) -> list[Accuracy]:
    """The judge's own share, labels alone, the stratified estimate, and PPI++.

    Args:
        judges: Judgements of the same items; the first judge is the one that is corrected, the
            others refine the strata.
        labels: The label of each item, None where it has none.
        drawn: How the labelled items were chosen.
        confidence: The level of the intervals.

    Raises:
        InputError: no item has a label, or no item was judged.

    """
    names, counts = counts_of(strata_of(judges), labels)
    items, n_labels = int(counts.items.sum()), int(counts.labelled.sum())
    if not n_labels:
        raise InputError("no judged item has a label; label some: --pick 60 -o labels.csv")
    alone, powered = (NOTHING, BY_VERDICT_ONLY), (NOTHING, BY_VERDICT_ONLY)
    if drawn is Drawn.RANDOM:
        alone = gold_only(counts, confidence), "the labelled items are a random draw of all items"
        powered = _powered(names, counts, confidence)
    return [
        _as_judged(names, counts, confidence),
        _accuracy("labels alone", *alone, items, n_labels),
        _accuracy(
            "stratified", stratified(counts, confidence), _unknown(names, counts), items, n_labels
        ),
        _accuracy("PPI++", *powered, items, n_labels),
    ]


def from_pool(
    judgements: Sequence[Judgement],
    pool: Sequence[Judgement],
    labels: Labels,
    drawn: Drawn,
    confidence: float = CONFIDENCE,
) -> list[Accuracy]:
    """The judge's own share, and Rogan and Gladen's estimate from labels of another pool.

    Raises:
        InputError: the labels of the pool were drawn by verdict, which biases how often the judge
            accepts a right answer; or the pool has no label of either kind.

    """
    if drawn is not Drawn.RANDOM:
        raise InputError("the pool's labels were drawn by verdict; draw them at random instead")
    names, counts = counts_of(strata_of([judgements]), [None] * len(judgements))
    both = ((CORRECT,), (INCORRECT,))
    given = [(s, v) for s, v in zip(strata_of([pool]), labels, strict=True) if v and s in both]
    strata, verdicts = zip(*zip(both, (None, None), strict=True), *given, strict=True)
    _, table = counts_of(strata, verdicts)
    if int(table.correct.sum()) in (0, len(given)):
        raise InputError("the pool needs answers labelled correct and others labelled incorrect")
    share = dict(zip(names, counts.items, strict=True))
    yes, judged = share.get(both[0], 0.0), sum(share.get(one, 0.0) for one in both)
    bounds = rogan_gladen(np.array(yes), np.array(judged), table, confidence)
    assumes = "the judge errs as often on these answers as in the pool, on right and on wrong ones"
    if math.isnan(float(bounds.value)):
        assumes = "not usable: in the pool the judge is hardly better than chance"
    corrected = _accuracy("Rogan-Gladen", bounds, assumes, int(judged), len(given))
    return [_as_judged(names, counts, confidence), corrected]


def _as_judged(names: Sequence[ResultStratum], counts: LabelCounts, confidence: float) -> Accuracy:
    by_result: Counter[str] = Counter()
    for (result, *_), n in zip(names, counts.items, strict=True):
        by_result[result] += int(n)
    judged = by_result[CORRECT] + by_result[INCORRECT]
    if not judged:
        raise InputError("no item was judged, so there is no accuracy to correct")
    share = np.array(by_result[CORRECT] / judged)
    bounds = Bounds(share, *wilson(by_result[CORRECT], judged, confidence))
    return _accuracy("as judged", bounds, always_right(by_result.total() - judged), judged, 0)


def _powered(
    names: Sequence[ResultStratum], counts: LabelCounts, confidence: float
) -> tuple[Bounds, str]:
    of_result = {CORRECT: 1.0, INCORRECT: 0.0}
    scores = np.array([of_result.get(name[0], 0.5) for name in names])
    bounds = prediction_powered(counts, scores, confidence)
    if math.isnan(float(bounds.value)):
        few = f"not usable: needs {LEAST_COUNT} labels of either kind, and as many errors"
        return bounds, f"{few} of the judge"
    return bounds, "a random draw, and enough labels for a normal interval"


def _unknown(names: Sequence[ResultStratum], counts: LabelCounts) -> str:
    """What the stratified estimate assumes, and which items it knows nothing of."""
    missing = [
        f"{int(n):,} {' and '.join(name)}"
        for name, n, labelled in zip(names, counts.items, counts.labelled, strict=True)
        if n and not labelled
    ]
    assumes = "within each result of the judge the labelled items are a random draw"
    return assumes + (f"; no label among the {', '.join(missing)} (0 to 1)" if missing else "")
