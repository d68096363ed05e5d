"""Shares with their intervals, rows by tag, and correlations, for several reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradegpt.agreement import resampled
from gradegpt.proportions import wilson
from gradegpt.schema import Row

from .metrics import Interval, share_interval

DRAWS: Final = 2000
Values = NDArray[np.float64]
Tags = Mapping[str, str | Sequence[str]]
T = TypeVar("T")


class Share(Row):
    """A share in [0, 1] over ``n_questions``, with its interval over questions."""

    value: float
    interval: Interval
    n_questions: int


def ratio(pairs: Iterable[tuple[float, float]] | Values, seed: int) -> Share | None:
    """The sum of the first values over the sum of the second; None where nothing is counted.

    Each pair belongs to a question, whose answers are not independent, and is resampled as a whole;
    pairs whose second value is 0 are left out.
    """
    some = [pair for pair in pairs if pair[1]]
    return share(some, seed) if some else None


def share(pairs: Sequence[tuple[float, float]], seed: int) -> Share:
    """``ratio`` of at least one pair, where no second value is 0."""
    table = np.array(pairs, dtype=np.float64)
    totals = resampled(table, DRAWS, seed)
    values = totals[:, 0] / totals[:, 1]
    interval = share_interval(values, len(table))
    return Share(value=float(values[0]), interval=interval, n_questions=len(table))


def proportion(hits: NDArray[np.bool_], questions: NDArray[np.int64]) -> Share:
    """The share of ``hits`` ``[n]``, at least one, with Wilson's limits.

    ``questions`` ``[n]`` are numbers: rows of one question are not independent, so the limits are
    those of ``effective`` rows. Unlike a bootstrap they hold for a handful of rows.
    """
    value, n = float(hits.mean()), effective(hits, questions)
    low, high = wilson(n * value, n)
    n_questions = len(np.unique(questions))
    return Share(
        value=value, interval=Interval(low=float(low), high=float(high)), n_questions=n_questions
    )


def effective(hits: NDArray[np.bool_], questions: NDArray[np.int64]) -> float:
    """The number of independent rows whose share of hits would vary as that of these rows.

    The rows over their design effect, the variance over questions by that over rows (Korn and
    Graubard 1998). It is the number of questions where all or no rows are hits.
    """
    n, value = len(hits), float(hits.mean())
    _, places = np.unique(questions, return_inverse=True)
    n_questions = int(places.max()) + 1
    if value in (0.0, 1.0) or n_questions == 1:
        return float(n_questions)
    sums = np.bincount(places, hits - value)  # clusters drawn whole (Liang and Zeger 1986)
    over_questions = (sums**2).sum() / n**2 * n_questions / (n_questions - 1)
    return n / max(1.0, float(over_questions) * (n - 1) / (value * (1 - value)))


def tagged(rows: Iterable[T], tags_of: Callable[[T], Tags]) -> dict[str, dict[str, list[T]]]:
    """Rows by tag and value; a row with several values of a tag is under each."""
    groups: dict[str, dict[str, list[T]]] = {}
    for row in rows:
        for tag, values in tags_of(row).items():
            for value in (values,) if isinstance(values, str) else values:
                groups.setdefault(tag, {}).setdefault(value, []).append(row)
    return groups


def pearson(x: Values, y: Values) -> float:
    """The product-moment correlation of ``[n]`` and ``[n]``; NaN where a side does not vary.

    With 0 and 1 on one side it is the point-biserial correlation.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), 3)
    0.5
    """
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def spearman(x: Values, y: Values) -> float:
    """Pearson's correlation of the ranks, equal values sharing their mean rank."""
    from scipy.stats import rankdata  # a second to load

    return pearson(rankdata(x), rankdata(y))
