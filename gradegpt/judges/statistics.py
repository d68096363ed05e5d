"""Agreement, proportions and their intervals over questions, by published formulas.

Needs numpy and scipy. Binary: ``correct`` is the positive class, ``invalid`` counts as incorrect,
in labels and verdicts alike. Rows are counted once, as ``Cells``; every score and every bootstrap
draw is computed from these counts. There is one bootstrap: questions are drawn with all their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from gradegpt.core.schema import Outcome, Row, Verdict

Cells = NDArray[np.int64]
"""Counts ``[..., 2, 5]``: the label (no, yes) by the result (no, yes, undecided, unparsed, failed).
Each row of the data is counted in exactly one cell, so the cells add up to the number of rows."""
Values = NDArray[np.float64]
Limits = tuple[Values, Values]
Number = TypeVar("Number", np.int64, np.float64)

CONFIDENCE: Final = 0.95
DRAWS: Final = 2000
"""The usual number of draws of a bootstrap."""
_JUDGED: Final = 2
"""The first two columns are verdicts; the columns of outcomes without a verdict follow."""
_NOT_JUDGED: Final = (Outcome.UNDECIDED, Outcome.UNPARSED, Outcome.FAILED)
_WEIGHTS_AT_ONCE: Final = 4_000_000
_WEIGHTS_IN_ALL: Final = 40_000_000
_LEAST_DRAWS: Final = 200


# --- counts and scores ----------------------------------------------------------------------------


def says_yes(verdict: Verdict | None) -> bool:
    """The verdict as a binary label: whether it is ``correct``."""
    return verdict is Verdict.CORRECT


def column(outcome: Outcome, verdict: Verdict | None) -> int:
    """The column of ``Cells`` for a result: 0 for no, 1 for yes, 2 to 4 where it is not judged."""
    judged = outcome is Outcome.JUDGED
    return int(says_yes(verdict)) if judged else _JUDGED + _NOT_JUDGED.index(outcome)


def table(
    labels: ArrayLike, results: ArrayLike, groups: ArrayLike | None = None, size: int | None = None
) -> Cells:
    """Count rows ``[n]`` by group, shape ``[groups, 2, 5]``; without ``groups`` all are in one.

    ``labels`` are bools, ``results`` columns (a bool is one), ``groups`` numbers from 0; ``size``
    is the number of groups, needed where the last groups may have no rows.

    >>> table(labels=[True, True, False], results=[True, False, 3]).tolist()
    [[[0, 0, 0, 1, 0], [1, 1, 0, 0, 0]]]

    Raises:
        ValueError: the lengths differ.

    """
    label, result = np.asarray(labels, dtype=np.int64), np.asarray(results, dtype=np.int64)
    group = np.zeros_like(label) if groups is None else np.asarray(groups, dtype=np.int64)
    if not label.shape == result.shape == group.shape:
        sizes = f"{label.size} labels, {result.size} verdicts and {group.size} groups"
        raise ValueError(f"{sizes}; give one of each for every row")
    n_groups = int(group.max(initial=-1)) + 1 if size is None else size
    cells = np.zeros((n_groups, 2, _JUDGED + len(_NOT_JUDGED)), dtype=np.int64)
    np.add.at(cells, (group, label, result), 1)
    return cells


def numbered(keys: Iterable[str]) -> NDArray[np.int64]:
    """The number of each key, 0, 1, ... in order of first appearance, shape ``[n]``."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def unjudged_as_wrong(cells: Cells) -> Cells:
    """The same rows, with each row that was not judged counted as a wrong verdict; same shape.

    For comparisons in which a judge must not gain by giving no verdict.
    """
    unjudged = cells[..., _JUDGED:].sum(axis=-1, keepdims=True)
    strict = np.zeros_like(cells)
    strict[..., :_JUDGED] = cells[..., :_JUDGED] + unjudged * (1 - np.eye(2, dtype=np.int64))
    return strict


