"""Agreement with the labels, by formulas in the open.

Two-way: ``correct`` is the positive class, ``invalid`` counts as incorrect, in labels and verdicts
alike. Accuracy and its kin are over the rows that the judge judged; ``acc_outcome`` is over all
rows, so that silence never pays. What is not defined is ``None``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from gradegpt.importers.labelled import question_key
from gradegpt.schema import Example, Judgement, Outcome, Row, Verdict

Cells = NDArray[np.int64]
"""Counts along the last axis: true positives, false positives, false negatives, true negatives,
undecided, unparsed, failed. Each row of the data is in one of them, so they add up to the rows."""

_TP, _FP, _FN, _TN, _REST = 0, 1, 2, 3, 4
_NOT_JUDGED: Final = (Outcome.UNDECIDED, Outcome.UNPARSED, Outcome.FAILED)
_N_CELLS: Final = _REST + len(_NOT_JUDGED)

BOOTSTRAPPED: Final = ("accuracy", "balanced_accuracy", "kappa", "acc_outcome")
_WEIGHTS_AT_ONCE: Final = 4_000_000


class Interval(Row):
    """A 95 % percentile bootstrap interval, resampled by question."""

    low: float
    high: float


class Metrics(Row):
    """One judge on one set of rows. Shares are in [0, 1], ``acc_outcome`` is in percent.

    ``majority``: what always giving the more frequent label would score on all rows.
    ``acc_outcome``: judged right / all responses, in percent (CMMaTH, equation 2); what is not
    judged is not right.
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
    intervals: dict[str, Interval]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        judged = self.true_positive + self.false_positive + self.false_negative + self.true_negative
        everyone = self.n_judged + self.n_undecided + self.n_unparsed + self.n_failed
        if judged != self.n_judged or everyone != self.n_items:
            raise ValueError("the counts do not add up to the items")
        return self


def says_yes(verdict: Verdict | None) -> bool:
    """The two-way reading: ``correct`` or not."""
    return verdict is Verdict.CORRECT


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
    tp, fp, fn, tn, undecided, unparsed, failed = total.tolist()
    n_items, positive = len(examples), sum(says_yes(e.verdict) for e in examples)
    scores = {name: _defined(value) for name, value in score(total).items()}
    return Metrics(
        n_items=n_items, n_questions=len(cells), n_judged=tp + fp + fn + tn,
        n_undecided=undecided, n_unparsed=unparsed, n_failed=failed,
        true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn,
        majority=max(positive, n_items - positive) / n_items if n_items else None,
        intervals=dict(_intervals(cells, scores, bootstrap, seed)),
        **scores,
    )  # fmt: skip


def by_question(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Cells:
    """Cells a question, shape ``[questions, 7]``: answers to one question are not independent."""
    numbers = question_numbers(examples)
    cells = np.zeros((max(numbers, default=-1) + 1, _N_CELLS), dtype=np.int64)
    for number, example, judgement in zip(numbers, examples, judgements, strict=True):
        cells[number, _cell(example, judgement)] += 1
    return cells


def question_numbers(examples: Sequence[Example]) -> list[int]:
    """The number of each row's question, as it first appears: 0, 1, ..."""
    numbers: dict[str, int] = {}
    keys = (question_key(e.question or " ".join(e.reference)) for e in examples)
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _cell(example: Example, judgement: Judgement) -> int:
    if judgement.outcome is not Outcome.JUDGED:
        return _REST + _NOT_JUDGED.index(judgement.outcome)
    if says_yes(judgement.verdict):
        return _TP if says_yes(example.verdict) else _FP
    return _FN if says_yes(example.verdict) else _TN


def score(cells: Cells) -> dict[str, NDArray[np.float64]]:
    """Every score of ``cells`` ``[..., 7]``, shape ``[...]``; 0/0 is NaN here and ``None`` outside.

    Cohen's kappa is written with counts, ``2 (tp tn - fp fn) / (said yes * truly no + truly yes *
    said no)``: the value of ``(p_o - p_e) / (1 - p_e)`` without a difference of rounded shares.
    """
    tp, fp, fn, tn = (cells[..., i].astype(np.float64) for i in (_TP, _FP, _FN, _TN))
    judged, everyone = tp + fp + fn + tn, cells.sum(axis=-1)
    said_yes, said_no, truly_yes, truly_no = tp + fp, fn + tn, tp + fn, fp + tn
    determinant = tp * tn - fp * fn
    with np.errstate(invalid="ignore"):
        recall = tp / truly_yes
        return {
            "coverage": judged / everyone,
            "acc_outcome": 100 * (tp + tn) / everyone,
            "accuracy": (tp + tn) / judged,
            "balanced_accuracy": (recall + tn / truly_no) / 2,
            "precision": tp / said_yes,
            "recall": recall,
            "f1": 2 * tp / (said_yes + truly_yes),
            "kappa": 2 * determinant / (said_yes * truly_no + truly_yes * said_no),
            "mcc": determinant / np.sqrt(said_yes * said_no * truly_yes * truly_no),
        }


def resampled(cells: Cells, draws: int, seed: int) -> Iterator[Cells]:
    """Totals of questions drawn with replacement, ``draws`` in all, in blocks ``[b, 7]``."""
    rng = np.random.default_rng(seed)
    n = len(cells)
    block = max(1, _WEIGHTS_AT_ONCE // n)
    for start in range(0, draws, block):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=min(block, draws - start))
        yield weights @ cells


def _intervals(
    cells: Cells, scores: dict[str, float | None], draws: int, seed: int
) -> Iterator[tuple[str, Interval]]:
    """From two questions on; draws in which a score is undefined are left out of its interval."""
    if draws == 0 or len(cells) < 2:
        return
    drawn = score(np.concatenate(list(resampled(cells, draws, seed))))
    for name in BOOTSTRAPPED:
        if scores[name] is not None:
            low, high = np.nanpercentile(drawn[name], (2.5, 97.5)).tolist()
            yield name, Interval(low=low, high=high)


class Pair(Row):
    """Two judges on the rows that both judged; where they differ, one agrees with the label."""

    a: str
    b: str
    n_both: int
    agreement: float | None
    kappa: float | None
    n_differ: int
    a_right: int
    b_right: int


def compare_judges(
    examples: Sequence[Example],
    a: tuple[str, Sequence[Judgement]],
    b: tuple[str, Sequence[Judgement]],
) -> Pair:
    """The two-way agreement of two named judges, and who is right where they differ."""
    cells = np.zeros(_N_CELLS, dtype=np.int64)
    a_right = b_right = 0
    for example, one, other in zip(examples, a[1], b[1], strict=True):
        if one.verdict is None or other.verdict is None:
            continue
        said, answered = says_yes(one.verdict), says_yes(other.verdict)
        cells[_TP if said and answered else _FP if answered else _FN if said else _TN] += 1
        a_right += said is not answered and said is says_yes(example.verdict)
        b_right += said is not answered and answered is says_yes(example.verdict)
    scores = score(cells)
    return Pair(
        a=a[0], b=b[0], n_both=int(cells.sum()), n_differ=a_right + b_right,
        a_right=a_right, b_right=b_right,
        agreement=_defined(scores["accuracy"]), kappa=_defined(scores["kappa"]),
    )  # fmt: skip


def _defined(value: NDArray[np.float64]) -> float | None:
    return None if np.isnan(value) else float(value)
