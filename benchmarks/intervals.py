"""Coverage and width of the intervals of ``gradegpt eval.estimate``, by simulation.

    python -m benchmarks.intervals

Items are drawn with an accuracy, a judge with a sensitivity and a specificity judges them, and a
few are labelled: at random, or by verdict as ``--pick`` draws them. For each method: the cases
whose 95 % interval covers the true accuracy too rarely (below 93 %) or too often (above 98 %), and
its mean width against the efficient bound and against labels alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.estimate.estimate import Bounds, LabelCounts, stratified
from eval.estimate.pick import allocation
from gradegpt.judges.statistics import Values, wilson

ACCURACIES: Final = (0.3, 0.5, 0.7, 0.85, 0.93, 0.97)
SENSITIVITIES: Final = (0.7, 0.85, 0.95, 0.99)
SPECIFICITIES: Final = (0.6, 0.8, 0.95, 0.99)
LABELS: Final = (30, 60, 100, 200, 500)
ITEMS: Final = 2000
_Z: Final = 1.959964


class Case(NamedTuple):
    """A model, a judge and a number of labels."""

    accuracy: float
    sensitivity: float
    specificity: float
    labels: int

    @property
    def judged_correct(self) -> float:
        """The expected share of items judged correct."""
        return self.accuracy * self.sensitivity + (1 - self.accuracy) * (1 - self.specificity)

    def allocated(self) -> Values:
        """Labels of items judged correct and judged incorrect, ``[2]``, by verdict."""
        first = round(ITEMS * self.judged_correct)
        return allocation(np.array([first, ITEMS - first], dtype=float), self.labels)

    def efficient_width(self, by_verdict: bool) -> float:
        """The width of an interval at the efficiency bound of labels drawn so."""
        share = np.array([self.judged_correct, 1 - self.judged_correct])
        rate = self.accuracy * np.array([self.sensitivity, 1 - self.sensitivity]) / share
        n = self.allocated() if by_verdict else self.labels * share
        within = (share**2 * rate * (1 - rate) / n).sum()
        between = (share * rate**2).sum() - self.accuracy**2
        return float(2 * _Z * np.sqrt(within + between / ITEMS))


class Measured(NamedTuple):
    """A method in a case: coverage where it is offered, mean width, and how often it is."""

    coverage: float
    width: float
    offered: float


def drawn(case: Case, draws: int, rng: np.random.Generator, by_verdict: bool) -> LabelCounts:
    """Data sets ``[draws, 2]`` with labels at random or by verdict."""
    right = rng.binomial(ITEMS, case.accuracy, draws)
    accepted = rng.binomial(right, case.sensitivity)
    false = rng.binomial(ITEMS - right, 1 - case.specificity)
    items = np.stack([accepted + false, ITEMS - accepted - false], axis=1)
    if by_verdict:
        planned = case.allocated()[0]
        first = np.clip(planned, case.labels - items[:, 1], items[:, 0]).astype(int)
    else:
        first = rng.hypergeometric(items[:, 0], items[:, 1], case.labels)
    labelled = np.stack([first, case.labels - first], axis=1)
    correct = np.stack([accepted, right - accepted], axis=1)
    return LabelCounts(*(x.astype(float) for x in (
        items, labelled, rng.hypergeometric(correct, items - correct, labelled)
    )))  # fmt: skip


def gold_only(counts: LabelCounts) -> Bounds:
    """The share of labelled items that are correct, with Wilson's limits; for random labels."""
    n, k = counts.labelled.sum(axis=-1), counts.correct.sum(axis=-1)
    return Bounds(k / n, *wilson(k, n))


def measured(found: Bounds, accuracy: float) -> Measured:
    """Coverage and width over the data sets in which the method gives an interval."""
    offered = ~np.isnan(found.value)
    inside = (found.low <= accuracy) & (accuracy <= found.high)
    if not offered.any():
        return Measured(np.nan, np.nan, 0.0)
    width = (found.high - found.low)[offered].mean()
    return Measured(float(inside[offered].mean()), float(width), float(offered.mean()))


def methods(case: Case, draws: int, rng: np.random.Generator) -> Iterator[tuple[str, Measured]]:
    """Every method on labels drawn in every way that it accepts."""
    random, by_verdict = (drawn(case, draws, rng, way) for way in (False, True))
    for name, found in (
        ("labels alone, random", gold_only(random)),
        ("stratified, random", stratified(random)),
        ("stratified, by verdict", stratified(by_verdict)),
    ):
        yield name, measured(found, case.accuracy)


def main(
    draws: Annotated[int, typer.Option(min=100, help="Data sets a case.")] = 4000,
    seed: int = 0,
    least: Annotated[float, typer.Option(help="Data sets that must offer a method.")] = 0.05,
) -> None:
    """Print coverage and width of every method over all cases."""
    rng = np.random.default_rng(seed)
    grid = [
        Case(*values)
        for values in itertools.product(ACCURACIES, SENSITIVITIES, SPECIFICITIES, LABELS)
    ]
    found: dict[str, list[tuple[Case, Measured]]] = {}
    for case in track(grid, "simulating"):
        for name, result in methods(case, draws, rng):
            found.setdefault(name, []).append((case, result))
    gold = {case: result.width for case, result in found["labels alone, random"]}
    table = Table(title=f"{len(grid)} cases, {draws:,} data sets each, nominal 95 %")
    for column in (
        "method, labels", "cases", "coverage", "<93 %", ">98 %", "width / bound", "width / gold"
    ):  # fmt: skip
        table.add_column(column, justify="left" if column.startswith("method") else "right")
    for name, results in found.items():
        used = [(c, m) for c, m in results if m.offered >= least]
        cover = np.array([m.coverage for _, m in used])
        bound = np.array([m.width / c.efficient_width("verdict" in name) for c, m in used])
        alone = np.array([m.width / gold[c] for c, m in used])
        table.add_row(
            name, str(len(used)), f"{cover.min():.3f} to {cover.max():.3f}",
            str((cover < 0.93).sum()), str((cover > 0.98).sum()),
            f"{np.median(bound):.2f} (to {bound.max():.2f})", f"to {alone.max():.2f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
