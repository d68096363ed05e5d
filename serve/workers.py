"""Workers that judge batches: in this process, or in a separate process.

A separate process can be killed: if it dies or exceeds the deadline, only its batch is judged again
elsewhere. The price is a copy of the model.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, Protocol

from pydantic import TypeAdapter

from gradegpt.engines.base import Generation
from gradegpt.errors import GradeGPTError
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.schema import Judgement

from .errors import WorkerLostError
from .settings import ServeSettings
from .worker import Begin, Loaded, as_json, begin_of, error_from

_START_S: Final = 600.0
"""Seconds for a process to load its judge; a large model from a slow disk takes minutes."""
_LONGEST_S: Final = 86_400.0
"""The largest timeout of a socket, which cannot be infinite."""
_DYING_S: Final = 0.2
_STDERR: Final = 2
_CHUNK: Final = 2**16
COMMAND: Final = (sys.executable, "-m", f"{__package__}.worker")
_JUDGEMENTS: Final = TypeAdapter(list[Judgement])


class Lane(Protocol):
    """Processes one batch at a time, in the caller's thread."""

    def start(self) -> None:
        """Start or restart the worker. Raises ``GradeGPTError`` if that fails."""
        ...

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
        """Release the worker's resources."""
        ...


class Worker(Lane, Protocol):
    """A lane with a judge."""

    name: str
    fingerprint: str
    generates: bool

    @property
    def cached(self) -> tuple[int, int]:
        """The hits and misses of its cache so far."""
        ...

    @property
    def begin(self) -> Begin | None:
        """The stages of its judge that ask no model, for use in the server's process."""
        ...


class Quick:
    """The stages of a judge that ask no model, in this process; several threads may share it."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin

    def start(self) -> None:
        """Nothing to do."""

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """The judgements of items, None for each that is left to a model."""
        return self._begin(inputs)

    def close(self) -> None:
        """Nothing to do: the caller owns the judge."""


class InProcess:
    """A judge in this process. It cannot be interrupted, so it may exceed deadlines."""

    def __init__(self, loaded: Loaded) -> None:
        self.name, self.fingerprint = loaded.judge.name, loaded.judge.fingerprint
        self.generates = loaded.engine is not None
        self._loaded = loaded

    @property
    def cached(self) -> tuple[int, int]:
        """The hits and misses of the judge's cache."""
        return self._loaded.cached

    @property
    def begin(self) -> Begin | None:
        """The stages of the judge that ask no model."""
        return begin_of(self._loaded.judge)

    def start(self) -> None:
        """Nothing to do: the judge is already loaded."""

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """Ask the judge."""
        return self._loaded.do(inputs, max_new_tokens)

    def close(self) -> None:
        """Nothing to do: the caller owns the judge."""


class WorkerProcess:
    """A judge in a separate process, built there from its settings.

    Requests and replies are lines of JSON on a socket, not on stdin and stdout, as a model's
    library may print. The settings are sent there, too: they may hold an API key, which a command
    line would show.
    """

    def __init__(self, judge: JudgeSettings, *, command: Sequence[str] = COMMAND) -> None:
        self.name = self.fingerprint = ""
        self.generates = False
        self.cached = (0, 0)
        self._judge = judge
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

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
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,
                pass_fds=[theirs.fileno()],
            )
        try:
            reply = self._ask(self._judge.model_dump(mode="json"), time.monotonic() + _START_S)
        except GradeGPTError:
            self.close()
            raise
        self.name, self.fingerprint = reply["name"], reply["fingerprint"]
        self.generates = reply["generates"]

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """Send the batch and wait for its results."""
        rows = [as_json(one) for one in inputs]
        reply = self._ask({"inputs": rows, "max_new_tokens": max_new_tokens}, deadline)
        results, self.cached = reply["results"], (reply["hits"], reply["misses"])
        if max_new_tokens is None:
            return list(_JUDGEMENTS.validate_python(results))
        return [error_from(r["error"]) if "error" in r else Generation(**r) for r in results]

    def close(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()

    def _ask(self, question: Any, deadline: float) -> dict[str, Any]:
        assert self._socket is not None
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(json.dumps(question).encode() + b"\n")
            line = self._line(deadline)
        except OSError as error:
            raise self._lost() from error
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise error_from(reply["error"])
        return reply

    def _line(self, deadline: float) -> bytes:
        """The next line of the process. Raises ``OSError`` if it is late or dead."""
        assert self._socket is not None
        line = bytearray()
        while not line.endswith(b"\n"):
            self._socket.settimeout(_left(deadline))
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise ConnectionError("closed")
            line += chunk
        return bytes(line)

    def _lost(self) -> WorkerLostError:
        assert self._process is not None
        try:  # a process that closed its socket is about to exit
            code = self._process.wait(_DYING_S)
            how = f"ended (exit {code})"
        except subprocess.TimeoutExpired:
            how = "exceeded the deadline and was killed"
        self.close()
        return WorkerLostError(f"worker process {self._process.pid} {how}; it is replaced")


def _left(deadline: float) -> float:
    # At least a millisecond: a timeout of 0 would make the socket non-blocking.
    return min(max(deadline - time.monotonic(), 0.001), _LONGEST_S)


def workers_for(settings: ServeSettings) -> list[Worker]:
    """The started workers of the settings. Raises the errors of loading the judge."""
    number = usual_workers(settings) if settings.workers is None else settings.workers
    if not number:
        return [InProcess(Loaded.of(build_judge(settings.judge)))] * settings.lanes
    workers = [WorkerProcess(settings.judge) for _ in range(number)]
    for worker in workers:
        worker.start()
    return list(workers)


def usual_workers(settings: ServeSettings) -> int:
    """One for a cascade that asks a local model after its other judges; else none."""
    if settings.judge.kind != "cascade" or settings.judge.base_url or settings.lanes > 1:
        return 0
    cascade = build_judge(settings.judge.model_copy(update={"cache": None}))
    assert isinstance(cascade, CascadeJudge)
    return int(0 < cascade.first_model < len(cascade.stages))
