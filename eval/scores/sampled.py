"""Several sampled answers to one question: the probability that enough of ``k`` are right.

``n`` answers were drawn, ``c`` of them are right, and ``k`` is 1 to ``n``; the estimates are the
exact share of all subsets of ``k`` of the ``n`` in which enough are right, with less variance than
taking the first ``k``.
"""

from __future__ import annotations

import math
from typing import Final

_ROUNDING: Final = 1e-9


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of ``k`` answers is right: 1 - C(n - c, k) / C(n, k).

    Chen et al. 2021 (arXiv 2107.03374), equation 1; OlympicArena, appendix C.5.

    >>> pass_at_k(n=5, c=1, k=1)
    0.2
    """
    return _at_least(n, c, k, 1)


def g_pass_at_k(n: int, c: int, k: int, threshold: float) -> float:
    """The probability that at least ``threshold`` of ``k`` answers are right, and at least one.

    Liu et al. 2024 (arXiv 2412.13147): the tail of a hypergeometric distribution. Near
    0 it is pass@k, at 1 the probability that all are right.

    >>> g_pass_at_k(n=4, c=3, k=2, threshold=1.0)
    0.5
    """
    return _at_least(n, c, k, max(1, math.ceil(threshold * k - _ROUNDING)))


def mg_pass_at_k(n: int, c: int, k: int) -> float:
    """G-Pass@k over the thresholds from 0.5 to 1: how reliably a model is right.

    Liu et al. 2024: 2/k times the sum of G-Pass@k at i/k, i from ceil(k/2) + 1 to k.

    >>> mg_pass_at_k(n=4, c=4, k=4), mg_pass_at_k(n=4, c=3, k=4)
    (1.0, 0.5)
    """
    levels = range(math.ceil(k / 2) + 1, k + 1)
    return 2 / k * sum(_at_least(n, c, k, least) for least in levels)


def _at_least(n: int, c: int, k: int, least: int) -> float:
    """The probability of at least ``least`` of the ``c`` among ``k`` drawn from the ``n``."""
    ways = (math.comb(c, i) * math.comb(n - c, k - i) for i in range(least, min(c, k) + 1))
    return sum(ways) / math.comb(n, k)
