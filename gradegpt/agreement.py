"""Agreement with the labels by published formulas, with intervals over questions. Needs numpy.

Binary: ``correct`` is the positive class, ``invalid`` counts as incorrect, in labels and verdicts
alike. Rows are counted once, as ``Cells``; every score and every bootstrap draw is computed from
these counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradegpt.importers.labelled import item_key
from gradegpt.schema import Example, Judgement, Outcome, Verdict

Cells = NDArray[np.int64]
"""Counts ``[..., 2, 5]``: the label (no, yes) by the result (no, yes, undecided, unparsed, failed).
Each row of the data is counted in exactly one cell, so the cells add up to the number of rows."""
Scores = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

_JUDGED: Final = 2
"""The first two columns are verdicts; the columns of outcomes without a verdict follow."""
_NOT_JUDGED: Final = (Outcome.UNDECIDED, Outcome.UNPARSED, Outcome.FAILED)
_WEIGHTS_AT_ONCE: Final = 4_000_000


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


def by_question(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Cells:
    """The cells of each question, ``[questions, 2, 5]``: its answers are not independent."""
    return table(
        [says_yes(example.verdict) for example in examples],
        [column(judgement.outcome, judgement.verdict) for judgement in judgements],
        numbered(item_key(e) for e in examples),
    )


def unjudged_as_wrong(cells: Cells) -> Cells:
    """The same rows, with each row that was not judged counted as a wrong verdict; same shape.

    For comparisons in which a judge must not gain by giving no verdict.
    """
    unjudged = cells[..., _JUDGED:].sum(axis=-1, keepdims=True)
    strict = np.zeros_like(cells)
    strict[..., :_JUDGED] = cells[..., :_JUDGED] + unjudged * (1 - np.eye(2, dtype=np.int64))
    return strict


def score(cells: Cells) -> dict[str, Scores]:
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
    * ``mcc``: (tp tn - fp fn) / sqrt(judged yes * judged no * labelled yes * labelled no)
      (Matthews 1975).
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
            "mcc": determinant / np.sqrt(judged_yes * judged_no * labelled_yes * labelled_no),
        }


def areas(
    right: NDArray[np.bool_],
    chance: Scores,
    question: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> Scores:
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
        found: Scores = twice / (2 * n_yes.sum(axis=1) * n_no[:, -1])
    return found


def drawn_weights(
    n: int, draws: int, seed: int | np.random.Generator, n_rows: int = 0
) -> Iterator[NDArray[np.int64]]:
    """How often each of ``n`` questions is in each draw: blocks of draws, ``[block, n]``.

    The cluster bootstrap (Field and Welsh 2007): questions are drawn with replacement, each with
    all its answers. A block is small enough to be repeated for ``n_rows`` rows.
    """
    rng = np.random.default_rng(seed)
    block = 1 + _WEIGHTS_AT_ONCE // (1 + max(n, n_rows))  # all draws need not fit in memory
    for start in range(0, draws, block):
        yield rng.multinomial(n, np.full(n, 1 / n), size=min(block, draws - start))


def resampled(
    cells: NDArray[Number], draws: int, seed: int | np.random.Generator
) -> NDArray[Number]:
    """Totals ``[1 + draws, ...]`` of ``cells`` ``[questions, ...]``: observed, then resampled.

    Several judges, ``[questions, judges, 2, 5]``, share their ``drawn_weights``, so that their
    differences are paired.
    """
    totals = [cells.sum(axis=0)[None]]
    blocks = drawn_weights(len(cells), draws, seed)
    totals.extend(np.tensordot(weights, cells, axes=1) for weights in blocks)
    return np.concatenate(totals)


def estimate(values: Scores) -> tuple[float, float, float]:
    """A score of ``resampled`` ``[1 + draws]``: its value and its 95 % percentile interval.

    Efron and Tibshirani (1993), chapter 13. Draws in which the score is not defined are left out;
    the ends are NaN where none is left.
    """
    defined = values[1:][~np.isnan(values[1:])]
    low, high = np.percentile(defined, (2.5, 97.5)) if defined.size else (np.nan, np.nan)
    return float(values[0]), float(low), float(high)
