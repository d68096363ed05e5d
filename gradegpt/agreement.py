"""Agreement with the labels, by formulas in the open, with intervals over questions. Needs numpy.

Two-way: ``correct`` is the positive class, ``invalid`` counts as incorrect, in labels and verdicts
alike. Rows are counted once, as ``Cells``; every score and every bootstrap draw is read off these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradegpt.importers.labelled import item_key
from gradegpt.schema import Example, Judgement, Outcome, Verdict

Cells = NDArray[np.int64]
"""Counts ``[..., 2, 5]``: the label (no, yes) by what was said (no, yes, undecided, unparsed,
failed). Each row of the data is in one of them, so they add up to the rows."""
Scores = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

_JUDGED: Final = 2
"""The columns of verdicts, before those of outcomes without one."""
_NOT_JUDGED: Final = (Outcome.UNDECIDED, Outcome.UNPARSED, Outcome.FAILED)
_WEIGHTS_AT_ONCE: Final = 4_000_000


def says_yes(verdict: Verdict | None) -> bool:
    """The two-way reading: ``correct`` or not."""
    return verdict is Verdict.CORRECT


def column(outcome: Outcome, verdict: Verdict | None) -> int:
    """Where ``Cells`` count what was said: 0 for no, 1 for yes, 2 to 4 for what is not judged."""
    judged = outcome is Outcome.JUDGED
    return int(says_yes(verdict)) if judged else _JUDGED + _NOT_JUDGED.index(outcome)


def table(
    truths: ArrayLike, said: ArrayLike, groups: ArrayLike | None = None, size: int | None = None
) -> Cells:
    """Count rows ``[n]`` a group, shape ``[groups, 2, 5]``; without ``groups`` all are in one.

    ``truths`` are labels, ``said`` columns (a bool is one), ``groups`` numbers from 0; ``size`` is
    the number of groups where the last of them may have no row.

    >>> table(truths=[True, True, False], said=[True, False, 3]).tolist()
    [[[0, 0, 0, 1, 0], [1, 1, 0, 0, 0]]]

    Raises:
        ValueError: the lengths differ.

    """
    truth, claim = np.asarray(truths, dtype=np.int64), np.asarray(said, dtype=np.int64)
    place = np.zeros_like(truth) if groups is None else np.asarray(groups, dtype=np.int64)
    if not truth.shape == claim.shape == place.shape:
        raise ValueError(f"{truth.size} labels, {claim.size} verdicts and {place.size} groups")
    n_groups = int(place.max(initial=-1)) + 1 if size is None else size
    cells = np.zeros((n_groups, 2, _JUDGED + len(_NOT_JUDGED)), dtype=np.int64)
    np.add.at(cells, (place, truth, claim), 1)
    return cells


def numbered(keys: Iterable[str]) -> NDArray[np.int64]:
    """0, 1, ... for each key as it first appears, shape ``[n]``."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def by_question(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Cells:
    """Cells a question, ``[questions, 2, 5]``: answers to one question are not independent."""
    return table(
        [says_yes(example.verdict) for example in examples],
        [column(judgement.outcome, judgement.verdict) for judgement in judgements],
        numbered(item_key(e) for e in examples),
    )


def silence_is_wrong(cells: Cells) -> Cells:
    """The same rows, each that was not judged as if it had the wrong verdict; same shape.

    For comparisons in which a judge must not gain by saying nothing that can be read.
    """
    silent = cells[..., _JUDGED:].sum(axis=-1, keepdims=True)
    strict = np.zeros_like(cells)
    strict[..., :_JUDGED] = cells[..., :_JUDGED] + silent * (1 - np.eye(2, dtype=np.int64))
    return strict


def score(cells: Cells) -> dict[str, Scores]:
    """Every score of ``cells`` ``[..., 2, 5]``, shape ``[...]``; 0/0 is NaN, as it has no value.

    With true and false positives and negatives tp, fp, fn, tn. Over all rows:

    * ``coverage``: judged / all; ``majority``: the share of the more frequent label.
    * ``acc_outcome``: 100 (tp + tn) / all, in percent (CMMaTH, equation 2), so silence never pays.

    Over the rows that were judged:

    * ``accuracy``: (tp + tn) / judged; ``precision``: tp / (tp + fp); ``recall``: tp / (tp + fn).
    * ``f1``: 2 tp / (2 tp + fp + fn).
    * ``balanced_accuracy``: (tp / (tp + fn) + tn / (tn + fp)) / 2 (Brodersen et al. 2010).
    * ``kappa``: (p_o - p_e) / (1 - p_e) (Cohen 1960), here with counts, 2 (tp tn - fp fn) / (said
      yes * truly no + truly yes * said no): the same value without a difference of rounded shares.
    * ``mcc``: (tp tn - fp fn) / sqrt(said yes * said no * truly yes * truly no) (Matthews 1975).
    """
    judged = cells[..., :_JUDGED].astype(np.float64)
    (tn, fp), (fn, tp) = np.moveaxis(judged, (-2, -1), (0, 1))
    n_judged, labels = judged.sum(axis=(-2, -1)), cells.sum(axis=-1)
    everyone = labels.sum(axis=-1)
    said_yes, said_no, truly_yes, truly_no = tp + fp, fn + tn, tp + fn, fp + tn
    determinant = tp * tn - fp * fn
    with np.errstate(invalid="ignore"):
        recall = tp / truly_yes
        return {
            "coverage": n_judged / everyone,
            "majority": labels.max(axis=-1) / everyone,
            "acc_outcome": 100 * (tp + tn) / everyone,
            "accuracy": (tp + tn) / n_judged,
            "balanced_accuracy": (recall + tn / truly_no) / 2,
            "precision": tp / said_yes,
            "recall": recall,
            "f1": 2 * tp / (said_yes + truly_yes),
            "kappa": 2 * determinant / (said_yes * truly_no + truly_yes * said_no),
            "mcc": determinant / np.sqrt(said_yes * said_no * truly_yes * truly_no),
        }


def resampled(
    cells: NDArray[Number], draws: int, seed: int | np.random.Generator
) -> NDArray[Number]:
    """Totals ``[1 + draws, ...]`` of ``cells`` ``[questions, ...]``: as they are, then resampled.

    The cluster bootstrap (Field and Welsh 2007): questions are drawn with replacement, each with
    all its answers. Judges side by side, ``[questions, judges, 2, 5]``, are drawn alike, so that
    their differences are paired.
    """
    rng, n = np.random.default_rng(seed), len(cells)
    totals = [cells.sum(axis=0)[None]]
    block = 1 + _WEIGHTS_AT_ONCE // (1 + n)  # the weights of all draws need not fit in memory
    for start in range(0, draws, block):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=min(block, draws - start))
        totals.append(np.tensordot(weights, cells, axes=1))
    return np.concatenate(totals)


def estimate(values: Scores) -> tuple[float, float, float]:
    """A score of ``resampled`` ``[1 + draws]``: its value and its 95 % percentile interval.

    Efron and Tibshirani (1993), chapter 13. Draws in which the score is not defined are left out;
    the ends are NaN where none is left.
    """
    defined = values[1:][~np.isnan(values[1:])]
    low, high = np.percentile(defined, (2.5, 97.5)) if defined.size else (np.nan, np.nan)
    return float(values[0]), float(low), float(high)
