"""The metrics of a judge and of a pair of judges: counts, and scores with intervals.

What a judge decides (``coverage``) and how often it is right there (``accuracy``) are two numbers;
``acc_outcome`` is over all rows, so that abstaining never raises it. Undefined scores are ``None``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from pydantic import model_validator

from gradegpt.agreement import (
    Cells,
    Scores,
    by_question,
    estimate,
    resampled,
    says_yes,
    score,
    table,
)
from gradegpt.proportions import wilson
from gradegpt.schema import Example, Judgement, Row

INTERVALS: Final = ("coverage", "accuracy", "balanced_accuracy", "kappa", "acc_outcome")


class Interval(Row):
    """A 95 % percentile bootstrap interval, resampled by question.

    A share that resampling does not vary, such as all of the rows or the rows of one question, has
    Wilson's limits, over questions.
    """

    low: float
    high: float


def share_interval(values: Scores, n_questions: int, scale: float = 1.0) -> Interval:
    """The interval of a share from ``resampled``, ``[1 + draws]``; ``scale`` is the value of all.

    >>> share_interval(np.array([1.0, 1.0]), n_questions=1)
    Interval(low=0.206..., high=1.0)
    """
    value, low, high = estimate(values)
    if value in (0.0, scale) or not low < high:
        low, high = (scale * float(x) for x in wilson(n_questions * value / scale, n_questions))
    return Interval(low=low, high=high)


class Metrics(Row):
    """One judge on one set of rows. Shares are in [0, 1], ``acc_outcome`` is in percent.

    ``majority``: the accuracy of always giving the more frequent label.
    ``acc_outcome``: judged right / all responses, in percent (CMMaTH, equation 2); a row without a
    verdict is not right, so judges are not ranked by it. ``auc``: the area under the receiver
    operating characteristic of the probability that a response is right, over the judged rows that
    have a ``confidence`` or, without one, a ``score``.
    """

    n_items: int
    n_questions: int
    n_judged: int
    n_undecided: int
    n_unparsed: int
    n_failed: int
    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int
    coverage: float | None
    majority: float | None
    acc_outcome: float | None
    accuracy: float | None
    balanced_accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    mcc: float | None
    auc: float | None
    intervals: dict[str, Interval]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        judged = self.true_positive + self.false_positive + self.false_negative + self.true_negative
        all_rows = self.n_judged + self.n_undecided + self.n_unparsed + self.n_failed
        if judged != self.n_judged or all_rows != self.n_items:
            raise ValueError("the counts do not add up to the items")
        return self


def measure(
    examples: Sequence[Example],
    judgements: Sequence[Judgement],
    *,
    bootstrap: int = 2000,
    seed: int = 0,
) -> Metrics:
    """Compare judgements with labels, row by row; both sequences have the same length and order."""
    cells = by_question(examples, judgements)
    total = cells.sum(axis=0)
    (tn, fp, *_), (fn, tp, *_) = total.tolist()
    _, _, undecided, unparsed, failed = total.sum(axis=0).tolist()
    draws = bootstrap if len(cells) > 1 else 0  # one question cannot be resampled
    totals = resampled(cells, draws, seed)
    drawn = score(totals)
    scores = {name: _defined(values[0]) for name, values in drawn.items()}
    return Metrics(
        n_items=len(examples), n_questions=len(cells), n_judged=tp + fp + fn + tn,
        n_undecided=undecided, n_unparsed=unparsed, n_failed=failed,
        true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn,
        intervals=_intervals(drawn, totals, cells),
        auc=area_under_curve(examples, judgements), **scores,
    )  # fmt: skip


def _intervals(drawn: dict[str, Scores], totals: Cells, cells: Cells) -> dict[str, Interval]:
    """The intervals of ``INTERVALS``, without those of undefined scores.

    Kappa has none where resampling does not vary it: there are no limits for a few rows of kappa 1.
    """
    judged = int((cells[:, :, :2].sum(axis=(1, 2)) > 0).sum())
    found: dict[str, Interval] = {}
    for name, n_questions, scale in (
        ("coverage", len(cells), 1.0), ("accuracy", judged, 1.0), ("acc_outcome", len(cells), 100.0)
    ):  # fmt: skip
        if not np.isnan(drawn[name][0]):
            found[name] = share_interval(drawn[name], n_questions, scale)
    if not np.isnan(drawn["balanced_accuracy"][0]):
        found["balanced_accuracy"] = _balanced(drawn, totals, cells)
    value, low, high = estimate(drawn["kappa"])
    if not np.isnan(value) and low < high:
        found["kappa"] = Interval(low=low, high=high)
    return found


def _balanced(drawn: dict[str, Scores], totals: Cells, cells: Cells) -> Interval:
    """The interval of balanced accuracy, the mean of the shares right of both labels.

    Where a label is all right or all wrong, resampling does not vary its share; the limits of both
    shares are then combined by the method of variance estimates recovery (Zou and Donner 2008,
    equation 1), which takes the shares as independent.
    """
    _, low, high = estimate(drawn["balanced_accuracy"])
    shares, ends = [], []
    with np.errstate(invalid="ignore"):  # a draw may lack a label
        for label in (0, 1):
            values = totals[:, label, label] / totals[:, label, :2].sum(axis=1)
            n_questions = int((cells[:, label, :2].sum(axis=1) > 0).sum())
            shares.append(float(values[0]))
            ends.append(share_interval(values, n_questions))
    if not {0.0, 1.0} & {*shares} and low < high:
        return Interval(low=low, high=high)
    below = math.hypot(*(x - end.low for x, end in zip(shares, ends, strict=True)))
    above = math.hypot(*(end.high - x for x, end in zip(shares, ends, strict=True)))
    middle = sum(shares) / 2
    return Interval(low=middle - below / 2, high=middle + above / 2)


def area_under_curve(examples: Sequence[Example], judgements: Sequence[Judgement]) -> float | None:
    """The probability that a right response is found likelier to be right than a wrong one.

    The Mann-Whitney statistic over the number of pairs; ties count half. A verdict's probability is
    its ``confidence``, else its ``score``, as an order needs no calibration. None without rows of
    both labels that have one.
    """
    rows = [
        (says_yes(e.verdict), sure if says_yes(j.verdict) else 1 - sure)
        for e, j in zip(examples, judgements, strict=True)
        if j.verdict is not None and (sure := _probability(j)) is not None
    ]
    right, chance = np.array([r for r, _ in rows], dtype=bool), np.array([c for _, c in rows])
    pairs = int(right.sum()) * int((~right).sum())
    if not pairs:
        return None
    from scipy.stats import mannwhitneyu  # a second to load

    return float(mannwhitneyu(chance[right], chance[~right]).statistic / pairs)


def _probability(judgement: Judgement) -> float | None:
    return judgement.score if judgement.confidence is None else judgement.confidence


class Pair(Row):
    """Two judges on the rows that both judged; where they differ, one agrees with the label.

    ``a_right`` and ``b_right`` are None where there are no labels.
    """

    a: str
    b: str
    n_both: int
    agreement: float | None
    kappa: float | None
    n_differ: int
    a_right: int | None
    b_right: int | None


def compare_judges(
    examples: Sequence[Example] | None,
    a: tuple[str, Sequence[Judgement]],
    b: tuple[str, Sequence[Judgement]],
) -> Pair:
    """The two-way agreement of two named judges, and who is right where they differ."""
    both = [
        (says_yes(one.verdict), says_yes(other.verdict))
        for one, other in zip(a[1], b[1], strict=True)
        if one.verdict is not None and other.verdict is not None
    ]
    first, second = np.array(both, dtype=bool).reshape(-1, 2).T
    scores = score(table(first, second).sum(axis=0))
    n_differ = int((first != second).sum())
    a_right = None if examples is None else _first_is_right(examples, a[1], b[1])
    return Pair(
        a=a[0], b=b[0], n_both=len(both), n_differ=n_differ, a_right=a_right,
        b_right=None if a_right is None else n_differ - a_right,
        agreement=_defined(scores["accuracy"]), kappa=_defined(scores["kappa"]),
    )  # fmt: skip


def _first_is_right(
    examples: Sequence[Example], a: Sequence[Judgement], b: Sequence[Judgement]
) -> int:
    """The number of rows where two judges differ, two-way, and the first agrees with the label."""
    return sum(
        says_yes(one.verdict) is says_yes(example.verdict) is not says_yes(other.verdict)
        for example, one, other in zip(examples, a, b, strict=True)
        if one.verdict is not None and other.verdict is not None
    )


def _defined(value: Scores) -> float | None:
    return None if np.isnan(value) else float(value)
