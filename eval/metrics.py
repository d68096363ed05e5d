"""The metrics of a judge and of a pair of judges: counts, and scores with intervals.

What a judge decides (``coverage``) and how often it is right there (``accuracy``) are two numbers;
``acc_outcome`` is over all rows, so that abstaining never raises it. Undefined scores are ``None``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from gradegpt.core.schema import Judgement, Row, Verdict
from gradegpt.judges.statistics import (
    DRAWS,
    Cells,
    Interval,
    Values,
    areas,
    column,
    drawn_weights,
    estimate,
    ratio,
    resampled,
    says_yes,
    score,
    share_interval,
    table,
    unjudged_as_wrong,
    varied,
)

FEW_OPEN: Final = 0.05
"""The largest share without a verdict beside which a share of the decided rows may stand alone."""


class JudgeMetrics(Row):
    """One judge on one set of rows. Shares are in [0, 1], ``acc_outcome`` is in percent.

    ``majority``: the accuracy of always giving the more frequent label.
    ``acc_outcome``: judged right / all responses, in percent (CMMaTH, equation 2); a row without a
    verdict is not right, so judges are not ranked by it. ``balanced_accuracy_all``: over all rows,
    with each row that was not judged counted as wrong; always giving one label has 0.5. ``auc``:
    the area under the receiver operating characteristic of the probability that a response is
    right, over the judged rows that have a ``confidence`` or, without one, a ``score``. ``bias``:
    the accepted share of the right rows minus the rejected share of the wrong ones, in [-1, 1]; at
    the probability ``even`` as threshold both shares would be equal.
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
    balanced_accuracy_all: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    auc: float | None
    bias: float | None
    even: float | None
    intervals: dict[str, Interval]

    @property
    def bounds(self) -> Interval | None:
        """The accuracy with all rows without a verdict wrong, and right; None without rows."""
        if not self.n_items:
            return None
        right = self.true_positive + self.true_negative
        wrong = self.n_judged - right
        return Interval(low=right / self.n_items, high=1 - wrong / self.n_items)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        judged = self.true_positive + self.false_positive + self.false_negative + self.true_negative
        all_rows = self.n_judged + self.n_undecided + self.n_unparsed + self.n_failed
        if judged != self.n_judged or all_rows != self.n_items:
            raise ValueError("the counts do not add up to the items")
        return self


class Column(NamedTuple):
    """A score as tables show it: its field, what 1 is written as, its decimals.

    ``by_chance`` is that of a judge that always gives the more frequent label, if it is the same
    for all rows; ``ranged``: with its interval, for which not every table has room.
    """

    score: str
    scale: int = 100
    digits: int = 1
    by_chance: float | None = None
    ranged: bool = False

    def ends(self, scores: JudgeMetrics) -> Interval | None:
        """The interval that is shown."""
        return scores.intervals.get(self.score) if self.ranged else None

    def value(self, scores: JudgeMetrics) -> str:
        """The score as it is written."""
        return self.text(getattr(scores, self.score))

    def text(self, value: float | None) -> str:
        """A value of the score, or a dash where it is not defined."""
        return "–" if value is None else f"{self.scale * value:.{self.digits}f}"

    def of(self, scores: JudgeMetrics) -> str:
        """The score with its interval, percents of which are whole, to leave room for names."""
        if (ends := self.ends(scores)) is None:
            return self.value(scores)
        low, high = (
            f"{self.scale * end:.{0 if self.scale == 100 else self.digits}f}"
            for end in (ends.low, ends.high)
        )
        return f"{self.value(scores)} [{low}, {high}]"


COLUMNS: Final = {
    "decided": Column("coverage", by_chance=1), "right of these": Column("accuracy", ranged=True),
    "balanced": Column("balanced_accuracy", by_chance=0.5),
    "κ": Column("kappa", 1, 2, by_chance=0),
    "balanced, all rows": Column("balanced_accuracy_all", by_chance=0.5, ranged=True),
    "AUC": Column("auc", 1, 2, by_chance=0.5, ranged=True),
    "precision": Column("precision"), "recall": Column("recall"), "F1": Column("f1"),
    "majority": Column("majority"), "Acc_outcome": Column("acc_outcome", 1),
}  # fmt: skip
"""The columns of every table of scores, in the terminal and on the page."""


class Graded(NamedTuple):
    """Rows with one judge's results, as arrays ``[n]``.

    ``label`` is 1 correct, 0 not, -1 unknown; ``result`` a column of ``Cells``; ``chance`` the
    probability that the response is right, NaN where the judge says none; ``question`` its number.
    """

    label: NDArray[np.int64]
    result: NDArray[np.int64]
    chance: Values
    question: NDArray[np.int64]

    def at(self, places: Sequence[int] | NDArray[Any]) -> Graded:
        """The rows at these places, or where a mask holds."""
        return Graded(
            self.label[places], self.result[places], self.chance[places], self.question[places]
        )

    @property
    def cells(self) -> Cells:
        """The cells of each question, of labelled rows."""
        _, question = np.unique(self.question, return_inverse=True)
        return table(self.label, self.result, question)


