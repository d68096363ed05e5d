"""What does the batches of a stage: a judge in this process, or in a process of its own.

A process can be killed: if it dies or exceeds the deadline, only its batch is judged again
elsewhere. The price is a copy of the model.
"""

from __future__ import annotations

import atexit
import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from typing import Any, Final

from gradegpt.core.schema import Item
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.settings import CascadeJudgeSettings, JudgeSettings

from . import worker
from .errors import WorkerLostError
from .settings import ServeSettings
from .worker import Begin, InProcess, begin_of

_START_S: Final = 600.0
"""Seconds for a process to load its judge; a large model from a slow disk takes minutes."""


class WorkerProcess:
    """A judge in a separate process, built there from its settings by ``build``."""

    def __init__(
        self, judge: JudgeSettings, build: Callable[[JudgeSettings], Judge] = build_judge
    ) -> None:
        self.name = self.fingerprint = ""
        self.cached = (0, 0)
        self._judge, self._build = judge, build
        self._process: SpawnProcess | None = None
        atexit.register(self.close)  # Python would wait for the process

    @property
    def pid(self) -> int | None:
        """The id of the process, once it has started."""
        return self._process.pid if self._process else None

    @property
    def begin(self) -> Begin | None:
        """The stages of a cascade that ask no model, built in this process without its model."""
        if self._judge.kind != "cascade":
            return None
        return begin_of(build_judge(self._judge.model_copy(update={"cache": None})))

    def start(self) -> None:
        """Start the process and wait until its judge is loaded. Raises the errors of loading."""
        self.close()
        context = multiprocessing.get_context("spawn")
        self._channel, theirs = context.Pipe()
        # No daemon, which may have no processes of its own, as some engines do.
        arguments = (theirs, self._judge, self._build)
        self._process = context.Process(target=worker.work, args=arguments)
        with theirs:
            self._process.start()
        self.name, self.fingerprint = self._received(_START_S)

    def do(self, items: Sequence[Item], deadline: float) -> list[Any]:
        """Let the process do the batch.

        Raises:
            WorkerLostError: it died or exceeded the deadline; it must be started again.

        """
        # Without meta, which no judge reads, and which may be nested deeply.
        bare = [item.model_copy(update={"meta": {}}) for item in items]
        with suppress(OSError):  # it died before, and nothing can be received either
            self._channel.send(bare)
        results, self.cached = self._received(max(0.0, deadline - time.monotonic()))
        return list(results)

    def close(self, wait_s: float = 2.0) -> None:
        """End the process, if there is one; killed, it would leave its semaphores behind."""
        if self._process is not None and self._process.is_alive():
            self._channel.close()
            self._process.join(wait_s)
            self._process.kill()
            self._process.join()

    def _received(self, seconds: float) -> Any:
        how, received = "exceeded the deadline and was killed", None
        try:
            if self._channel.poll(seconds):
                received = self._channel.recv()
        except (EOFError, OSError):
            how = "ended"
        if received is None:
            self.close(wait_s=0)
            raise WorkerLostError(f"worker process {self.pid} {how}; it is replaced")
        if isinstance(received, Exception):
            raise received
        return received


JudgeWorker = InProcess | WorkerProcess


def workers_for(settings: ServeSettings) -> list[JudgeWorker]:
    """The started workers of the settings. Raises the errors of loading the judge."""
    number = usual_workers(settings) if settings.workers is None else settings.workers
    if not number:
        return [InProcess(build_judge(settings.judge))] * settings.lanes
    workers = [WorkerProcess(settings.judge) for _ in range(number)]
    for process in workers:
        process.start()
    return [*workers]


def usual_workers(settings: ServeSettings) -> int:
    """One for a cascade that asks a local model after its other judges; else none."""
    judge = settings.judge
    if not isinstance(judge, CascadeJudgeSettings) or judge.base_url or settings.lanes > 1:
        return 0
    cascade = build_judge(judge.model_copy(update={"cache": None}))
    assert isinstance(cascade, CascadeJudge)
    return int(0 < cascade.first_model < len(cascade.stages))