def score(cells: Cells) -> dict[str, Values]:
    """Every score of ``cells`` ``[..., 2, 5]``, shape ``[...]``; an undefined score (0/0) is NaN.

    With true and false positives and negatives tp, fp, fn, tn. Over all rows:

    * ``coverage``: judged / all; ``majority``: the share of the more frequent label.
    * ``acc_outcome``: 100 (tp + tn) / all, in percent (CMMaTH, equation 2): a row that is not
      judged counts as wrong.

    Over the rows that were judged:

    * ``accuracy``: (tp + tn) / judged; ``precision``: tp / (tp + fp); ``recall``: tp / (tp + fn).
    * ``f1``: 2 tp / (2 tp + fp + fn).
    * ``balanced_accuracy``: (tp / (tp + fn) + tn / (tn + fp)) / 2 (Brodersen et al. 2010).
    * ``kappa``: (p_o - p_e) / (1 - p_e) (Cohen 1960), here with counts, 2 (tp tn - fp fn) / (
      judged yes * labelled no + labelled yes * judged no): the same value, without the difference
      of two rounded shares.
    """
    judged = cells[..., :_JUDGED].astype(np.float64)
    (tn, fp), (fn, tp) = np.moveaxis(judged, (-2, -1), (0, 1))
    n_judged, labels = judged.sum(axis=(-2, -1)), cells.sum(axis=-1)
    n_rows = labels.sum(axis=-1)
    judged_yes, judged_no, labelled_yes, labelled_no = tp + fp, fn + tn, tp + fn, fp + tn
    determinant = tp * tn - fp * fn
    with np.errstate(invalid="ignore"):
        recall = tp / labelled_yes
        return {
            "coverage": n_judged / n_rows,
            "majority": labels.max(axis=-1) / n_rows,
            "acc_outcome": 100 * (tp + tn) / n_rows,
            "accuracy": (tp + tn) / n_judged,
            "balanced_accuracy": (recall + tn / labelled_no) / 2,
            "precision": tp / judged_yes,
            "recall": recall,
            "f1": 2 * tp / (judged_yes + labelled_yes),
            "kappa": 2 * determinant / (judged_yes * labelled_no + labelled_yes * judged_no),
        }