def graded(
    question: NDArray[np.int64],
    labels: Sequence[Verdict | None],
    judgements: Sequence[Judgement],
) -> Graded:
    """The rows as arrays; all arguments have the same length and order."""
    return Graded(
        np.array([-1 if v is None else says_yes(v) for v in labels], dtype=np.int64),
        np.array([column(j.outcome, j.verdict) for j in judgements], dtype=np.int64),
        np.array([_chance(judgement) for judgement in judgements], dtype=np.float64),
        question,
    )


def measured(
    rows: Graded, *, bootstrap: int = DRAWS, seed: int = 0, area: bool = True
) -> JudgeMetrics:
    """The metrics of labelled rows; ``area`` says whether the AUC has an interval."""
    cells = rows.cells
    draws = bootstrap if len(cells) > 1 else 0  # one question cannot be resampled
    totals = resampled(cells, draws, seed)
    total = totals[0]
    (tn, fp, *_), (fn, tp, *_) = total.tolist()
    _, _, undecided, unparsed, failed = total.sum(axis=0).tolist()
    over_all = score(unjudged_as_wrong(totals))["balanced_accuracy"]
    drawn = score(totals) | {"balanced_accuracy_all": over_all}
    drawn["auc"] = _areas(rows, draws if area else 0, seed)
    scores = {name: _defined(values[0]) for name, values in drawn.items()}
    bias = tp / (tp + fn) - tn / (tn + fp) if tp + fn and tn + fp else None
    return JudgeMetrics(
        bias=bias, even=_even(rows),
        n_items=len(rows.label), n_questions=len(cells), n_judged=tp + fp + fn + tn,
        n_undecided=undecided, n_unparsed=unparsed, n_failed=failed,
        true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn,
        intervals=_intervals(drawn, totals, cells), **scores,
    )  # fmt: skip


def _even(rows: Graded) -> float | None:
    """The threshold at which as many of the right rows are accepted as of the wrong are rejected.

    None without a right and a wrong row that have a probability.
    """
    right, wrong = (
        np.sort(rows.chance[(rows.label == n) & ~np.isnan(rows.chance)]) for n in (1, 0)
    )
    if not len(right) or not len(wrong):
        return None
    at = np.unique(np.concatenate([right, wrong]))
    accepted = 1 - np.searchsorted(right, at) / len(right)
    rejected = np.searchsorted(wrong, at) / len(wrong)
    return float(at[np.argmin(abs(accepted - rejected))])


def _areas(rows: Graded, draws: int, seed: int) -> Values:
    """The AUC ``[1 + draws]`` over the rows with a probability, over questions."""
    known = rows.at(~np.isnan(rows.chance))
    _, question = np.unique(known.question, return_inverse=True)
    n = int(question.max(initial=-1)) + 1
    drawn = drawn_weights(n, draws if n else 0, seed, len(question))
    weightings = chain([np.ones((1, n), dtype=np.int64)], drawn)
    of = known.label == 1, known.chance, question
    return np.concatenate([areas(*of, weights) for weights in weightings])


def _chance(judgement: Judgement) -> float:
    """The probability that the response is right, by a judge's ``confidence``, else ``score``.

    An order needs no calibration. NaN without a verdict or a probability.
    """
    sure = judgement.score if judgement.confidence is None else judgement.confidence
    if judgement.verdict is None or sure is None:
        return math.nan
    return sure if says_yes(judgement.verdict) else 1 - sure


def _intervals(drawn: dict[str, Values], totals: Cells, cells: Cells) -> dict[str, Interval]:
    """The intervals of the scores, without those of undefined ones.

    Kappa and AUC have none where resampling does not vary them: there are no limits for a few rows
    of kappa 1.
    """
    judged, every = cells[..., :2].sum(axis=(1, 2)), cells.sum(axis=(1, 2))
    right = cells[:, 0, 0] + cells[:, 1, 1]
    shares = {"coverage": (judged, every), "accuracy": (right, judged)}
    found = {n: one.interval for n, of in shares.items() if (one := ratio(np.stack(of, axis=1)))}
    if not np.isnan(drawn["balanced_accuracy"][0]):
        found["balanced_accuracy"] = _balanced(totals, cells)
    if not np.isnan(drawn["balanced_accuracy_all"][0]):
        strict = unjudged_as_wrong(totals), unjudged_as_wrong(cells)
        found["balanced_accuracy_all"] = _balanced(*strict)
    for name in ("kappa", "auc"):
        interval = varied(drawn[name])
        if interval and not np.isnan(drawn[name][0]):
            found[name] = interval
    return found


