"""Keep freed memory in the process, so that large tensors are not mapped and zeroed again."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, Final

_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_MAX: Final = -4

TRIM_EVERY: Final = 25
"""Steps between two calls of ``trim``."""


def keep_freed_memory() -> bool:
    """Configure glibc's ``malloc`` to keep freed memory; return whether that succeeded.

    Training on a CPU allocates the same hundreds of megabytes at every step. By default each block
    is mapped and returned, and the kernel zeroes its pages again: a third of a small model's step
    (docs/experiments/019-cost-of-a-training-step.md). Rows of different lengths fragment the heap,
    so ``trim`` returns unused pages from time to time. Without effect on other C libraries.
    """
    libc = _libc()
    if libc is None:
        return False
    largest = 2**31 - 1
    options = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, largest), (_M_TOP_PAD, 2**26))
    return all(map(bool, [libc.mallopt(option, value) for option, value in options]))


def trim() -> None:
    """Return unused pages to the system; without it the process grows by gigabytes."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


@cache
def _libc() -> Any:
    """glibc, or None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
