"""Coverage and width of the intervals of ``gradegpt eval.estimate --compare``, by simulation.

    python -m benchmarks.differences

Two models answer the same items, with correlated success; a judge with a sensitivity and a
specificity judges both, and a few items are labelled: at random or by the pair of results as
``--pick`` draws them, both answers or (half of them) only one. For each method: the cases whose
95 % interval covers the true difference too rarely (below 93 %) or too often (above 98 %), and its
mean width against labels alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.estimate.estimators import (
    LEAST_LABELS,
    Bounds,
    PairCounts,
    bonett_price,
    stratified_difference,
)
from eval.estimate.pick import allocation
from gradegpt.judges.statistics import Values

ACCURACIES: Final = (0.3, 0.5, 0.7, 0.9, 0.97)
DIFFERENCES: Final = (0.0, 0.05, 0.2)
CORRELATIONS: Final = (0.0, 0.4, 0.8)
JUDGES: Final = ((0.7, 0.6), (0.85, 0.8), (0.95, 0.95), (0.99, 0.99))
LABELS: Final = (30, 60, 100, 200, 500)
ITEMS: Final = 2000


class Case(NamedTuple):
    """Two models, a judge and a number of labelled items; the first model is the better one."""

    accuracy: float
    difference: float
    correlation: float
    judge: tuple[float, float]
    labels: int

    def truth(self) -> Values | None:
        """The shares of items ``[2, 2]`` by both models' success; None where there are none."""
        a, b = self.accuracy, self.accuracy - self.difference
        each = a * b + self.correlation * np.sqrt(a * (1 - a) * b * (1 - b))
        cells = np.array([[1 - a - b + each, b - each], [a - each, each]])
        return None if b <= 0 or cells.min() < 0 else cells

    def cells(self) -> Values:
        """The shares ``[strata, 2, 2]``: by results of the judge, and by success."""
        sensitivity, specificity = self.judge
        accepts = np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
        truth = self.truth()
        return np.einsum("ab,ar,bs->rsab", truth, accepts, accepts).reshape(4, 2, 2)


class Measured(NamedTuple):
    """A method in a case: its coverage and mean width."""

    coverage: float
    width: float


def drawn(case: Case, draws: int, rng: np.random.Generator, by_verdict: bool) -> PairCounts:
    """Data sets with both labels of each labelled item."""
    shares = case.cells()
    items = rng.multinomial(ITEMS, shares.reshape(-1), draws).reshape(draws, 4, 4)
    sizes = items.sum(axis=-1)
    if by_verdict:
        planned = allocation(np.round(ITEMS * shares.sum(axis=(1, 2))), case.labels)
        quota = np.minimum(planned.astype(int), sizes)
    else:
        quota = hypergeometric(sizes, np.full(draws, case.labels), rng)
    both = hypergeometric(items, quota, rng).astype(float)
    none = np.zeros((draws, 4, 2))
    return PairCounts(sizes.astype(float), both.reshape(draws, 4, 2, 2), none, none)


def hypergeometric(
    sizes: NDArray[np.int64], wanted: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """How many of ``wanted`` ``[...]`` items, drawn without replacement, are of each cell."""
    drawn, left = np.zeros_like(sizes), wanted
    for cell in range(sizes.shape[-1]):
        rest = sizes[..., cell + 1 :].sum(axis=-1)
        drawn[..., cell] = rng.hypergeometric(sizes[..., cell], rest, left)
        left = left - drawn[..., cell]
    return drawn


def in_halves(counts: PairCounts, rng: np.random.Generator) -> PairCounts:
    """The same data with one of the two labels of half the labelled items removed."""
    cells = counts.both.astype(int)
    kept = rng.binomial(cells, 0.5)
    one = rng.binomial(cells - kept, 0.5)
    other = cells - kept - one
    return PairCounts(
        counts.items, kept.astype(float), one.sum(axis=-1).astype(float),
        other.sum(axis=-2).astype(float),
    )  # fmt: skip


def one_label(counts: PairCounts, rng: np.random.Generator) -> Bounds | None:
    """The estimate from ``in_halves``; None where a model has too few labels on average."""
    halved = in_halves(counts, rng)
    mean = min(side.sum(axis=(-2, -1)).mean() for side in halved.sides)
    return None if mean < LEAST_LABELS else stratified_difference(halved)


def methods(case: Case, draws: int, rng: np.random.Generator) -> Iterator[tuple[str, Measured]]:
    """Every method on labels drawn in every way that it accepts."""
    random, by_verdict = (drawn(case, draws, rng, way) for way in (False, True))
    for name, found in (
        ("labels alone (Bonett-Price), random", bonett_price(random.both.sum(axis=-3))),
        ("stratified, random", stratified_difference(random)),
        ("stratified, by results", stratified_difference(by_verdict)),
        ("stratified, random, half with one label", one_label(random, rng)),
    ):
        if found is None:
            continue
        inside = (found.low <= case.difference) & (case.difference <= found.high)
        yield name, Measured(float(inside.mean()), float((found.high - found.low).mean()))


def main(
    draws: Annotated[int, typer.Option(min=100, help="Data sets a case.")] = 2000,
    seed: int = 0,
    worst: Annotated[int, typer.Option(help="So many cases with the least coverage each.")] = 0,
) -> None:
    """Print coverage and width of every method over all cases."""
    rng = np.random.default_rng(seed)
    grid = [
        Case(*v) for v in itertools.product(ACCURACIES, DIFFERENCES, CORRELATIONS, JUDGES, LABELS)
    ]
    grid = [case for case in grid if case.truth() is not None]
    found: dict[str, list[tuple[Case, Measured]]] = {}
    for case in track(grid, "simulating"):
        for name, result in methods(case, draws, rng):
            found.setdefault(name, []).append((case, result))
    alone = {case: result.width for case, result in next(iter(found.values()))}
    table = Table(title=f"{len(grid)} cases, {draws:,} data sets each, nominal 95 %")
    for column in ("method, labels", "cases", "coverage", "<93 %", ">98 %", "width / labels alone"):
        table.add_column(column, justify="left" if column.startswith("method") else "right")
    for name, results in found.items():
        cover = np.array([m.coverage for _, m in results])
        width = np.array([m.width / alone[c] for c, m in results])
        table.add_row(
            name, str(len(results)), f"{cover.min():.3f} to {cover.max():.3f}",
            str((cover < 0.93).sum()), str((cover > 0.98).sum()),
            f"{np.median(width):.2f} (to {width.max():.2f})",
        )  # fmt: skip
    Console().print(table)
    for name, results in found.items() if worst else ():
        for case, result in sorted(results, key=lambda pair: pair[1].coverage)[:worst]:
            print(name, case, f"{result.coverage:.3f}")


if __name__ == "__main__":
    typer.run(main)
