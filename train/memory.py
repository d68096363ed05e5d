"""Keep freed memory in the process, so that large tensors are not mapped and zeroed again."""

from __future__ import annotations

from typing import Final

from gradegpt.core.machine import libc

_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_MAX: Final = -4

TRIM_EVERY: Final = 25
"""Steps between two calls of ``core.machine.trim``; without it a run grows by gigabytes."""


def keep_freed_memory() -> bool:
    """Configure glibc's ``malloc`` to keep freed memory; return whether that succeeded.

    Training on a CPU allocates the same hundreds of megabytes at every step. By default each block
    is mapped and returned, and the kernel zeroes its pages again: a third of a small model's step
    (docs/experiments/019-cost-of-a-training-step.md). Rows of different lengths fragment the heap,
    so ``trim`` returns unused pages from time to time. Without effect on other C libraries.
    """
    found = libc()
    if found is None:
        return False
    largest = 2**31 - 1
    options = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, largest), (_M_TOP_PAD, 2**26))
    return all(map(bool, [found.mallopt(option, value) for option, value in options]))
