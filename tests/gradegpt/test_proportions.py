"""Limits of proportions: published values, and coverage by exact enumeration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from gradegpt.proportions import Limits, clopper_pearson, jeffreys, wilson


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (1, 60), (59, 60), (450, 500)])
def test_wilson_and_clopper_pearson_are_scipys(k: int, n: int) -> None:
    """Both limits, at two levels, are those of scipy's binomial test."""
    for level in (0.95, 0.8):
        result = binomtest(k, n)
        for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
            theirs = result.proportion_ci(level, method=method)
            assert ours(k, n, level) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(
    ("limits", "least"), [(wilson, 0.82), (jeffreys, 0.88), (clopper_pearson, 0.95)]
)
def test_coverage(limits: Callable[[object, object], Limits], least: float) -> None:
    """Over all rates each covers 95 % on average, Clopper-Pearson's always at least that."""
    n = 50
    low, high = limits(np.arange(n + 1), n)
    rates = np.linspace(0.005, 0.995, 199)
    cover = np.array([
        binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() for p in rates
    ])  # fmt: skip
    assert cover.mean() >= 0.945
    assert cover.min() >= least


@pytest.mark.parametrize("limits", [wilson, jeffreys, clopper_pearson])
def test_edges(limits: Callable[[object, object], Limits]) -> None:
    """Nothing counted is unknown; one row is not certain; arrays keep their shape; symmetry."""
    assert [float(x) for x in limits(0, 0)] == [0, 1]
    low, high = limits(1, 1)
    assert 0 < low < 0.5
    assert high == 1
    low, high = limits([[0, 2], [5, 10]], 10)
    assert low.shape == high.shape == (2, 2)
    assert low[0, 1] == pytest.approx(1 - limits(8, 10)[1])


def test_more_successes_than_rows_are_refused() -> None:
    """So are fewer than none."""
    for k in (-1, 4):
        with pytest.raises(ValueError, match="from 0 to n"):
            wilson(k, 3)
