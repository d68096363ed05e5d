"""The machine's resources for this process, and tasks that are begun as others finish."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")


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


def in_turn(
    submit: Callable[[T], Any],
    tasks: Iterable[T],
    first: Callable[[list[Any]], tuple[list[Any], list[Any]]],
    ahead: int,
) -> Iterator[Any]:
    """Submit the tasks, ``ahead`` of them at a time; yield each when ``first`` says it is done."""
    left = iter(tasks)
    running = [submit(task) for task in islice(left, ahead)]
    while running:
        done, running = first(running)
        yield from done
        running = [*running, *(submit(task) for task in islice(left, len(done)))]
