"""Estimators of a model's accuracy, and of two models' difference, from many judgements and labels.

Every function takes counts of shape ``[..., strata]`` and returns arrays ``[...]``, so that one
call serves a report and thousands of simulated data sets (``benchmarks/intervals.py`` and
``differences.py``). A stratum holds the items with one result of the judge or, for two models, one
pair of results. The accuracy is that of the population from which the items were drawn.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from gradegpt.judges.statistics import CONFIDENCE, Values, jeffreys, wilson, z_of

LEAST_COUNT: Final = 15
"""The fewest labels of either kind, and the fewest errors of the judge, for a normal interval."""
LEAST_YOUDEN: Final = 0.2
"""The least sensitivity + specificity - 1 of a judge that Rogan and Gladen's estimate corrects."""


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


def gold_only(counts: LabelCounts, confidence: float = CONFIDENCE) -> Bounds:
    """The share of labelled items that are correct, with Wilson's limits; for random labels."""
    n, k = counts.labelled.sum(axis=-1), counts.correct.sum(axis=-1)
    value = np.divide(k, n, out=np.full_like(k, np.nan), where=n > 0)
    return Bounds(value, *wilson(k, n, confidence))


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


def prediction_powered(
    counts: LabelCounts, scores: Values, confidence: float = CONFIDENCE
) -> Bounds:
    """PPI++ (arXiv 2311.01453, example 6.1 with the power tuning of section 6): a normal interval.

    For random labels. ``scores`` ``[strata]`` are the judge's: 1 correct, 0 incorrect. NaN where
    fewer than ``LEAST_COUNT`` labels are correct, incorrect, or differ from the judge: there its
    interval covers too little.
    """
    items, labelled, correct = counts
    n, rest = labelled.sum(axis=-1), (items - labelled).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = correct.sum(axis=-1) / n
        seen, unseen = (labelled * scores).sum(-1) / n, ((items - labelled) * scores).sum(-1) / rest
        total = items.sum(axis=-1)
        over_all = (items * scores).sum(axis=-1) / total
        spread = (items * scores**2).sum(axis=-1) / total - over_all**2
        covariance = ((correct * scores).sum(axis=-1) / n - mean * seen) * n / (n - 1)
        power = np.clip(covariance / (spread * (1 + n / rest)), 0, 1)
        value = mean + power * (unseen - seen)
        left = 1 - power[..., None] * scores
        squares = (correct * left**2 + (labelled - correct) * (left - 1) ** 2).sum(axis=-1) / n
        residual = (squares - (mean - power * seen) ** 2) * n / (n - 1)
        half = z_of(confidence) * np.sqrt(residual / n + power**2 * spread / rest)
    wrong = labelled.sum(axis=-1) - correct.sum(axis=-1)
    differ = np.where(scores > 0.5, labelled - correct, correct).sum(axis=-1)
    few = np.minimum(np.minimum(wrong, n - wrong), differ) < LEAST_COUNT
    value, half = (np.where(few | (rest <= 0), np.nan, x) for x in (value, half))
    return Bounds(value, np.clip(value - half, 0, 1), np.clip(value + half, 0, 1))


def rogan_gladen(
    judged_correct: Values, judged: Values, pool: LabelCounts, confidence: float = CONFIDENCE
) -> Bounds:
    """The share judged correct, corrected by the judge's sensitivity and specificity elsewhere.

    For labels of another pool. ``pool`` has the strata judged correct and judged incorrect. Rogan
    and Gladen (1978); the limits are those of Lang and Reiczigel (2014), which Lee et al. use
    (arXiv 2511.21140). NaN where the judge is too close to chance (``LEAST_YOUDEN``).
    """
    z = z_of(confidence)
    right, wrong = pool.correct, pool.labelled - pool.correct
    n_right, n_wrong = right.sum(axis=-1) + 2, wrong.sum(axis=-1) + 2
    sensitivity, specificity = (right[..., 0] + 1) / n_right, (wrong[..., 1] + 1) / n_wrong
    n = judged + z**2
    share = (judged_correct + z**2 / 2) / n
    youden = sensitivity + specificity - 1
    youden = np.where(youden < LEAST_YOUDEN, np.nan, youden)
    value = (share + specificity - 1) / youden
    of_right = sensitivity * (1 - sensitivity) / n_right
    of_wrong = specificity * (1 - specificity) / n_wrong
    shift = 2 * z**2 * (value * of_right - (1 - value) * of_wrong)
    spread = share * (1 - share) / n + (1 - value) ** 2 * of_wrong + value**2 * of_right
    half = z * np.sqrt(spread) / youden
    low, high = value + shift - half, value + shift + half
    return Bounds(np.clip(value, 0, 1), np.clip(low, 0, 1), np.clip(high, 0, 1))


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
    def table(self) -> Values:
        """The items with both labels over all strata, ``[..., 2, 2]``."""
        return np.asarray(self.both.sum(axis=-3), dtype=np.float64)

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
    return _difference(PairCounts(items, table[..., None, :, :], none, none), 0.0, confidence)


def stratified_difference(counts: PairCounts, confidence: float = CONFIDENCE) -> Bounds:
    """The difference within each stratum, weighed by the strata's shares of the items.

    For labels drawn at random within each stratum, or over all items. The limits are Bonett and
    Price's, with the two added items divided equally among the strata that have items, and the
    variance of the strata's shares. Items with one label count for that model's share. A stratum
    without labels is unknown: -1 to 1.
    """
    return _difference(counts, 1.0, confidence)


def _difference(counts: PairCounts, sampled: float, confidence: float) -> Bounds:
    """As above; ``sampled`` is 1 where the strata's shares are those of a sample, else 0."""
    total = counts.items.sum(axis=-1, keepdims=True)
    weight = counts.items / total
    added = 1 / np.maximum((counts.items > 0).sum(axis=-1), 1)[..., None, None, None]
    smooth = counts._replace(both=counts.both + added * (1 - np.eye(2)))
    raw, inner = _apart(counts), _apart(smooth)
    variance = np.where(_labels(counts) > 0, _variance(smooth), 1 / z_of(confidence) ** 2)
    value, middle = (weight * raw).sum(axis=-1), (weight * inner).sum(axis=-1)
    between = ((weight * inner**2).sum(axis=-1) - middle**2) / total[..., 0]
    spread = (weight**2 * variance).sum(axis=-1) + sampled * between
    half = z_of(confidence) * np.sqrt(spread)
    return Bounds(value, np.clip(middle - half, -1, 1), np.clip(middle + half, -1, 1))


def _apart(counts: PairCounts) -> Values:
    """The difference of the labelled shares in each stratum; a share without labels is a half."""
    first, second = map(_share, counts.sides)
    return first - second


def _labels(counts: PairCounts) -> Values:
    first, second = counts.sides
    return np.asarray((first + second).sum(axis=-1), dtype=np.float64)


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
