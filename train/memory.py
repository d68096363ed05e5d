"""Keep freed memory in the process: large tensors are then reused, not mapped and zeroed anew."""

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
    """Tell glibc's ``malloc`` to give nothing back by itself; return whether it listens.

    Training on a CPU allocates the same hundreds of megabytes at every step. By default each block
    is mapped and given back, and the kernel zeroes its pages again: a third of a small model's
    step (docs/experiments/019-cost-of-a-training-step.md). Rows of ever other lengths leave holes
    in such a heap, which ``trim`` gives back from time to time. Without effect where the C library
    is another one.
    """
    libc = _libc()
    if libc is None:
        return False
    largest = 2**31 - 1
    options = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, largest), (_M_TOP_PAD, 2**26))
    return all(map(bool, [libc.mallopt(option, value) for option, value in options]))


def trim() -> None:
    """Give back the pages that nothing uses: without it the process grows by gigabytes."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


@cache
def _libc() -> Any:
    """glibc, or none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
