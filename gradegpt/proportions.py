"""Confidence limits of proportions from counts. Needs numpy and scipy.

Unlike a bootstrap they hold for small counts: one success of one row is not certain.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

Limits = tuple[NDArray[np.float64], NDArray[np.float64]]
CONFIDENCE: Final = 0.95


def wilson(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The score limits (Wilson 1927); 0 and 1 where ``n`` is 0.

    >>> [round(float(x), 3) for x in wilson(1, 1)]
    [0.207, 1.0]
    """
    k, n = _counts(successes, n)
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    share = np.divide(k, n, out=np.zeros_like(k), where=n > 0)
    middle = (n * share + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (n * share * (1 - share) + z2 / 4)) / (n + z2)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def jeffreys(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The limits with Jeffreys' prior, and 0 or 1 where nothing or everything succeeded.

    Brown, Cai and DasGupta (2001), section 4.1; 0 and 1 where ``n`` is 0.

    >>> [round(float(x), 3) for x in jeffreys(9, 10)]
    [0.619, 0.989]
    """
    k, n = _counts(successes, n)
    tail = (1 - confidence) / 2
    low = np.where(k == 0, 0.0, betaincinv(k + 0.5, n - k + 0.5, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 0.5, n - k + 0.5, 1 - tail))
    return low, high


def clopper_pearson(successes: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> Limits:
    """The exact limits (Clopper and Pearson 1934); 0 and 1 where ``n`` is 0.

    >>> [round(float(x), 3) for x in clopper_pearson(0, 10)]
    [0.0, 0.308]
    """
    k, n = _counts(successes, n)
    tail = (1 - confidence) / 2
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 0.5), n - k + 1, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 0.5), 1 - tail))
    return low, high


def _counts(successes: ArrayLike, n: ArrayLike) -> Limits:
    """Both as arrays of one shape.

    Raises:
        ValueError: not 0 <= successes <= n.

    """
    k, size = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (successes, n)))
    if np.any(k < 0) or np.any(k > size):
        raise ValueError("successes must be from 0 to n")
    return k, size
