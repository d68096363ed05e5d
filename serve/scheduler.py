"""The batch scheduler: it judges the items of all requests in batches, round robin by caller.

A free worker takes a batch of waiting items at once: an item of each request in turn, so that a
large request does not delay a small one. Nothing waits for a batch to fill; only directly after a
batch, a worker waits briefly for new requests of the callers that it has just answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from gradegpt.engines.base import Generation
from gradegpt.errors import EngineTimeoutError, GradeGPTError
from gradegpt.judges.base import Judge
from gradegpt.schema import Item, Judgement, Message, Outcome

from .errors import BusyError, DeadlineError, JudgeError, QueueFullError, WorkerLostError
from .queue import Job, Queue, settle
from .worker import Loaded
from .workers import InProcess, Worker

_log = logging.getLogger(__name__)

_MOMENT: Final = 0.05
"""The wait after a batch, as a share of the batch's own time."""
_LONGEST_PAUSE_S: Final = 30.0
"""The most seconds between two attempts to start a worker."""
_LONGEST_WAIT_S: Final = 60
"""The largest ``Retry-After``, in seconds."""

OnBatch = Callable[[Sequence[Judgement], int], None]
"""Called with the judgements of every batch and its number of inputs."""


class BatchScheduler:
    """Workers and the queue of their inputs.

    Args:
        max_batch: The most inputs of a batch.
        max_queue: The most inputs that may wait.
        deadline_s: Seconds for a request without its own deadline.
        on_batch: Called after every batch.

    """

    def __init__(
        self,
        *,
        max_batch: int = 64,
        max_queue: int = 8_192,
        deadline_s: float = 120.0,
        on_batch: OnBatch | None = None,
    ) -> None:
        self.name = self.fingerprint = ""
        self.generates = False
        self.max_batch, self.max_queue, self.deadline_s = max_batch, max_queue, deadline_s
        self._on_batch = on_batch
        self._workers: tuple[Worker, ...] = ()
        self._queue = Queue()
        self.busy = self._away = 0
        self._pace_s = 0.0

    @classmethod
    def of(cls, judge: Judge, **limits: Any) -> BatchScheduler:
        """A scheduler with one judge in this process."""
        scheduler = cls(**limits)
        scheduler.open([InProcess(Loaded.of(judge))])
        return scheduler

    def open(self, workers: Sequence[Worker]) -> None:
        """Start to process inputs with equal workers that are already started.

        A worker that is listed twice processes two batches at once.
        """
        first = workers[0]
        self.name, self.generates = first.name, first.generates
        self.fingerprint = hashlib.sha256(first.fingerprint.encode()).hexdigest()[:16]
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

    @property
    def cached(self) -> tuple[int, int]:
        """The hits and misses of the caches so far."""
        counts = [worker.cached for worker in dict.fromkeys(self._workers)]
        return sum(hits for hits, _ in counts), sum(misses for _, misses in counts)

    def check(self) -> None:
        """Raise ``BusyError`` if no judge is loaded yet."""
        if not self._workers:
            raise BusyError("the judge is being loaded; GET /ready reports when it is ready")

    async def judge(
        self,
        items: Sequence[Item],
        *,
        deadline_s: float | None = None,
        caller: Hashable = None,
    ) -> list[Judgement]:
        """A judgement for each item, in order.

        An item for which the judge raises an error is ``failed``; if all items fail, the error is
        raised.

        Args:
            items: The items to judge.
            deadline_s: Seconds; None uses the scheduler's default.
            caller: Requests of one caller share a turn; None makes the request its own caller.

        Raises:
            QueueFullError: too many items wait.
            DeadlineError: not all items were judged in time.
            BusyError: no judge is loaded yet.

        """
        results = await self._ask(None, items, deadline_s, caller)
        errors = [r for r in results if isinstance(r, Exception)]
        if errors and len(errors) == len(results) and not isinstance(errors[0], WorkerLostError):
            raise errors[0]
        return [self._judgement(*pair) for pair in zip(items, results, strict=True)]

    async def generate(
        self, messages: Sequence[Message], max_new_tokens: int, *, deadline_s: float | None = None
    ) -> Generation:
        """Let the judge's engine continue a conversation. Raises the same errors as ``judge``."""
        [result] = await self._ask(max_new_tokens, [messages], deadline_s, None)
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, Generation)
        return result

    async def _ask(
        self,
        max_new_tokens: int | None,
        inputs: Sequence[Any],
        deadline_s: float | None,
        caller: Hashable,
    ) -> list[Any]:
        loop, seconds = asyncio.get_running_loop(), deadline_s or self.deadline_s
        caller = object() if caller is None else caller
        jobs = [
            Job(max_new_tokens, one, seconds, caller, loop, loop.create_future()) for one in inputs
        ]
        self._enter(jobs)
        try:
            async with asyncio.timeout(seconds):
                return [await job.result for job in jobs]
        except TimeoutError as error:
            raise DeadlineError(
                f"not judged within {seconds:g} s; send fewer items at a time, "
                "or start the server with a larger deadline_s"
            ) from error
        finally:
            self._queue.withdraw(jobs)

    def _enter(self, jobs: list[Job]) -> None:
        self.check()
        if not self._queue.enter(jobs, self.max_queue):
            seconds = math.ceil(self.waiting * self._pace_s / len(self._workers))
            raise QueueFullError(
                f"{self.waiting:,} items wait, at most {self.max_queue:,} may; try again later",
                retry_after_s=min(max(1, seconds), _LONGEST_WAIT_S),
            )

    def _work(self, worker: Worker) -> None:
        size, seconds = 1, 0.0
        while jobs := self._queue.take(self.max_batch, size, seconds * _MOMENT):
            started = time.monotonic()
            with self._queue.changed:
                self.busy += 1
            self._do(worker, jobs)
            with self._queue.changed:
                self.busy -= 1
            size, seconds = len(jobs), time.monotonic() - started
            self._pace_s = seconds / size

    def _do(self, worker: Worker, jobs: list[Job]) -> None:
        # Counted from now, not from arrival: a busy server must not kill healthy workers because of
        # requests that waited almost until their deadline.
        until = time.monotonic() + max(job.patience_s for job in jobs)
        try:
            results = worker.do([job.given for job in jobs], until, jobs[0].max_new_tokens)
            if len(results) != len(jobs):
                raise ValueError(f"{len(results)} results for {len(jobs)} inputs")
        except WorkerLostError as error:
            self._retry(jobs, error)
            self._replace(worker)
        except Exception as error:  # noqa: BLE001  it is a result, and the thread must survive
            known = _known(error)
            if len(jobs) > 1:
                self._retry(jobs, known)
            else:
                settle(jobs, [known])
        else:
            if self._on_batch is not None and not jobs[0].loop.is_closed():
                judgements = [r for r in results if isinstance(r, Judgement)]
                # In the event loop, which logs its errors; this thread must survive.
                jobs[0].loop.call_soon_threadsafe(self._on_batch, judgements, len(jobs))
            settle(jobs, results)

    def _retry(self, jobs: list[Job], error: Exception) -> None:
        """Try each job once more separately, as one input may have made the whole batch fail."""
        over = [job for job in jobs if job.retried]
        settle(over, [error] * len(over))
        self._queue.again([job for job in jobs if not job.retried])

    def _replace(self, worker: Worker) -> None:
        """Start a worker again, with unlimited attempts; the other workers continue."""
        with self._queue.changed:
            self._away += 1
        pause_s = 1.0
        while not self._queue.closed:
            try:
                worker.start()
                break
            except GradeGPTError as error:
                _log.error("a worker does not start: %s; next try in %.0f s", error, pause_s)
                with self._queue.changed:
                    self._queue.changed.wait_for(lambda: self._queue.closed, pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        with self._queue.changed:
            self._away -= 1

    def _judgement(self, item: Item, result: Judgement | GradeGPTError) -> Judgement:
        if isinstance(result, Judgement):
            return result
        kind = "timeout" if isinstance(result, EngineTimeoutError) else "error"
        return Judgement(
            id=item.id, outcome=Outcome.FAILED, method=self.name, reason=f"engine:{kind}: {result}"
        )


def _known(error: Exception) -> GradeGPTError:
    """One of our errors unchanged; any other error is logged and replaced by a ``JudgeError``."""
    if isinstance(error, GradeGPTError):
        return error
    _log.error("the judge raised an error", exc_info=error)
    return JudgeError("an error in the judge, not in the request; see the server's log")
