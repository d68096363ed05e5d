"""What does the batches of a stage: a judge in this process, or in a process of its own.

A process can be killed: if it dies or exceeds the deadline, only its batch is judged again
elsewhere. The price is a copy of the model.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
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


class WorkerProcess:
    """A judge in a separate process, built there from its settings by ``build``."""

    def __init__(
        self, judge: JudgeSettings, build: Callable[[JudgeSettings], Judge] = build_judge
    ) -> None:
        self.name = self.fingerprint = ""
        self.generates = False
        self.cached = (0, 0)
        self.pid = 0
        self._judge, self._build = judge, build
        self._pool: ProcessPoolExecutor | None = None

    @property
    def begin(self) -> Begin | None:
        """The stages of a cascade that ask no model, built in this process without its model."""
        if self._judge.kind != "cascade":
            return None
        return begin_of(build_judge(self._judge.model_copy(update={"cache": None})))

    def start(self) -> None:
        """Start the process and wait until its judge is loaded. Raises the errors of loading."""
        self.close()
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        self.pid, self.name, self.fingerprint, self.generates = self._result(
            _START_S, worker.load, self._judge, self._build
        )

    def do(
        self, inputs: Sequence[Any], deadline: float, max_new_tokens: int | None = None
    ) -> list[Any]:
        """Let the process do the batch.

        Raises:
            WorkerLostError: it died or exceeded the deadline; it must be started again.

        """
        bare = [
            one.model_copy(update={"meta": {}}) if isinstance(one, Item) else one for one in inputs
        ]  # no judge reads meta, which may be nested deeply
        seconds = max(0.0, deadline - time.monotonic())
        results, self.cached = self._result(seconds, worker.do, bare, max_new_tokens)
        return list(results)

    def close(self) -> None:
        """Kill the process, if there is one."""
        for child in multiprocessing.active_children():
            if child.pid == self.pid:
                child.kill()
                child.join()
        if self._pool is not None:
            self._pool.shutdown(wait=False)

    def _result(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        assert self._pool is not None
        try:
            future = self._pool.submit(function, *arguments)
            if wait([future], seconds).done:
                return future.result()
            how = "exceeded the deadline and was killed"
        except BrokenProcessPool:
            how = "ended"
        self.close()
        raise WorkerLostError(f"worker process {self.pid} {how}; it is replaced")


JudgeWorker = InProcess | WorkerProcess
Lane = JudgeWorker | Quick
"""Does one batch at a time, in the caller's thread."""


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
