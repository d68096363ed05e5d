"""How far a judge's confidences are the shares of its verdicts that are right.

A confidence is the probability that the verdict is right, two-way; a judge without confidences is
not calibrated, and has no number here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradegpt.core.schema import Example, Judgement, Row
from gradegpt.judges.statistics import Interval, Share, Values, numbered, proportion, says_yes
from gradegpt.tables.importers.labelled import item_key

ALL: Final = "all"
"""The name of all methods together."""
_MOST_BINS: Final = 10
_LEAST_ROWS: Final = 30
"""The rows of a bin, where there are so many."""
_NORMAL: Final = 1.96


class Bin(Row):
    """Rows of neighbouring confidences, from ``low`` to ``high``; ``confidence`` is their mean."""

    low: float
    high: float
    n_rows: int
    confidence: float
    accuracy: Share


class Reliability(Row):
    """The calibration of a judge, or of one of its methods, on judged and labelled rows.

    ``n_uncalibrated`` further rows have no confidence. ``error`` is the root of the mean squared
    difference of confidence and accuracy over the bins, without the part that is due to chance; see
    ``calibration``.
    """

    n_rows: int
    n_questions: int
    n_uncalibrated: int
    confidence: float
    accuracy: Share
    error: float
    interval: Interval
    bins: tuple[Bin, ...]


class Rated(NamedTuple):
    """Rows that have a confidence: it, whether the verdict is right, and the question; ``[n]``."""

    confidence: Values
    right: NDArray[np.bool_]
    question: NDArray[np.int64]

    def of(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Rated:
        """The selected rows."""
        return Rated(self.confidence[rows], self.right[rows], self.question[rows])


def calibrations(
    examples: Sequence[Example], judgements: Sequence[Judgement]
) -> dict[str, Reliability | None]:
    """The calibration of all judged rows, under ``ALL``, and of the rows of each method.

    None where no row has a confidence. The sequences have the same length and order.
    """
    questions = numbered(item_key(example) for example in examples)
    judged = [n for n, j in enumerate(judgements) if j.verdict is not None]
    methods = list(dict.fromkeys(judgements[n].method for n in judged))
    found = {}
    for method in (ALL, *methods):
        rows = [n for n in judged if method in (ALL, judgements[n].method)]
        known = [(n, c) for n in rows if (c := judgements[n].confidence) is not None]
        right = [says_yes(judgements[n].verdict) is says_yes(examples[n].verdict) for n, _ in known]
        rated = Rated(
            np.array([confidence for _, confidence in known]),
            np.array(right, dtype=bool),
            questions[[n for n, _ in known]],
        )
        unknown = len(rows) - len(known)
        found[method] = calibration(rated, unknown) if known else None
    return found


def calibration(rows: Rated, n_uncalibrated: int = 0) -> Reliability:
    """The calibration of at least one row.

    Bins have equally many rows: one for every 30, at most ten; equal confidences share a bin. The
    squared error is the debiased estimator of Kumar, Liang and Ma (2019, section 5): the squared
    difference of each bin less its variance, which is taken over questions. Its limits are normal,
    with the variance 4 d'Cd + 2 tr CC of the squared length of a normal vector of mean d and
    covariance C, in which no variance is less than Agresti and Coull's (1998): a bin where all is
    right is not certain. The lower limit is at least that of the mean difference over all bins,
    which the root mean square exceeds.

    A simulation (``benchmarks/calibration_error.py``) chose this estimator: its interval held the
    truth in 92 to 100 % of the samples of each of 48 cases. The plain expected calibration error is
    never 0 on few rows, and neither is the bootstrap's lower limit of it.
    """
    bins = [rows.of(place) for place in equal_mass(rows.confidence)]
    weights = np.array([len(b.right) for b in bins]) / len(rows.right)
    gaps = np.array([float((b.right - b.confidence).mean()) for b in bins])
    by_chance, safe = _covariances(bins)
    square = float(weights @ (gaps**2 - by_chance))
    scaled, covariance = np.sqrt(weights) * gaps, safe * np.sqrt(np.outer(weights, weights))
    spread = np.sqrt(4 * scaled @ covariance @ scaled + 2 * (covariance**2).sum())
    ends = (square + z * spread for z in (-_NORMAL, 0, _NORMAL))
    low, middle, high = (float(np.sqrt(max(0.0, end))) for end in ends)
    of_mean = abs(weights @ gaps) - _NORMAL * np.sqrt(weights @ safe @ weights)
    low = max(low, min(float(of_mean), middle))
    return Reliability(
        n_rows=len(rows.right),
        n_questions=len(np.unique(rows.question)),
        n_uncalibrated=n_uncalibrated,
        confidence=float(rows.confidence.mean()),
        accuracy=proportion(rows.right, rows.question),
        error=middle,
        interval=Interval(low=low, high=high),
        bins=tuple(
            Bin(
                low=float(one.confidence.min()),
                high=float(one.confidence.max()),
                n_rows=len(one.right),
                confidence=float(one.confidence.mean()),
                accuracy=proportion(one.right, one.question),
            )
            for one in bins
        ),
    )


def equal_mass(confidence: Values) -> list[NDArray[np.int64]]:
    """The rows of each bin, by rising confidence; equal values are in one bin.

    A value's bin is that of its mean rank; bins of too few rows are joined with their neighbour.

    >>> [bin.tolist() for bin in equal_mass(np.array([0.9, 0.8]))]
    [[0, 1]]
    """
    n_bins = min(_MOST_BINS, max(1, len(confidence) // _LEAST_ROWS))
    _, value, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[value]
    places = (n_bins * ranks / len(confidence)).astype(np.int64)
    bins: list[NDArray[np.int64]] = []
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        if bins and min(len(rows), len(bins[-1])) < _LEAST_ROWS:
            bins[-1] = np.sort(np.append(bins[-1], rows))
        else:
            bins.append(rows)
    return bins


def _covariances(bins: Sequence[Rated]) -> tuple[Values, Values]:
    """The variance of each bin's difference, ``[bins]``, and a covariance that is safe for limits.

    Both are over questions, whose rows may be in several bins; a bin of one question has the
    variance of a calibrated judge.
    """
    n_questions = 1 + max(int(one.question.max()) for one in bins)
    influence = np.zeros((n_questions, len(bins)))
    alone, least = np.zeros(len(bins)), np.zeros(len(bins))
    for place, one in enumerate(bins):
        gaps, n = one.right - one.confidence, len(np.unique(one.question))
        sums = np.bincount(one.question, gaps - gaps.mean(), n_questions)
        influence[:, place] = sums / len(gaps) * np.sqrt(n / max(1, n - 1))
        if n == 1:  # the variance where every confidence is right and rows are independent
            alone[place] = (one.confidence * (1 - one.confidence)).sum() / len(gaps) ** 2
        share = (n * float(one.right.mean()) + 2) / (n + 4)
        least[place] = share * (1 - share) / n
    covariance = influence.T @ influence
    variance = np.diag(covariance) + alone
    np.fill_diagonal(covariance, np.maximum(variance, least))
    return variance, covariance
