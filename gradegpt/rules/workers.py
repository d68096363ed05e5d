"""Processes that answer questions in time; as a program, the one for computer algebra.

The time limit is measured by the parent on a connection, not by a signal, so it holds in any thread
and under any server; a process that exceeds it is killed, and only its own question is lost.
"""

from __future__ import annotations

import atexit
import queue
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from subprocess import DEVNULL, Popen
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
    """A process that runs a module and answers each question, after a first one when it is ready.

    The last argument of the module is the file descriptor that ``serve`` reads.
    """

    def __init__(self, *command: str) -> None:
        self._pipe, other = Pipe()
        run, shared = [sys.executable, "-m", *command, str(other.fileno())], [other.fileno()]
        self.process = Popen(run, pass_fds=shared, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
        other.close()
        self.ask("ready", _START_S)

    def ask(self, question: object, seconds: float) -> Any:
        """The answer; None if the process is dead or too slow, and then it is killed."""
        try:
            self._pipe.send(question)
            if self._pipe.poll(seconds):
                return self._pipe.recv()
        except (OSError, EOFError):
            pass  # it is dead
        self.kill()
        return None

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        self._pipe.close()


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
        pair = left.translate(_LATEX), right.translate(_LATEX)
        return self.ask(pair, self._seconds)  # type: ignore[no-any-return]


shared_pool: Final = AlgebraPool().equal
"""``AlgebraPool.equal`` of the pool that this process shares; its workers start when needed."""


def serve(answer: Callable[[Any], object]) -> None:
    """In a worker: answer each question after the first, until the parent ends."""
    pipe = Connection(int(sys.argv[-1]))
    pipe.send(pipe.recv())
    try:
        while True:
            pipe.send(answer(pipe.recv()))
    except EOFError:
        return


def _equal(pair: tuple[str, str]) -> bool | None:
    """Whether SymPy shows that two LaTeX formulas are equal."""
    try:
        left, right = map(latex2sympy, pair)
        if left == right:
            return True
        if isinstance(left, sympy.Equality) and isinstance(right, sympy.Equality):
            ratio = sympy.simplify((left.lhs - left.rhs) / (right.lhs - right.rhs))
            return bool(ratio.is_number and ratio != 0) or None
        both = isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)
        difference = left.equals(right) if both else None
        return None if difference is None else bool(difference)
    except Exception:  # noqa: BLE001  any error of the grammar or SymPy means "not shown"
        return None


if __name__ == "__main__":
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) * 2**20,) * 2)
    import sympy
    from latex2sympy2_extended import latex2sympy

    serve(_equal)
