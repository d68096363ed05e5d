"""The metrics of a judge and of a pair of judges: counts, and scores with intervals.

Accuracy and related scores are over the rows that the judge judged; ``acc_outcome`` is over all
rows, so that abstaining never raises it. An undefined score is ``None``.
"""

from __future__ import annotations

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

BOOTSTRAPPED: Final = ("accuracy", "balanced_accuracy", "kappa", "acc_outcome")


class Interval(Row):
    """A 95 % percentile bootstrap interval, resampled by question.

    A share of none or all has no spread to resample; its limits are Wilson's, over questions.
    """

    low: float
    high: float


def share_interval(values: Scores, n_questions: int, scale: float = 1.0) -> Interval:
    """The interval of a share from ``resampled``, ``[1 + draws]``; ``scale`` is the value of all.

    >>> share_interval(np.array([1.0, 1.0]), n_questions=1)
    Interval(low=0.206..., high=1.0)
    """
    value, low, high = estimate(values)
    if value in (0.0, scale):
        low, high = (scale * float(x) for x in wilson(n_questions * value / scale, n_questions))
    return Interval(low=low, high=high)


class Metrics(Row):
    """One judge on one set of rows. Shares are in [0, 1], ``acc_outcome`` is in percent.

    ``majority``: the accuracy of always giving the more frequent label.
    ``acc_outcome``: judged right / all responses, in percent (CMMaTH, equation 2); a row without a
    verdict is not right. ``auc``: the area under the receiver operating characteristic of the
    confidence that a response is right, over the judged rows that have a confidence.
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
    drawn = score(resampled(cells, draws, seed))
    scores = {name: _defined(values[0]) for name, values in drawn.items()}
    return Metrics(
        n_items=len(examples), n_questions=len(cells), n_judged=tp + fp + fn + tn,
        n_undecided=undecided, n_unparsed=unparsed, n_failed=failed,
        true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn,
        intervals=_intervals(drawn, scores, cells),
        auc=area_under_curve(examples, judgements), **scores,
    )  # fmt: skip


def _intervals(
    drawn: dict[str, Scores], scores: dict[str, float | None], cells: Cells
) -> dict[str, Interval]:
    """The intervals of ``BOOTSTRAPPED``; of one question, those of the shares alone."""
    judged = int((cells[:, :, :2].sum(axis=(1, 2)) > 0).sum())
    shares = {"accuracy": (judged, 1.0), "acc_outcome": (len(cells), 100.0)}
    found: dict[str, Interval] = {}
    for name in BOOTSTRAPPED:
        n_questions, scale = shares.get(name, (0, 0.0))
        if scale and scores[name] in (0.0, scale):
            found[name] = share_interval(drawn[name], n_questions, scale)
        elif scores[name] is not None and len(drawn[name]) > 1:
            _, low, high = estimate(drawn[name])
            found[name] = Interval(low=low, high=high)
    return found


def area_under_curve(examples: Sequence[Example], judgements: Sequence[Judgement]) -> float | None:
    """The probability that a right response has a higher confidence than a wrong one.

    The Mann-Whitney statistic over the number of pairs; ties count half. None without confidences
    of both labels.
    """
    rows = [
        (says_yes(e.verdict), j.confidence if says_yes(j.verdict) else 1 - j.confidence)
        for e, j in zip(examples, judgements, strict=True)
        if j.verdict is not None and j.confidence is not None
    ]
    right, chance = np.array([r for r, _ in rows], dtype=bool), np.array([c for _, c in rows])
    pairs = int(right.sum()) * int((~right).sum())
    if not pairs:
        return None
    from scipy.stats import mannwhitneyu  # a second to load

    return float(mannwhitneyu(chance[right], chance[~right]).statistic / pairs)


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
