"""Worker processes that answer lines with lines; as a program, the worker for computer algebra.

The time limit is measured by the parent on a pipe, not by a signal, so it holds in any thread and
under any server; a worker that exceeds it is killed, and only its own question is lost.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import select
import sys
import time
from collections.abc import Callable
from functools import cache
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, Final

MAX_LENGTH: Final = 300
"""Characters of a formula; a longer one is not compared."""
_START_S: Final = 60.0
"""Seconds for a process to start; SymPy takes one or two to load."""
_LATEX: Final = str.maketrans({
    "π": r"\pi ", "×": r"\times ", "·": r"\cdot ", "÷": r"\div ", "∞": r"\infty ", "±": r"\pm ",
    "−": "-",
})  # fmt: skip


class Worker:
    """A process that answers each line with a line, after a first line when it is ready."""

    def __init__(self, *command: str) -> None:
        run = [sys.executable, "-m", *command]
        self.process = Popen(run, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        self._pending = b""
        self._line(_START_S)

    def ask(self, question: object, seconds: float) -> Any:
        """The answer; None if the process is dead or too slow, and then it is killed."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            line = None
        else:
            line = self._line(seconds)
        if line is None:
            self.kill()
        return line and json.loads(line)

    def _line(self, seconds: float) -> bytes | None:
        assert self.process.stdout is not None
        out, deadline = self.process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._pending:
            ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(out, 65_536) if ready else b""
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()  # closes the pipes


class Pool:
    """Up to ``size`` workers, started when first needed; thread-safe.

    ``command`` is the module that each runs, and its arguments.
    """

    def __init__(self, size: int, *command: str) -> None:
        self._command, self._closed = command, False
        self._free = queue.LifoQueue[Worker | None]()
        for _ in range(size):
            self._free.put(None)
        atexit.register(self.close)

    def ask(self, question: object, seconds: float) -> Any:
        """The answer of the next free worker; None if it was lost, or the pool is closed."""
        worker = self._free.get()
        try:
            if self._closed:
                return None
            if worker is None or worker.process.poll() is not None:
                worker = Worker(*self._command)
            return worker.ask(question, seconds)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Kill the workers that are free."""
        self._closed = True
        for worker in [self._free.get_nowait() for _ in range(self._free.qsize())]:
            self._free.put(None)
            if worker is not None:
                worker.kill()


class AlgebraPool(Pool):
    """Workers for the few pairs of formulas that need a LaTeX parser and computer algebra.

    ``seconds`` is the wall-clock limit of a pair, ``memory_mb`` the address space of a worker.
    """

    def __init__(self, size: int = 2, seconds: float = 2.0, memory_mb: int = 2_048) -> None:
        super().__init__(size, "gradegpt.rules.workers", str(memory_mb))
        self._seconds = seconds

    def equal(self, left: str, right: str) -> bool | None:
        """Whether two LaTeX formulas are equal; None if that was not shown in time."""
        if max(len(left), len(right)) > MAX_LENGTH:
            return None
        answer = self.ask([left.translate(_LATEX), right.translate(_LATEX)], self._seconds)
        return answer and answer[0]  # type: ignore[no-any-return]


@cache
def _pool() -> AlgebraPool:
    return AlgebraPool()


def shared_pool(left: str, right: str) -> bool | None:
    """``AlgebraPool.equal`` of the pool that this process shares."""
    return _pool().equal(left, right)


def serve(answer: Callable[[Any], object]) -> None:
    """In a worker: say that it is ready, and answer each line of standard input until it ends."""
    sys.stdout.write('"ready"\n')
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def _algebra(memory_mb: int) -> Callable[[list[str]], list[bool | None]]:
    """The comparison of two LaTeX formulas by SymPy, under a memory limit."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20,) * 2)
    import sympy
    from latex2sympy2_extended import latex2sympy

    def same(pair: list[str]) -> bool | None:
        left, right = map(latex2sympy, pair)
        if left == right:
            return True
        if isinstance(left, sympy.Equality) and isinstance(right, sympy.Equality):
            ratio = sympy.simplify((left.lhs - left.rhs) / (right.lhs - right.rhs))
            return bool(ratio.is_number and ratio != 0) or None
        if not isinstance(left, sympy.Expr) or not isinstance(right, sympy.Expr):
            return None
        difference = left.equals(right)
        return None if difference is None else bool(difference)

    def answer(pair: list[str]) -> list[bool | None]:
        try:
            return [same(pair)]
        except Exception:  # noqa: BLE001  any error of the grammar or SymPy means "not shown"
            return [None]

    return answer


if __name__ == "__main__":
    serve(_algebra(int(sys.argv[1])))
