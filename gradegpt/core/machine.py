"""The machine's resources for this process."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any


def cores() -> int:
    """The number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def cpu_has_bf16() -> bool:
    """Whether the processor multiplies in bfloat16; otherwise torch emulates it slowly."""
    import torch

    able = torch.cpu.get_capabilities()
    return any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def trim() -> None:
    """Return unused pages of the heap to the system; without effect on other C libraries."""
    found = libc()
    if found is not None:
        found.malloc_trim(0)


@cache
def libc() -> Any:
    """glibc, or None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None
