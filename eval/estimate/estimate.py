"""Judgements and labels -> estimates of the model's accuracy, each with what it assumes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np

from gradegpt.errors import InputError
from gradegpt.proportions import CONFIDENCE, wilson
from gradegpt.schema import Judgement, Row, Verdict

from .estimators import (
    LEAST_COUNT,
    Counts,
    Interval,
    gold_only,
    prediction_powered,
    rogan_gladen,
    stratified,
)

Labels = Sequence[Verdict | None]
Stratum = tuple[str, ...]
"""The results that judges gave an item: ``correct``, ``incorrect`` or an outcome."""
CORRECT: Final = Verdict.CORRECT.value
INCORRECT: Final = Verdict.INCORRECT.value


class Drawn(StrEnum):
    """How the labelled items were chosen."""

    RANDOM = "random"
    BY_VERDICT = "by verdict"


class Estimate(Row):
    """An accuracy in [0, 1] with its interval, and the method, counts and assumptions behind it.

    ``accuracy``, ``low`` and ``high`` are None where the method must not be used; ``assumes`` then
    says why.
    """

    method: str
    accuracy: float | None
    low: float | None
    high: float | None
    n_items: int
    n_labels: int
    assumes: str


def strata_of(judges: Sequence[Sequence[Judgement]]) -> list[Stratum]:
    """The stratum of each item: the results of all judges, ``invalid`` counted as incorrect."""
    return [tuple(map(_result, judgements)) for judgements in zip(*judges, strict=True)]


def counts_of(strata: Sequence[Stratum], labels: Labels) -> tuple[list[Stratum], Counts]:
    """The strata in a fixed order, and their counts ``[strata]``."""
    names = sorted(set(strata))
    items = Counter(strata)
    labelled = Counter(s for s, label in zip(strata, labels, strict=True) if label is not None)
    right = Counter(s for s, label in zip(strata, labels, strict=True) if label is Verdict.CORRECT)
    return names, Counts(*(
        np.array([count[name] for name in names], dtype=np.float64)
        for count in (items, labelled, right)
    ))  # fmt: skip


def estimates(
    judges: Sequence[Sequence[Judgement]],
    labels: Labels,
    drawn: Drawn,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
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
    n_labels = int(counts.labelled.sum())
    if not n_labels:
        raise InputError("no judged item has a label; label some: --pick 60 -o labels.csv")
    found = [_raw([name[0] for name in names], counts, confidence)]
    found.append(_made("labels alone", *_alone(counts, drawn, confidence), counts))
    found.append(
        _made("stratified", stratified(counts, confidence), _unknown(names, counts), counts)
    )
    found.append(_made("PPI++", *_powered(names, counts, drawn, confidence), counts))
    return found


def from_pool(
    judgements: Sequence[Judgement],
    pool: Sequence[Judgement],
    labels: Labels,
    drawn: Drawn,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """The judge's own share, and Rogan and Gladen's estimate from labels of another pool.

    Raises:
        InputError: the labels of the pool were drawn by verdict, which biases how often the judge
            accepts a right answer; or the pool has no label of either kind.

    """
    if drawn is not Drawn.RANDOM:
        raise InputError("the pool's labels were drawn by verdict; draw them at random instead")
    names, counts = counts_of(strata_of([judgements]), [None] * len(judgements))
    raw = _raw([name[0] for name in names], counts, confidence)
    given = [
        (stratum[0], label)
        for stratum, label in zip(strata_of([pool]), labels, strict=True)
        if label is not None and stratum[0] in (CORRECT, INCORRECT)
    ]
    _, table = counts_of([(CORRECT,), (INCORRECT,), *((r,) for r, _ in given)],
                         [None, None, *(label for _, label in given)])  # fmt: skip
    n_right = int(table.correct.sum())
    if not n_right or n_right == len(given):
        raise InputError("the pool needs answers labelled correct and others labelled incorrect")
    share = {name: n for (name, *_), n in zip(names, counts.items, strict=True)}
    judged = share.get(CORRECT, 0.0) + share.get(INCORRECT, 0.0)
    yes = np.array(share.get(CORRECT, 0.0))
    interval = rogan_gladen(yes, np.array(judged), table, confidence)
    assumes = "the judge errs as often on these answers as in the pool, on right and on wrong ones"
    if math.isnan(float(interval.value)):
        assumes = "not usable: in the pool the judge is hardly better than chance"
    made = _made("Rogan-Gladen", interval, assumes, counts)
    return [raw, made.model_copy(update={"n_items": int(judged), "n_labels": len(given)})]


def _result(judgement: Judgement) -> str:
    if judgement.verdict is None:
        return judgement.outcome.value
    return CORRECT if judgement.verdict is Verdict.CORRECT else INCORRECT


def _raw(results: Sequence[str], counts: Counts, confidence: float) -> Estimate:
    by_result: Counter[str] = Counter()
    for result, n in zip(results, counts.items, strict=True):
        by_result[result] += int(n)
    judged = by_result[CORRECT] + by_result[INCORRECT]
    if not judged:
        raise InputError("no item was judged, so there is no accuracy to correct")
    low, high = wilson(by_result[CORRECT], judged, confidence)
    share = Interval(np.array(by_result[CORRECT] / judged), low, high)
    left = by_result.total() - judged
    assumes = "the judge is always right"
    assumes += (
        f", and would judge the {left:,} items left open as it did the others" if left else ""
    )
    made = _made("as judged", share, assumes, counts)
    return made.model_copy(update={"n_items": judged, "n_labels": 0})


def _alone(counts: Counts, drawn: Drawn, confidence: float) -> tuple[Interval, str]:
    if drawn is Drawn.RANDOM:
        return gold_only(counts, confidence), "the labelled items are a random draw of all items"
    return _no_interval(), "not usable: the labels were drawn by verdict, not at random"


def _powered(
    names: Sequence[Stratum], counts: Counts, drawn: Drawn, confidence: float
) -> tuple[Interval, str]:
    if drawn is not Drawn.RANDOM:
        return _no_interval(), "not usable: the labels were drawn by verdict, not at random"
    of_result = {CORRECT: 1.0, INCORRECT: 0.0}
    scores = np.array([of_result.get(name[0], 0.5) for name in names])
    interval = prediction_powered(counts, scores, confidence)
    if math.isnan(float(interval.value)):
        few = f"not usable: needs {LEAST_COUNT} labels of either kind, and as many errors"
        return interval, f"{few} of the judge"
    return interval, "a random draw, and enough labels for a normal interval"


def _unknown(names: Sequence[Stratum], counts: Counts) -> str:
    """What the stratified estimate assumes, and which items it knows nothing of."""
    missing = [
        f"{int(n):,} {' and '.join(name)}"
        for name, n, labelled in zip(names, counts.items, counts.labelled, strict=True)
        if n and not labelled
    ]
    assumes = "within each result of the judge the labelled items are a random draw"
    return assumes + (f"; no label among the {', '.join(missing)} (0 to 1)" if missing else "")


def _no_interval() -> Interval:
    return Interval(*(np.array(np.nan) for _ in range(3)))


def _made(method: str, interval: Interval, assumes: str, counts: Counts) -> Estimate:
    value, low, high = (None if math.isnan(float(x)) else float(x) for x in interval)
    if value is None:
        low = high = None
    return Estimate(
        method=method, accuracy=value, low=low, high=high, n_items=int(counts.items.sum()),
        n_labels=int(counts.labelled.sum()), assumes=assumes,
    )  # fmt: skip
