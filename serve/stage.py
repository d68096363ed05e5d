"""A stage of judging: a queue of inputs, and the workers that process it in batches.

A free worker takes a batch of waiting inputs at once: one of each request in turn, so that a large
request does not delay a small one. Nothing waits for a batch to fill; only directly after a batch,
a worker may wait briefly for new requests of the callers that it has just answered.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Literal

from gradegpt.errors import GradeGPTError

from .errors import JudgeError, QueueFullError, WorkerLostError
from .queue import Calls, Job, Queue, settle
from .workers import Lane

_log = logging.getLogger(__name__)

_LONGEST_PAUSE_S: Final = 30.0
"""The most seconds between two attempts to start a worker."""
_LONGEST_WAIT_S: Final = 60
"""The largest ``Retry-After``, in seconds."""

OnBatch = Callable[[Sequence[Any]], None]
"""Called with the results of every batch, in the event loop of its first request."""
Event = Literal["lost", "restarted"]
OnWorker = Callable[[Event], None]
"""Called when a worker is lost and when it runs again, in the worker's thread."""


class Stage:
    """Workers and the queue of their inputs.

    Args:
        max_batch: The most inputs of a batch.
        max_queue: The most inputs that may wait.
        moment: The wait for new requests after a batch, as a share of the batch's own time.
        turn_s: Seconds after which a second worker works beside a first; 0 for all at once.
        on_batch: Called after every batch.
        on_worker: Called when a worker is lost, and when it is running again.

    """

    def __init__(
        self,
        *,
        max_batch: int,
        max_queue: int,
        moment: float = 0.0,
        turn_s: float = 0.0,
        on_batch: OnBatch | None = None,
        on_worker: OnWorker | None = None,
    ) -> None:
        self._max_batch, self._max_queue, self._moment = max_batch, max_queue, moment
        self._on_batch, self._on_worker = on_batch, on_worker
        self._workers: tuple[Lane, ...] = ()
        self._queue = Queue(turn_s)
        self._calls: Calls | None = None
        self.busy = self._away = 0
        self._pace_s = 0.0

    def open(self, workers: Sequence[Lane]) -> None:
        """Start to process inputs with equal workers that are already started.

        A worker that is listed twice processes two batches at once.
        """
        self._workers = tuple(workers)
        for worker in workers:
            threading.Thread(target=self._work, args=[worker], daemon=True).start()

    def close(self) -> None:
        """Stop the workers after their current batches."""
        self._queue.close()
        for worker in self._workers:
            worker.close()

    @property
    def waiting(self) -> int:
        """The number of inputs that no worker has taken."""
        return self._queue.waiting

    @property
    def ready(self) -> bool:
        """Whether a worker is running."""
        return self._away < len(self._workers)

    async def results(
        self,
        inputs: Sequence[Any],
        *,
        patience_s: float,
        caller: Hashable,
        max_new_tokens: int | None = None,
    ) -> list[Any]:
        """The result of each input, in order; that of an input that fails is its error.

        Inputs that no worker has taken when the caller is cancelled are never processed.

        Raises:
            QueueFullError: too many inputs wait.

        """
        loop = asyncio.get_running_loop()
        if self._calls is None or self._calls.loop is not loop:
            self._calls = Calls(loop)
        jobs = [
            Job(max_new_tokens, one, patience_s, caller, self._calls, loop.create_future())
            for one in inputs
        ]
        if not self._queue.enter(jobs, self._max_queue):
            raise self._full()
        try:
            return [await job.result for job in jobs]
        finally:
            self._queue.withdraw(jobs)

    def _full(self) -> QueueFullError:
        seconds = math.ceil(self.waiting * self._pace_s / max(1, len(self._workers)))
        return QueueFullError(
            f"{self.waiting:,} items wait, at most {self._max_queue:,} may; try again later",
            retry_after_s=min(max(1, seconds), _LONGEST_WAIT_S),
        )

    def _work(self, worker: Lane) -> None:
        size, seconds = 1, 0.0
        while jobs := self._queue.take(self._max_batch, size, seconds * self._moment):
            started = time.monotonic()
            with self._queue.changed:
                self.busy += 1
            self._do(worker, jobs)
            with self._queue.changed:
                self.busy -= 1
            size, seconds = len(jobs), time.monotonic() - started
            self._pace_s = seconds / size

    def _do(self, worker: Lane, jobs: list[Job]) -> None:
        # Counted from now, not from arrival: a busy server must not kill healthy workers because of
        # requests that waited almost until their deadline.
        until = time.monotonic() + max(job.patience_s for job in jobs)
        try:
            results = worker.do([job.given for job in jobs], until, jobs[0].max_new_tokens)
            if len(results) != len(jobs):
                raise ValueError(f"{len(results)} results for {len(jobs)} inputs")
        except WorkerLostError as error:
            self._retry(jobs, error)
            self._replace(worker, error)
        except Exception as error:  # noqa: BLE001  it is a result, and the thread must survive
            known = _known(error)
            if len(jobs) > 1:
                self._retry(jobs, known)
            else:
                settle(jobs, [known])
        else:
            if self._on_batch is not None:
                # In the event loop, which logs its errors; this thread must survive.
                jobs[0].calls.call(self._on_batch, results)
            settle(jobs, results)

    def _retry(self, jobs: list[Job], error: Exception) -> None:
        """Try each job again separately, as one input may have made the whole batch fail.

        A lost worker may be no input's fault, so that is tried twice.
        """
        most = 2 if isinstance(error, WorkerLostError) else 1
        over = [job for job in jobs if job.retries >= most]
        settle(over, [error] * len(over))
        self._queue.again([job for job in jobs if job.retries < most])

    def _replace(self, worker: Lane, lost: WorkerLostError) -> None:
        """Start a worker again, with unlimited attempts; the other workers continue."""
        if self._queue.closed:
            return
        _log.error("%s", lost)
        self._report("lost")
        with self._queue.changed:
            self._away += 1
        pause_s = 1.0
        while not self._queue.closed:
            try:
                worker.start()
                self._report("restarted")
                break
            except GradeGPTError as error:
                _log.error("a worker does not start: %s; next try in %.0f s", error, pause_s)
                with self._queue.changed:
                    self._queue.changed.wait_for(lambda: self._queue.closed, pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        with self._queue.changed:
            self._away -= 1

    def _report(self, what: Event) -> None:
        if self._on_worker is not None:
            self._on_worker(what)


def _known(error: Exception) -> GradeGPTError:
    """One of our errors unchanged; any other error is logged and replaced by a ``JudgeError``."""
    if isinstance(error, GradeGPTError):
        return error
    _log.error("the judge raised an error", exc_info=error)
    return JudgeError("an error in the judge, not in the request; see the server's log")
