"""The estimator of a model's accuracy from many judgements and few labels.

It takes counts of shape ``[..., strata]`` and returns arrays ``[...]``, so that one call serves a
report and thousands of simulated data sets (``benchmarks/intervals.py``). A stratum holds the items
with one result of the judge. The accuracy is that of the population that the items were drawn from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradegpt.judges.statistics import CONFIDENCE, Values, jeffreys, z_of


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
