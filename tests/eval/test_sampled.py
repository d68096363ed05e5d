"""Scores over several answers, against hand arithmetic and the enumeration of all subsets."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest

from eval.scores.sampled import g_pass_at_k, mg_pass_at_k, pass_at_k


def drawn(n: int, c: int, k: int, least: int) -> float:
    """The share of all subsets of ``k`` answers with at least ``least`` right ones."""
    subsets = list(combinations([1] * c + [0] * (n - c), k))
    return sum(sum(subset) >= least for subset in subsets) / len(subsets)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_every_subset_is_counted(n: int) -> None:
    """The formulas are the shares of subsets, for every number of right answers."""
    for c in range(n + 1):
        for k in range(1, n + 1):
            assert pass_at_k(n, c, k) == pytest.approx(drawn(n, c, k, 1), abs=1e-12)
            of_i = [drawn(n, c, k, i) for i in range(1, k + 1)]
            for i in range(1, k + 1):
                assert g_pass_at_k(n, c, k, i / k) == pytest.approx(of_i[i - 1], abs=1e-12)
            upper = of_i[-(-k // 2) :]
            assert mg_pass_at_k(n, c, k) == pytest.approx(2 / k * sum(upper), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "k", "passes", "mean"),
    [
        # Chen et al. 2021: the usual estimate is 1 - (1 - c/n)^k = 0.271 and biased.
        (10, 1, 3, 0.3, 0.0),
        # Four predictions as ATLAS draws them (section 5.1); by hand: C(3,2)/C(4,2) = 1/2.
        (4, 3, 2, 1.0, 0.5),
        (4, 2, 2, 5 / 6, 1 / 6),
        (4, 3, 4, 1.0, 0.5),
        (4, 4, 4, 1.0, 1.0),
    ],
)
def test_counted_by_hand(n: int, c: int, k: int, passes: float, mean: float) -> None:
    """The comments have the arithmetic."""
    assert pass_at_k(n, c, k) == pytest.approx(passes, abs=1e-9)
    assert mg_pass_at_k(n, c, k) == pytest.approx(mean, abs=1e-9)


def test_thresholds_are_not_affected_by_rounding() -> None:
    """0.55 of 20 is 11, although 0.55 * 20 is slightly more in floating point."""
    assert g_pass_at_k(40, 30, 20, 0.55) == g_pass_at_k(40, 30, 20, 11 / 20)
    assert g_pass_at_k(40, 30, 20, 1e-6) == pass_at_k(40, 30, 20)


def test_the_numbers_of_scipys_distribution() -> None:
    """The survival function that public implementations use, for all sizes up to sixteen."""
    stats = pytest.importorskip("scipy.stats")
    for n in range(1, 17):
        for c, k in product(range(n + 1), range(1, n + 1)):
            for threshold in (0.0, 0.25, 0.5, 0.75, 1.0):
                least = max(math.ceil(k * threshold), 1)
                tail = float(stats.hypergeom.sf(least - 1, n, c, k))
                assert g_pass_at_k(n, c, k, threshold) == pytest.approx(tail, abs=1e-9)
