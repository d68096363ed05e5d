"""Scores of an arm over its seeds, with intervals over questions and seeds.

What is not judged is wrong here: an arm must not gain by saying nothing that can be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.metrics import Interval, question_numbers, says_yes
from gradegpt.schema import Example, Judgement, Row

Counts = NDArray[np.int64]
"""``[questions, 4]``: right of the correct, all correct, right of the rest, all of the rest."""
SCORES: Final = ("accuracy", "balanced_accuracy")


class Score(Row):
    """A score in [0, 1]: its mean over the seeds, each seed's, and its 95 % interval."""

    mean: float
    seeds: tuple[float, ...]
    interval: Interval


class Arm(Row):
    """One way of training (or none) and how well it judges."""

    name: str
    budget: str
    steps: int
    tokens: int
    parsed: float
    scores: dict[str, Score]
    by_source: dict[str, float]
    """Balanced accuracy a source, mean over the seeds."""
    gain: dict[str, Score]
    """Over the first arm of the same budget that it is compared with; empty for that one."""


def counts(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Counts:
    """Right and all answers a question, of the correct ones and of the rest."""
    numbers = question_numbers(examples)
    made = np.zeros((max(numbers, default=-1) + 1, 4), dtype=np.int64)
    for place, example, judgement in zip(numbers, examples, judgements, strict=True):
        yes = says_yes(example.verdict)
        right = judgement.verdict is not None and says_yes(judgement.verdict) is yes
        made[place, 0 if yes else 2] += right
        made[place, 1 if yes else 3] += 1
    return made


def score(cells: Counts) -> dict[str, NDArray[np.float64]]:
    """Each of ``SCORES``, ``[..., 4]`` to ``[...]``; NaN where a class has no rows."""
    yes_right, yes, no_right, no = (cells[..., n].astype(np.float64) for n in range(4))
    with np.errstate(invalid="ignore"):
        return {
            "accuracy": (yes_right + no_right) / (yes + no),
            "balanced_accuracy": (yes_right / yes + no_right / no) / 2,
        }


def over_seeds(
    arms: Mapping[str, Sequence[Counts]], *, draws: int, seed: int
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """For every arm and score ``[draws + 1]``: the mean over seeds, first as it is, then resampled.

    A draw takes questions and seeds with replacement, the same for every arm, so that differences
    between arms are paired.
    """
    rng = np.random.default_rng(seed)
    n_questions = len(next(iter(arms.values()))[0])
    n_seeds = max(len(seeds) for seeds in arms.values())
    weights = rng.multinomial(n_questions, np.full(n_questions, 1 / n_questions), size=draws)
    weights = np.concatenate([np.ones((1, n_questions), dtype=weights.dtype), weights])
    picked = rng.integers(n_seeds, size=(draws, n_seeds))
    picked = np.concatenate([np.arange(n_seeds)[None], picked])
    made: dict[str, dict[str, NDArray[np.float64]]] = {}
    for name, seeds in arms.items():
        drawn = [score(weights @ cells) for cells in seeds]
        made[name] = {
            s: np.take_along_axis(
                np.stack([d[s] for d in drawn], axis=1), picked % len(seeds), axis=1
            ).mean(axis=1)
            for s in SCORES
        }
    return made


def summarised(values: NDArray[np.float64], seeds: Sequence[float]) -> Score:
    """The first value with the interval of the rest."""
    low, high = np.nanpercentile(values[1:], (2.5, 97.5)).tolist()
    return Score(mean=float(values[0]), seeds=tuple(seeds), interval=Interval(low=low, high=high))