def _balanced(totals: Cells, cells: Cells) -> Interval:
    """The interval of balanced accuracy, the mean of the shares right of both labels.

    Where a label is all right or all wrong, resampling does not vary its share; the limits of both
    shares are then combined by the method of variance estimates recovery (Zou and Donner 2008,
    equation 1), which takes the shares as independent.
    """
    _, low, high = estimate(score(totals)["balanced_accuracy"])
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


class Difference(Row):
    """A score of the second judge minus that of the first, with its 95 % interval."""

    value: float
    interval: Interval
    n_questions: int


class JudgePair(Row):
    """Two judges on the rows that both judged; where they differ, one agrees with the label.

    ``first_only`` and ``second_only`` rows are correct by one judge alone. ``a_right`` and
    ``b_right`` count the labelled rows on which they differ by who is right, and are None where
    there are no labels. The difference, b minus a, is of balanced accuracy over all labelled rows,
    with each row that was not judged counted as wrong. Its interval is paired: both judges share
    the draws of questions. It is None without labels, for one question, and where a score is not
    defined.
    """

    a: str
    b: str
    n_both: int
    agreement: float | None
    kappa: float | None
    kappa_interval: Interval | None
    n_differ: int
    first_only: int
    second_only: int
    a_right: int | None
    b_right: int | None
    difference: Difference | None = None

    @property
    def in_words(self) -> str:
        """Which judge has the higher balanced accuracy, in percentage points."""
        if self.difference is None:
            return "–"
        ends, better = self.difference.interval, self.b
        value, low, high = (round(100 * x, 1) for x in (self.difference.value, ends.low, ends.high))
        if self.difference.value == ends.low == ends.high == 0:  # in every draw of questions
            return f"no difference on these {self.difference.n_questions:,} questions"
        if value < 0:
            better, value, low, high = self.a, -value, -high, -low
        by = f"{better} better by {value:.1f} points" if value else "no difference"
        chance = ": may be chance" if value and low <= 0 else ""
        return f"{by} (95 % {low:z.1f} to {high:z.1f}{chance})"


def compare_judges(
    a: tuple[str, Graded], b: tuple[str, Graded], *, bootstrap: int = DRAWS, seed: int = 0
) -> JudgePair:
    """The two-way agreement of two named judges of the same rows, and which is right more often."""
    (first, of_a), (second, of_b) = a, b
    judged = (of_a.result <= 1) & (of_b.result <= 1)
    both = of_a.at(judged)._replace(label=of_a.result[judged], result=of_b.result[judged])
    cells = both.cells
    agreed = score(resampled(cells, bootstrap if len(cells) > 1 else 0, seed))
    kappa = _defined(agreed["kappa"][0])
    (_, second_only, *_), (first_only, *_) = cells.sum(axis=0).tolist()
    differ = judged & (of_a.result != of_b.result)
    labelled, difference = of_a.label >= 0, None
    if labelled.any():
        strict = unjudged_as_wrong(
            np.stack([one.at(labelled).cells for one in (of_a, of_b)], axis=1)
        )
        draws = bootstrap if len(strict) > 1 else 0
        difference = _difference(resampled(strict, draws, seed), strict)
    right = [
        int((differ & (one.result == one.label)).sum()) if labelled.any() else None
        for one in (of_a, of_b)
    ]
    return JudgePair(
        a=first, b=second, n_both=int(judged.sum()), n_differ=int(differ.sum()),
        first_only=first_only, second_only=second_only, a_right=right[0], b_right=right[1],
        agreement=_defined(agreed["accuracy"][0]), kappa=kappa,
        kappa_interval=None if kappa is None else varied(agreed["kappa"]), difference=difference,
    )  # fmt: skip


def _difference(totals: Cells, cells: Cells) -> Difference | None:
    """The difference of balanced accuracy, None where it is not defined, or of one question.

    Where resampling does not vary it, as between a judge that is always right and one that always
    gives one label, the limits of both are combined (Zou and Donner 2008, equation 3), which takes
    them as independent.
    """
    scores = score(totals)["balanced_accuracy"]
    value, low, high = estimate(scores[:, 1] - scores[:, 0])
    unvaried = low == high != 0
    if np.isnan([value, low, high]).any() or (unvaried and np.isnan(scores).any()):
        return None
    if unvaried:
        (a, b), ends = scores[0].tolist(), [_balanced(totals[:, n], cells[:, n]) for n in (0, 1)]
        low = b - a - math.hypot(b - ends[1].low, ends[0].high - a)
        high = b - a + math.hypot(ends[1].high - b, a - ends[0].low)
    return Difference(value=value, interval=Interval(low=low, high=high), n_questions=len(cells))


def _defined(value: Values) -> float | None:
    return None if np.isnan(value) else float(value)
