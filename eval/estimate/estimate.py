"""Judgements and labels -> a model's accuracy, and what it assumes.

The estimator takes counts of shape ``[..., strata]`` and returns arrays ``[...]``, so that one call
serves a report and thousands of simulated data sets (``benchmarks/intervals.py``). A stratum holds
the items with one result of the judge. The accuracy is that of the population that the items were
drawn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item, Judgement, Row, Verdict
from gradegpt.judges.statistics import (
    CONFIDENCE,
    Values,
    independent,
    jeffreys,
    numbered,
    ratio,
    says_yes,
    sums,
    z_of,
)
from gradegpt.tables.importers.labelled import item_key

from ..console import percent
from ..metrics import FEW_OPEN

Labels = Sequence[Verdict | None]
CORRECT: Final = Verdict.CORRECT.value
INCORRECT: Final = Verdict.INCORRECT.value


class LabelCounts(NamedTuple):
    """Items, labelled items and those labelled correct, each ``[..., strata]``."""

    items: Values
    labelled: Values
    correct: Values


class Bounds(NamedTuple):
    """An estimate with its limits, each ``[...]``."""

    value: Values
    low: Values
    high: Values


def stratified(counts: LabelCounts) -> Bounds:
    """The accuracy within each stratum, weighed by the strata's shares of the items.

    For labels drawn at random within each stratum, or over all items. It is the efficient estimate
    (arXiv 2601.05420). The limits of each stratum are Jeffreys', combined by MOVER (Zou and Donner
    2008), with the variance of the shares; Wilson's would be wider where a stratum has few errors.
    A stratum without labels is unknown: 0 to 1. Where questions have several rows, the counts are
    to be divided by their design effect (Kish 1965), as ``estimates`` does.
    """
    items, n, k = counts
    total = items.sum(axis=-1, keepdims=True)
    share = items / total
    rate = np.divide(k, n, out=np.full_like(k, 0.5), where=n > 0)
    low, high = jeffreys(k, n)
    value = (share * rate).sum(axis=-1)
    between = (share * rate**2).sum(axis=-1) - value**2
    drawn = z_of(CONFIDENCE) ** 2 * between / total[..., 0]
    below = np.sqrt(((share * (rate - low)) ** 2).sum(axis=-1) + drawn)
    above = np.sqrt(((share * (high - rate)) ** 2).sum(axis=-1) + drawn)
    return Bounds(value, np.clip(value - below, 0, 1), np.clip(value + above, 0, 1))


class Estimate(Row):
    """An accuracy in [0, 1] with limits, counts and assumptions.

    Labels are drawn at random over all items or, by ``pick``, within each result of the judge.
    """

    method: str
    value: float
    low: float
    high: float
    n_items: int
    n_labels: int
    assumes: str


def _made(method: str, bounds: Bounds, assumes: str, n_items: int, n_labels: int) -> Estimate:
    value, low, high = map(float, bounds)
    return Estimate(
        method=method, value=value, low=low, high=high, n_items=n_items, n_labels=n_labels,
        assumes=assumes,
    )  # fmt: skip


def strata_of(judgements: Sequence[Judgement]) -> list[str]:
    """The result of each item: ``correct``, ``incorrect``, also of ``invalid``, or its outcome."""
    return [
        j.outcome.value if j.verdict is None else CORRECT if says_yes(j.verdict) else INCORRECT
        for j in judgements
    ]


def counts_of(strata: Sequence[str], labels: Labels) -> tuple[list[str], LabelCounts]:
    """The strata in a fixed order, and their counts ``[strata]``."""
    names = sorted(set(strata))
    items = Counter(strata)
    labelled = Counter(s for s, label in zip(strata, labels, strict=True) if label is not None)
    right = Counter(s for s, label in zip(strata, labels, strict=True) if label is Verdict.CORRECT)
    return names, LabelCounts(*(
        np.array([count[name] for name in names], dtype=np.float64)
        for count in (items, labelled, right)
    ))  # fmt: skip


def _independent(
    counts: LabelCounts,
    stratum: NDArray[np.int64],
    labels: Labels,
    question: NDArray[np.int64],
) -> LabelCounts:
    """The counts over the design effect over questions, whose rows are not independent.

    It is that of the linearised estimate, to which each row adds its stratum's rate and, labelled,
    what it differs from that. Where all labels of a stratum agree, they count once a question.
    """
    items, n, k = counts
    rate = np.divide(k, n, out=np.full_like(k, 0.5), where=n > 0)[stratum]
    right = np.array([label is Verdict.CORRECT for label in labels])
    known = np.array([label is not None for label in labels])
    weight = (items / np.maximum(n, 1))[stratum]
    parts = (rate - rate.mean() + known * weight * (right - rate)).round(9)
    totals, rows = sums(question, parts, np.ones(len(parts))).T
    effect = len(parts) / independent(totals, rows, float(parts.var()))
    asked = [len({*question[known & (stratum == one)]}) for one in range(len(n))]
    alike = np.where((k == 0) | (k == n), n / np.maximum(asked, 1), 1.0)
    each = np.maximum(effect, alike)
    return LabelCounts(items / effect, n / each, k / each)


def estimates(
    items: Sequence[Item], judgements: Sequence[Judgement], labels: Labels
) -> list[Estimate]:
    """The judge's own share, and the stratified estimate that corrects it by the labels.

    Items, judgements and labels, None where there is none, have one order.

    Raises:
        InputError: no item has a label, none of a frequent verdict has one, or none was judged.

    """
    strata = strata_of(judgements)
    names, counts = counts_of(strata, labels)
    n_items, n_labels = int(counts.items.sum()), int(counts.labelled.sum())
    if not n_labels:
        raise InputError("no judged item has a label; label some: --pick 60 -o labels.csv")
    _check_known(names, counts)
    verdicts = [judgement.verdict for judgement in judgements]
    right, judged = [v is Verdict.CORRECT for v in verdicts], [v is not None for v in verdicts]
    question = numbered(map(item_key, items))
    share = ratio(sums(question, right, judged))
    if share is None:
        raise InputError("no item was judged, so there is no accuracy to correct")
    own = Bounds(*map(np.array, (share.value, share.interval.low, share.interval.high)))
    unknown = [
        f"{int(n):,} {name}"
        for name, n, labelled in zip(names, counts.items, counts.labelled, strict=True)
        if n and not labelled
    ]
    assumes = "within each result of the judge the labelled items are a random draw" + (
        f"; no label among the {', '.join(unknown)} (0 to 1)" if unknown else ""
    )
    left = n_items - sum(judged)
    others = f", and would judge the {left:,} items left open as it did the others" if left else ""
    stratum = np.array([names.index(one) for one in strata])
    sized = _independent(counts, stratum, labels, question)
    return [
        _made("as judged", own, f"the judge is always right{others}", sum(judged), 0),
        _made("stratified", stratified(sized), assumes, n_items, n_labels),
    ]


def _check_known(names: Sequence[str], counts: LabelCounts) -> None:
    """Labels of open items alone say nothing of the judge's errors."""
    unknown = [
        f"the {int(n):,} judged {name}"
        for name, n, labelled in zip(names, counts.items, counts.labelled, strict=True)
        if name in (CORRECT, INCORRECT) and not labelled and n > FEW_OPEN * counts.items.sum()
    ]
    if unknown:
        what = f"no label is among {' and '.join(unknown)}, so their errors are unknown"
        raise InputError(f"{what}; label some of every verdict: --pick 60 -o labels.csv")


def in_words(found: Sequence[Estimate]) -> str:
    """The answer of ``estimates`` in one sentence: the last one, beside the judge's own share."""
    own, best = found[0], found[-1]
    ends = f"95 % interval {percent(best.low)} to {percent(best.high)}"
    return (
        f"The accuracy is {percent(best.value)} % ({ends}), by {best.n_labels:,} labels; the judge "
        f"alone says {percent(own.value)} %, of the {own.n_items:,} items that it decided."
    )
