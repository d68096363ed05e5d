"""Return freed memory to the system.

Requests that end early leave reference cycles of exceptions and frames, and large replies to slow
clients leave gaps in the heap. Nothing collects either in a server that has no more to do: after
five hundred such clients it held eleven times its memory before them.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from threading import Thread
from typing import Final

from gradegpt.machine import libc, trim

_IDLE_S: Final = 2.0
_BUSY_S: Final = 30.0
"""The least seconds between two collections, without and with running requests."""


class Trimmer:
    """Collects and trims while there are connections or requests, and once after the last."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._due = False

    def tick(self, *, connections: int, running: int) -> None:
        """Collect and trim in a thread if it is time."""
        active = bool(connections or running)
        self._due = self._due or active
        if self._due and time.monotonic() > self._at + (_BUSY_S if running else _IDLE_S):
            self._at, self._due = time.monotonic(), active
            Thread(target=_collect, daemon=True).start()


def use_system_allocator() -> None:
    """Start this program again, in this process, with glibc's allocator unless one was chosen.

    Python's own keeps an arena of 1 MiB as long as one small object in it lives: after five
    hundred slow readers 2.5 times the memory before them, with glibc's 1.1 times. The price is an
    eighth of the speed of rules.
    """
    if libc() is not None and "PYTHONMALLOC" not in os.environ:
        os.environ["PYTHONMALLOC"] = "malloc"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def settle() -> None:
    """Exempt what is loaded from collection, so that it takes milliseconds."""
    gc.collect()
    gc.freeze()


def _collect() -> None:
    gc.collect()
    trim()
