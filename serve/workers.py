"""What does the batches of a stage: a judge in this process, or in a process of its own.

A process can be killed: if it dies or exceeds the deadline, only its batch is judged again
elsewhere. The price is a copy of the model.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Final, Protocol

from typing_extensions import override

from gradegpt.errors import GradeGPTError
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.schema import Item

from .errors import WorkerLostError
from .settings import ServeSettings
from .worker import Begin, InProcess, begin_of

_START_S: Final = 600.0
"""Seconds for a process to load its judge; a large model from a slow disk takes minutes."""
_DYING_S: Final = 0.2
_STDERR: Final = 2
COMMAND: Final = (sys.executable, "-m", f"{__package__}.worker")


class Lane(Protocol):
    """Does one batch at a time, in the caller's thread."""

    def start(self) -> None:
        """Start or restart. Raises ``GradeGPTError`` if that fails."""
        return

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """A result for each input, in order; an input that fails has its error as result.

        Args:
            inputs: Items to judge; or, with ``max_new_tokens``, conversations to continue.
            deadline: On the monotonic clock.
            max_new_tokens: The longest continuation.

        Raises:
            WorkerLostError: the worker died or exceeded the deadline; it must be restarted.

        """
        ...

    def close(self) -> None:
        """Release the resources."""
        return


class Quick(Lane):
    """The stages of a judge that ask no model, in this process; several threads may share it."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin

    @override
    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """The judgements of items, None for each that is left to a model."""
        return self._begin(inputs)


class WorkerProcess:
    """A judge in a separate process, built there from its settings.

    The connection is not stdin and stdout, as a model's library may print. The settings are sent on
    it, too: they may hold an API key, which a command line would show.
    """

    def __init__(self, judge: JudgeSettings, *, command: Sequence[str] = COMMAND) -> None:
        self.name = self.fingerprint = ""
        self.generates = False
        self.cached = (0, 0)
        self._judge = judge
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid if self._process else None

    @property
    def begin(self) -> Begin | None:
        """The stages of a cascade that ask no model, built in this process without its model."""
        if self._judge.kind != "cascade":
            return None
        return begin_of(build_judge(self._judge.model_copy(update={"cache": None})))

    def start(self) -> None:
        """Start the process and wait until its judge is loaded."""
        self.close()
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,
                pass_fds=[theirs.fileno()],
            )
        reply = self._ask(self._judge, time.monotonic() + _START_S)
        if isinstance(reply, GradeGPTError):
            self.close()
            raise reply
        self.name, self.fingerprint, self.generates = reply

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """Send the batch and wait for its results."""
        bare = [
            one.model_copy(update={"meta": {}}) if isinstance(one, Item) else one for one in inputs
        ]  # no judge reads meta, which may be nested deeply
        results, self.cached = self._ask((bare, max_new_tokens), deadline)
        if isinstance(results, GradeGPTError):
            raise results
        return list(results)

    def close(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()

    def _ask(self, question: Any, deadline: float) -> Any:
        assert self._connection is not None
        try:
            self._connection.send(question)
            if self._connection.poll(max(deadline - time.monotonic(), 0)):
                return self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        raise self._lost()

    def _lost(self) -> WorkerLostError:
        assert self._process is not None
        try:  # a process that closed its connection is about to exit
            code = self._process.wait(_DYING_S)
            how = f"ended (exit {code})"
        except subprocess.TimeoutExpired:
            how = "exceeded the deadline and was killed"
        self.close()
        return WorkerLostError(f"worker process {self._process.pid} {how}; it is replaced")


Worker = InProcess | WorkerProcess


def workers_for(settings: ServeSettings) -> list[Worker]:
    """The started workers of the settings. Raises the errors of loading the judge."""
    number = usual_workers(settings) if settings.workers is None else settings.workers
    if not number:
        return [InProcess(build_judge(settings.judge))] * settings.lanes
    workers = [WorkerProcess(settings.judge) for _ in range(number)]
    for worker in workers:
        worker.start()
    return [*workers]


def usual_workers(settings: ServeSettings) -> int:
    """One for a cascade that asks a local model after its other judges; else none."""
    if settings.judge.kind != "cascade" or settings.judge.base_url or settings.lanes > 1:
        return 0
    cascade = build_judge(settings.judge.model_copy(update={"cache": None}))
    assert isinstance(cascade, CascadeJudge)
    return int(0 < cascade.first_model < len(cascade.stages))
