"""Keep freed memory in the process: large tensors are then reused, not mapped and zeroed anew."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_MAX: Final = -4


def keep_freed_memory() -> bool:
    """Tell glibc's ``malloc`` to give nothing back; return whether it listens.

    Training on a CPU allocates the same hundreds of megabytes at every step. By default each block
    is mapped and given back, and the kernel zeroes its pages again: a third of a small model's
    step (docs/LOG.md). Without effect where the C library is another one.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    largest = 2**31 - 1
    options = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, largest), (_M_TOP_PAD, 2**26))
    return all(map(bool, [mallopt(option, value) for option, value in options]))
