"""Bias and coverage of the calibration error of ``gradegpt eval``, by simulation.

    python -m benchmarks.calibration_error

Judges of known calibration judge questions with one answer each, or with four answers whose
verdicts are correlated. For each: the true error in the bins, the mean estimate and the share of
its 95 % intervals that hold the truth.
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


class Sample(NamedTuple):
    """One simulated evaluation; the errors are of its own bins."""

    truth: float
    error: float
    covered: bool


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
    truth = float(np.sqrt(weights @ gaps**2))
    return Sample(truth, found.error, found.interval.low <= truth <= found.interval.high)


def main(samples: Annotated[int, typer.Option(help="Evaluations a case.")] = 500) -> None:
    """Print a line for every judge, number of rows and number of answers to a question."""
    table = []
    cases = [(judge, n, answers) for judge in JUDGES for n in ROWS for answers in (1, 4)]
    rng = np.random.default_rng(0)
    for judge, n, answers in track(cases, "simulating"):
        drawn = np.array([sample(rng, judge, n, answers) for _ in range(samples)])
        true, error, covered = drawn.mean(axis=0)
        table.append((
            judge, f"{n:,}", f"{answers}", f"{true:.3f}", f"{error:.3f}", f"{covered:.1%}",
        ))  # fmt: skip
    show(("judge", "rows", "answers", "true", "estimate", "covered"), table)


if __name__ == "__main__":
    typer.run(main)
