"""A pool of worker processes for the few pairs that need a LaTeX parser and computer algebra.

The time limit is measured by the parent on a pipe, not by a signal, so it holds in any thread and
under any server; a worker that exceeds it is killed, and only its own pair is lost.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

MAX_LENGTH: Final = 300
"""Characters of a formula; a longer one is not compared."""
_START_S: Final = 60.0
"""Seconds for a process to start; SymPy takes one or two to load."""


_SYMBOLS: Final = {
    "π": r"\pi ",
    "×": r"\times ",
    "·": r"\cdot ",
    "÷": r"\div ",
    "∞": r"\infty ",
    "±": r"\pm ",
    "−": "-",
}


def _latex(text: str) -> str:
    for symbol, command in _SYMBOLS.items():
        text = text.replace(symbol, command)
    return text


class Worker:
    """A process that answers each line with a line, after a first line when it is ready."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.pending = b""
        self.ask(b"", time.monotonic() + _START_S)

    def ask(self, line: bytes, deadline: float) -> bytes | None:
        """The answer line; None if the worker is dead or the deadline has passed."""
        assert self.process.stdin is not None
        try:
            if line:
                self.process.stdin.write(line)
                self.process.stdin.flush()
        except BrokenPipeError:
            return None
        return self._line(deadline)

    def _line(self, deadline: float) -> bytes | None:
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(out, 65_536) if ready else b""
            if not chunk:
                return None
            self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()  # closes the pipes


class AlgebraPool:
    """Up to ``size`` workers, started when first needed; thread-safe.

    Args:
        size: Number of worker processes.
        seconds: Wall-clock limit per pair.
        memory_mb: Address space per worker, in MiB.

    """

    def __init__(self, size: int = 2, seconds: float = 2.0, memory_mb: int = 2_048) -> None:
        self.seconds, self.memory_mb = seconds, memory_mb
        self._free: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(size):
            self._free.put(None)
        self._closed = False
        atexit.register(self.close)

    def equal(self, left: str, right: str) -> bool | None:
        """Whether two LaTeX formulas are equal; None if that was not shown in time."""
        if max(len(left), len(right)) > MAX_LENGTH or self._closed:
            return None
        with self._worker() as worker:
            line = json.dumps([_latex(left), _latex(right)]).encode() + b"\n"
            answer = worker.ask(line, time.monotonic() + self.seconds)
            if answer is None:
                worker.kill()
                return None
            same: bool | None = json.loads(answer)["same"]
            return same

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._free.get()
        try:
            if worker is None or worker.process.poll() is not None:
                worker = Worker("gradegpt.rules.worker", str(self.memory_mb))
            yield worker
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Kill the workers."""
        self._closed = True
        while not self._free.empty():
            worker = self._free.get_nowait()
            if worker is not None:
                worker.kill()


@cache
def _pool() -> AlgebraPool:
    return AlgebraPool()


def shared_pool(left: str, right: str) -> bool | None:
    """``AlgebraPool.equal`` of the pool that this process shares."""
    return _pool().equal(left, right)
