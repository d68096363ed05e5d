"""Estimators of a model's accuracy, and of two models' difference, from many judgements and labels.

Every function takes counts of shape ``[..., strata]`` and returns arrays ``[...]``, so that one
call serves a report and thousands of simulated data sets (``benchmarks/intervals.py`` and
``differences.py``). A stratum holds the items with one result of the judge or, for two models, one
pair of results. The accuracy is that of the population from which the items were drawn.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from gradegpt.judges.statistics import CONFIDENCE, Values, jeffreys, z_of


class LabelCounts(NamedTuple):
    """Items, labelled items and those labelled correct, each ``[..., strata]``."""

    items: Values
    labelled: Values
    correct: Values


class Bounds(NamedTuple):
    """An estimate with its limits, each ``[...]``; NaN where the method must not be used."""

    value: Values
    low: Values
    high: Values


NOTHING: Final = Bounds(np.array(np.nan), np.array(np.nan), np.array(np.nan))
"""The estimate of a method that must not be used."""


def stratified(counts: LabelCounts, confidence: float = CONFIDENCE) -> Bounds:
    """The accuracy within each stratum, weighed by the strata's shares of the items.

    For labels drawn at random within each stratum, or over all items. It is the efficient estimate
    (arXiv 2601.05420). The limits of each stratum are Jeffreys', combined by MOVER (Zou and Donner
    2008), with the variance of the shares; Wilson's would be wider where a stratum has few errors.
    A stratum without labels is unknown: 0 to 1.
    """
    items, n, k = counts
    total = items.sum(axis=-1, keepdims=True)
    share = items / total
    rate = np.divide(k, n, out=np.full_like(k, 0.5), where=n > 0)
    low, high = jeffreys(k, n, confidence)
    value = (share * rate).sum(axis=-1)
    between = (share * rate**2).sum(axis=-1) - value**2
    drawn = z_of(confidence) ** 2 * between / total[..., 0]
    below = np.sqrt(((share * (rate - low)) ** 2).sum(axis=-1) + drawn)
    above = np.sqrt(((share * (high - rate)) ** 2).sum(axis=-1) + drawn)
    return Bounds(value, np.clip(value - below, 0, 1), np.clip(value + above, 0, 1))


LEAST_LABELS: Final = 30
"""The fewest labels of each model: the coverage of the intervals was measured from here on."""


class PairCounts(NamedTuple):
    """Items and labels by stratum.

    ``items`` is ``[..., strata]``. ``both`` ``[..., strata, 2, 2]`` counts the items with both
    labels, by the first model's (0 incorrect, 1 correct) and the second's; ``first`` and ``second``
    ``[..., strata, 2]`` those with one label only.
    """

    items: Values
    both: Values
    first: Values
    second: Values

    @property
    def sides(self) -> tuple[Values, Values]:
        """All labels of each model, ``[..., strata, 2]``."""
        return self.both.sum(axis=-1) + self.first, self.both.sum(axis=-2) + self.second


def bonett_price(table: Values, confidence: float = CONFIDENCE) -> Bounds:
    """The difference of paired shares of ``table`` ``[..., 2, 2]``, with adjusted Wald limits.

    Bonett and Price (2012), equation 4: one item is added to each of the two cells in which the
    models differ. The value is the observed difference.
    """
    none = np.zeros((*table.shape[:-2], 1, 2))
    items = table.sum(axis=(-2, -1))[..., None]
    return stratified_difference(PairCounts(items, table[..., None, :, :], none, none), confidence)


def stratified_difference(counts: PairCounts, confidence: float = CONFIDENCE) -> Bounds:
    """The difference within each stratum, weighed by the strata's shares of the items.

    For labels drawn at random within each stratum, or over all items. The limits are Bonett and
    Price's, with the two added items divided equally among the strata that have items, and the
    variance of the strata's shares. Items with one label count for that model's share. A stratum
    without labels is unknown: -1 to 1.
    """
    total = counts.items.sum(axis=-1, keepdims=True)
    weight = counts.items / total
    added = 1 / np.maximum((counts.items > 0).sum(axis=-1), 1)[..., None, None, None]
    smooth = counts._replace(both=counts.both + added * (1 - np.eye(2)))
    labels = sum(side.sum(axis=-1) for side in counts.sides)
    variance = np.where(labels > 0, _variance(smooth), 1 / z_of(confidence) ** 2)
    inner = _apart(smooth)
    value, middle = (weight * _apart(counts)).sum(axis=-1), (weight * inner).sum(axis=-1)
    between = ((weight * inner**2).sum(axis=-1) - middle**2) / total[..., 0]
    half = z_of(confidence) * np.sqrt((weight**2 * variance).sum(axis=-1) + between)
    return Bounds(value, np.clip(middle - half, -1, 1), np.clip(middle + half, -1, 1))


def _apart(counts: PairCounts) -> Values:
    """The difference of the labelled shares in each stratum; a share without labels is a half."""
    first, second = map(_share, counts.sides)
    return first - second


def _variance(counts: PairCounts) -> Values:
    """The variance of ``_apart``, where every stratum has items with both labels (smoothed)."""
    first, second = counts.sides
    a, b, n = _share(first), _share(second), counts.both.sum(axis=(-2, -1))
    n_first, n_second = first.sum(axis=-1), second.sum(axis=-1)
    right = counts.both[..., 1, 1] / n
    covariance = right - _share(counts.both.sum(axis=-1)) * _share(counts.both.sum(axis=-2))
    each = a * (1 - a) / n_first + b * (1 - b) / n_second
    return np.asarray(each - 2 * covariance * n / (n_first * n_second), dtype=np.float64)


def _share(labels: Values) -> Values:
    """The share of correct labels of ``[..., 2]`` (incorrect, correct); 0.5 without labels."""
    n, k = labels.sum(axis=-1), labels[..., 1]
    share: Values = np.divide(k, n, out=np.full(k.shape, 0.5), where=n > 0)
    return share
