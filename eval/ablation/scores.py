"""Scores of an arm over its seeds, with intervals over questions and seeds.

A row without a verdict counts as wrong here: an arm must not gain by unparsed replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gradegpt.agreement import Cells, Scores, estimate, resampled, score
from gradegpt.schema import Row

from ..metrics import Interval, share_interval

SCORES: Final = ("accuracy", "balanced_accuracy")


class Score(Row):
    """A score in [0, 1]: its mean over the seeds, each seed's, and its 95 % interval."""

    mean: float
    seeds: tuple[float, ...]
    interval: Interval


class Arm(Row):
    """One way of training, or none, with its scores."""

    name: str
    budget: str
    steps: int
    tokens: int
    parsed: float
    scores: dict[str, Score]
    by_source: dict[str, float]
    """Balanced accuracy a source, mean over the seeds."""
    gain: dict[str, Score]
    """The difference to the first arm of the same budget; empty for that arm."""


def over_seeds(
    arms: Mapping[str, Sequence[Cells]], *, draws: int, seed: int
) -> dict[str, dict[str, Scores]]:
    """For every arm and score ``[draws + 1]``: the mean over seeds, first observed, then resampled.

    A draw takes questions and seeds with replacement, the same for every arm, so that differences
    between arms are paired.
    """
    rng = np.random.default_rng(seed)
    runs = np.stack([cells for seeds in arms.values() for cells in seeds], axis=1)
    drawn = score(resampled(runs, draws, rng))
    n_seeds = max(len(seeds) for seeds in arms.values())
    picked = rng.integers(n_seeds, size=(draws, n_seeds))
    picked = np.concatenate([np.arange(n_seeds)[None], picked])
    made: dict[str, dict[str, Scores]] = {}
    first = 0
    for name, seeds in arms.items():
        places = first + picked % len(seeds)
        made[name] = {s: np.take_along_axis(drawn[s], places, axis=1).mean(axis=1) for s in SCORES}
        first += len(seeds)
    return made


def rated(values: Scores, seeds: Sequence[float], cells: Cells, name: str) -> Score:
    """``summarised`` for one of ``SCORES``, which are shares; ``cells`` ``[questions, 2, 5]``.

    The limits of a share of none or all are those of the rarer label's questions, in balanced
    accuracy.
    """
    labelled = (cells.sum(axis=2) > 0).sum(axis=0)
    n_questions = len(cells) if name == "accuracy" else int(labelled.min())
    interval = share_interval(values, n_questions)
    return Score(mean=float(values[0]), seeds=tuple(seeds), interval=interval)


def summarised(values: Scores, seeds: Sequence[float]) -> Score:
    """The first value, which was observed, with the interval of the resampled others."""
    mean, low, high = estimate(values)
    return Score(mean=mean, seeds=tuple(seeds), interval=Interval(low=low, high=high))
