"""Bias and coverage of the calibration error of ``gradegpt eval``, by simulation.

    python -m benchmarks.calibration_error

Judges of known calibration judge questions with one answer each, or with four answers whose
verdicts are correlated. For each: the true error in the bins, the mean estimate and the share of
its 95 % intervals that hold the truth, and beside them the plain expected calibration error (ECE),
what a perfectly calibrated judge shows of it by chance, and how often its percentile bootstrap
interval holds the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import track
from scipy.special import ndtr

from eval.console import show
from eval.reliability import Rated, calibration, equal_mass

Values = NDArray[np.float64]
ROWS: Final = (20, 60, 300, 1000)
JUDGES: Final[dict[str, tuple[Callable[[np.random.Generator, int], Values],
                              Callable[[Values], Values]]]] = {
    "calibrated, very sure": (lambda rng, n: rng.beta(60, 1, n), lambda c: c),
    "calibrated, sure": (lambda rng, n: rng.beta(9, 1, n), lambda c: c),
    "calibrated, unsure": (lambda rng, n: rng.uniform(0.5, 1, n), lambda c: c),
    "0.1 overconfident": (lambda rng, n: rng.beta(9, 1, n), lambda c: np.clip(c - 0.1, 0, 1)),
    "too steep": (lambda rng, n: rng.uniform(0.5, 1, n), lambda c: 0.5 + 0.6 * (c - 0.5)),
    "0.05 underconfident": (lambda rng, n: rng.beta(9, 1, n), lambda c: np.clip(c + 0.05, 0, 1)),
}  # fmt: skip
"""The confidences that a judge gives, and its accuracy at each."""
_SHARED: Final = 0.4
"""The part of a verdict's chance that the answers to one question share."""
_DRAWS: Final = 200


class Sample(NamedTuple):
    """One simulated evaluation; the errors are of its own bins."""

    truth: float
    absolute_truth: float
    error: float
    covered: bool
    ece: float
    by_chance: float
    ece_covered: bool


def sample(rng: np.random.Generator, judge: str, n: int, answers: int) -> Sample:
    """Judge ``n`` rows, ``answers`` to a question, and measure the calibration."""
    confidences, accuracy = JUDGES[judge]
    confidence, question = confidences(rng, n), np.arange(n) // answers
    shared = rng.normal(size=question[-1] + 1)[question]
    weight = _SHARED if answers > 1 else 0.0
    chance = ndtr(np.sqrt(weight) * shared + np.sqrt(1 - weight) * rng.normal(size=n))
    rows = Rated(confidence, chance < accuracy(confidence), question)
    found = calibration(rows)
    bins = equal_mass(confidence)
    weights = np.array([len(rows) / n for rows in bins])
    gaps = np.array([(accuracy(confidence[b]) - confidence[b]).mean() for b in bins])
    truth, absolute = float(np.sqrt(weights @ gaps**2)), float(weights @ np.abs(gaps))
    low, high = np.percentile(_redrawn(rng, rows, bins), (2.5, 97.5))
    return Sample(
        truth, absolute, found.error, found.interval.low <= truth <= found.interval.high,
        found.ece, found.ece_by_chance, bool(low <= absolute <= high),
    )  # fmt: skip


def _redrawn(rng: np.random.Generator, rows: Rated, bins: list[NDArray[np.int64]]) -> Values:
    """The plain error in the same bins, with questions drawn with replacement."""
    n_questions = int(rows.question.max()) + 1
    sums, counts = np.zeros((2, n_questions, len(bins)))
    for place, one in enumerate(bins):
        gaps = rows.right[one] - rows.confidence[one]
        sums[:, place] = np.bincount(rows.question[one], gaps, n_questions)
        counts[:, place] = np.bincount(rows.question[one], minlength=n_questions)
    drawn = rng.multinomial(n_questions, np.full(n_questions, 1 / n_questions), size=_DRAWS)
    return np.abs(drawn @ sums).sum(axis=1) / (drawn @ counts).sum(axis=1)


def main(samples: Annotated[int, typer.Option(help="Evaluations a case.")] = 500) -> None:
    """Print a line for every judge, number of rows and number of answers to a question."""
    table = []
    cases = [(judge, n, answers) for judge in JUDGES for n in ROWS for answers in (1, 4)]
    rng = np.random.default_rng(0)
    for judge, n, answers in track(cases, "simulating"):
        drawn = np.array([sample(rng, judge, n, answers) for _ in range(samples)])
        true, _, error, covered, ece, by_chance, ece_covered = drawn.mean(axis=0)
        table.append((
            judge, f"{n:,}", f"{answers}", f"{true:.3f}", f"{error:.3f}", f"{covered:.1%}",
            f"{ece:.3f}", f"{by_chance:.3f}", f"{ece_covered:.1%}",
        ))  # fmt: skip
    measured = ("true", "estimate", "covered", "ECE", "by chance", "ECE covered")
    show(("judge", "rows", "answers", *measured), table)


if __name__ == "__main__":
    typer.run(main)