def areas(
    right: NDArray[np.bool_],
    chance: Values,
    question: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> Values:
    """The area under the ROC curve for each weighting of the questions, shape ``[k]``.

    The probability that a right response has a higher ``chance`` than a wrong one, ties counting
    half: the Mann-Whitney statistic over the number of pairs (Hanley and McNeil 1982). Rows are
    ``[n]``, with ``question`` numbers from 0; ``weights`` ``[k, questions]`` say how often each row
    of a question counts. NaN where one of the labels has no row.
    """
    order = np.argsort(chance)
    yes, no = order[right[order]], order[~right[order]]
    below, up_to = (np.searchsorted(chance[no], chance[yes], side) for side in ("left", "right"))
    n_no = np.pad(weights[:, question[no]].cumsum(axis=1), ((0, 0), (1, 0)))
    n_yes = weights[:, question[yes]]
    twice = (n_yes * (n_no[:, below] + n_no[:, up_to])).sum(axis=1)
    with np.errstate(invalid="ignore"):
        found: Values = twice / (2 * n_yes.sum(axis=1) * n_no[:, -1])
    return found


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


# --- the bootstrap --------------------------------------------------------------------------------


def drawn_weights(
    n: int | NDArray[np.int64], draws: int, seed: int | np.random.Generator, n_rows: int = 0
) -> Iterator[NDArray[np.int64]]:
    """How often each of ``n`` questions is in each draw: blocks of draws, ``[block, n]``.

    The cluster bootstrap (Field and Welsh 2007): questions are drawn with replacement, each with
    all its answers. ``n`` may be the numbers ``[kinds]`` of questions that are alike. A block is
    small enough to be repeated for ``n_rows`` rows; very many questions get fewer draws, at least
    200, so that the time grows no faster than their number.
    """
    rng = np.random.default_rng(seed)
    alike = np.ones(n, dtype=np.int64) if isinstance(n, int) else n
    draws = min(draws, max(_LEAST_DRAWS, _WEIGHTS_IN_ALL // (1 + max(len(alike), n_rows))))
    block = 1 + _WEIGHTS_AT_ONCE // (1 + max(len(alike), n_rows))  # not all draws are in memory
    for start in range(0, draws, block):
        size = min(block, draws - start)
        yield rng.multinomial(alike.sum(), alike / alike.sum(), size=size)


def resampled(
    cells: NDArray[Number], draws: int, seed: int | np.random.Generator
) -> NDArray[Number]:
    """Totals ``[1 + draws, ...]`` of ``cells`` ``[questions, ...]``: observed, then resampled.

    Several judges, ``[questions, judges, 2, 5]``, share their ``drawn_weights``, so that their
    differences are paired. Questions with equal cells are drawn as one kind, which has the same
    distribution and a time that hardly depends on their number.
    """
    totals = [cells.sum(axis=0)[None]]
    if draws and len(cells):
        _, first, alike = np.unique(
            cells.reshape(len(cells), -1), axis=0, return_index=True, return_counts=True
        )
        order = np.argsort(first)  # of appearance, in which judges that swap places do not matter
        blocks = drawn_weights(alike[order], draws, seed)
        totals.extend(np.tensordot(weights, cells[first[order]], axes=1) for weights in blocks)
    return np.concatenate(totals)


def resampled_rows(
    of: Callable[..., float], question: NDArray[np.int64], *columns: Values, draws: int, seed: int
) -> Values:
    """``[1 + draws]`` of a figure of rows that is no ratio of sums, such as a correlation.

    ``question`` ``[n]`` are numbers from 0, ``columns`` ``[n]`` the arguments of ``of``.
    """
    found = [of(*columns)]
    for block in drawn_weights(int(question.max()) + 1, draws, seed):
        for weights in block:
            rows = np.repeat(np.arange(len(question)), weights[question])
            found.append(of(*(one[rows] for one in columns)))
    return np.array(found)


def estimate(values: Values) -> tuple[float, float, float]:
    """A score of ``resampled`` ``[1 + draws]``: its value and its 95 % percentile interval.

    Efron and Tibshirani (1993), chapter 13. Draws in which the score is not defined are left out;
    the ends are NaN where none is left.
    """
    defined = values[1:][~np.isnan(values[1:])]
    low, high = np.percentile(defined, (2.5, 97.5)) if defined.size else (np.nan, np.nan)
    return float(values[0]), float(low), float(high)


# --- intervals and shares -------------------------------------------------------------------------


class Interval(Row):
    """A 95 % interval over questions, whose rows are not independent.

    That of a share is Wilson's for as many rows as are independent (``ratio``), that of another
    score the percentiles of the bootstrap.
    """

    low: float
    high: float


class Share(Row):
    """A share in [0, 1] over ``n_questions``, with its interval over questions."""

    value: float
    interval: Interval
    n_questions: int


def varied(values: Values) -> Interval | None:
    """The interval of ``resampled`` values; None where it is undefined or has no width."""
    _, low, high = estimate(values)
    return Interval(low=low, high=high) if low < high else None


def share_interval(values: Values, n_questions: int) -> Interval:
    """The interval of a share from ``resampled``, ``[1 + draws]``.

    >>> share_interval(np.array([1.0, 1.0]), n_questions=1)
    Interval(low=0.206..., high=1.0)
    """
    value, low, high = estimate(values)
    if value in (0.0, 1.0) or not low < high:
        low, high = map(float, wilson(n_questions * value, n_questions))
    return Interval(low=low, high=high)


def ratio(
    pairs: Iterable[Sequence[float]] | Values, most: float = 0, confidence: float = CONFIDENCE
) -> Share | None:
    """The sum of the first values over the sum of the second; None where nothing is counted.

    Each pair belongs to a question, whose rows are not independent; pairs whose second value is 0
    are left out. The limits are Wilson's for the number of independent rows that would vary as
    these do, the rows over their design effect, fewer for few questions (Korn and Graubard 1998):
    unlike a bootstrap's they hold for a handful of rows, and are the same each time. ``most`` is
    the most independent rows there can be, if it is not the sum of the second values.

    >>> ratio([(9, 10), (1, 10), (5, 10)])
    Share(value=0.5, interval=Interval(low=0.058..., high=0.941...), n_questions=3)
    """
    counted = np.array(list(pairs), dtype=np.float64).reshape(-1, 2)
    counted = counted[counted[:, 1] > 0]
    if not len(counted):
        return None
    hits, rows = counted.T
    value = float(hits.sum() / rows.sum())
    size = independent(hits, rows, value * (1 - value), most=most, confidence=confidence)
    low, high = wilson(size * value, size, confidence)
    interval = Interval(low=float(low), high=float(high))
    return Share(value=value, interval=interval, n_questions=len(counted))


def independent(
    totals: Values,
    rows: Values,
    variance: float,
    *,
    most: float = 0,
    confidence: float = CONFIDENCE,
) -> float:
    """How many independent rows of this ``variance`` would have a mean that varies as theirs does.

    ``totals`` and ``rows`` ``[questions]`` are the sum and number of a question's values. It is the
    number of rows, or ``most``, over their design effect, at least 1 (Kish 1965), fewer for few
    questions.
    """
    n_questions, n = len(rows), float(rows.sum())
    if variance <= 0 or n_questions == 1:  # nothing shows how questions differ
        return float(n_questions)
    # clusters drawn whole (Liang and Zeger 1986)
    between = ((totals - totals.sum() / n * rows) ** 2).sum() / n**2
    between *= n_questions / (n_questions - 1)
    most = most or n
    size = most / max(1.0, between * (most - 1) / variance)
    t = stdtrit([most - 1, n_questions - 1], (1 + confidence) / 2)
    return float(size * (t[0] / t[1]) ** 2)  # few questions do not show how questions differ


def sums(question: NDArray[np.int64], *columns: ArrayLike) -> Values:
    """The sums ``[questions, columns]`` of rows ``[n]``, by ``question`` numbers from 0."""
    given = [np.asarray(one, dtype=np.float64) for one in columns]
    return np.stack([np.bincount(question, one) for one in given], axis=1)


def proportion(hits: NDArray[np.bool_], questions: NDArray[np.int64]) -> Share:
    """The share of ``hits`` ``[n]``, at least one; ``questions`` ``[n]`` are numbers."""
    _, places = np.unique(questions, return_inverse=True)
    share = ratio(sums(places, hits, np.ones(len(hits))))
    assert share is not None, "there is a row"
    return share


def z_of(confidence: float) -> float:
    """The standard normal quantile of a two-sided interval."""
    return float(ndtri((1 + confidence) / 2))


def wilson(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The score limits (Wilson 1927); 0 and 1 where ``n`` is 0.

    As all limits from counts they hold for small ones: one success of one row is not certain.

    >>> [round(float(x), 3) for x in wilson(1, 1)]
    [0.207, 1.0]
    """
    k, n = _counts(successes, n)
    z2 = z_of(confidence) ** 2
    share = np.divide(k, n, out=np.zeros_like(k), where=n > 0)
    middle = (n * share + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (n * share * (1 - share) + z2 / 4)) / (n + z2)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def jeffreys(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The limits with Jeffreys' prior, and 0 or 1 where nothing or everything succeeded.

    Brown, Cai and DasGupta (2001), section 4.1; 0 and 1 where ``n`` is 0.

    >>> [round(float(x), 3) for x in jeffreys(9, 10)]
    [0.619, 0.989]
    """
    k, n = _counts(successes, n)
    tail = (1 - confidence) / 2
    low = np.where(k == 0, 0.0, betaincinv(k + 0.5, n - k + 0.5, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 0.5, n - k + 0.5, 1 - tail))
    return low, high


def clopper_pearson(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The exact limits (Clopper and Pearson 1934); 0 and 1 where ``n`` is 0.

    >>> [round(float(x), 3) for x in clopper_pearson(0, 10)]
    [0.0, 0.308]
    """
    k, n = _counts(successes, n)
    tail = (1 - confidence) / 2
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 0.5), n - k + 1, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 0.5), 1 - tail))
    return low, high


def _counts(successes: ArrayLike, n: ArrayLike) -> Limits:
    """Both as arrays of one shape.

    Raises:
        ValueError: not 0 <= successes <= n.

    """
    k, size = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (successes, n)))
    if np.any(k < 0) or np.any(k > size):
        raise ValueError("successes must be from 0 to n")
    return k, size
