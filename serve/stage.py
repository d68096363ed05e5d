"""A stage: a queue of items, and the lanes that process it in batches.

A free lane takes a batch of waiting items at once: one of each request in turn, so that a large
request does not delay a small one. Nothing waits for a batch to fill; only directly after a batch,
a lane may wait briefly for new requests of the callers that it has just answered.

All of it runs in the event loop, and only the batches themselves in threads.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

from gradegpt.core.errors import GradeGPTError
from gradegpt.core.schema import Item

from .errors import JudgeError, QueueFullError, WorkerLostError
from .metrics import Metrics
from .settings import ServeSettings

_log = logging.getLogger(__name__)

_PAUSE_S: Final = 5.0
"""Seconds between two attempts to start a lane."""
_MOMENT: Final = 0.05
"""The wait for new requests after a batch, as a share of the batch's own time."""
_LONGEST_WAIT_S: Final = 60
"""The largest ``Retry-After``, in seconds."""
_AGAIN: Final = -1
"""The round of an input that is tried again: before all others."""


class Lane(Protocol):
    """What does batches: a judge, in this process or in another."""

    def start(self) -> None:
        """Begin again after a ``WorkerLostError``."""

    def do(self, items: Sequence[Item], deadline: float) -> list[Any]:
        """A result for each item, in order; an item that fails has its error as result."""
        ...

    def close(self) -> None:
        """Do no more batches."""


@dataclass
class Caller:
    """Whoever sends items: they get one place a round, in all of the caller's requests."""

    next_round: int = 0


@dataclass(eq=False, slots=True)
class Job:
    """One item of a request, with the future of its result, a value or an exception."""

    item: Item
    result: asyncio.Future[Any]
    is_waiting: bool = True
    retries: int = 0

    def settle(self, result: Any) -> None:
        """Set the result, unless the caller has left."""
        if not self.result.done():
            self.result.set_result(result)


class JudgingStage:
    """Lanes and the queue of their items. ``waiting`` counts them, without those tried again.

    ``name`` is for the metrics, and ``max_batch`` the most items of a batch.
    """

    def __init__(
        self, name: str, max_batch: int, settings: ServeSettings, metrics: Metrics
    ) -> None:
        self.waiting = self._away = 0
        self._running = set[Future[list[Any]]]()
        self._name, self._max_batch, self._metrics = name, max_batch, metrics
        self._max_queue, self._deadline_s = settings.max_queue, settings.deadline_s
        self._lanes: tuple[Lane, ...] = ()
        self._queue: list[tuple[int, int, Job]] = []
        self._numbers, self._round, self._pace_s = count(), 0, 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def open(self, lanes: Sequence[Lane]) -> None:
        """Start to process items with equal lanes that are already started.

        A lane that is listed twice processes two batches at once.
        """
        self._threads = ThreadPoolExecutor(len(lanes), thread_name_prefix=self._name)
        self._lanes = tuple(lanes)

    def close(self) -> None:
        """Process no more batches; the current ones end, or are cut off in a process."""
        self._closed = True
        for lane in self._lanes:
            lane.close()

    @property
    def busy(self) -> int:
        """The number of running batches, also of callers that have left."""
        return len(self._running)

    @property
    def ready(self) -> bool:
        """Whether a lane works."""
        return self._away < len(self._lanes)

    async def results(self, items: Sequence[Item], caller: Caller) -> list[Any]:
        """The result of each item, in order; that of an item that fails is its error.

        Items that no lane has taken when the caller is cancelled are never processed.

        Raises:
            QueueFullError: too many items wait.

        """
        if items and self.waiting + len(items) > self._max_queue:
            excess = self.waiting + len(items) - self._max_queue
            seconds = excess * self._pace_s / len(self._lanes)
            what = f"{self.waiting:,} items wait, at most {self._max_queue:,} may; the "
            what += f"{len(items):,} of this request would exceed that; try again later"
            raise QueueFullError(what, min(max(1, math.ceil(seconds)), _LONGEST_WAIT_S))
        loop = self._working()
        jobs = [Job(item, loop.create_future()) for item in items]
        for job in jobs:
            place = max(self._round, caller.next_round)
            caller.next_round = place + 1
            heapq.heappush(self._queue, (place, next(self._numbers), job))
        self.waiting += len(jobs)
        self._changed.set()
        try:
            return [await job.result for job in jobs]
        finally:
            self._withdraw(jobs)

    def _working(self) -> asyncio.AbstractEventLoop:
        """The event loop, in which the lanes work from the first request on."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._changed = loop, asyncio.Event()
            self._tasks = [loop.create_task(self._work(lane)) for lane in self._lanes]
        return loop

    def _withdraw(self, jobs: Sequence[Job]) -> None:
        """Forget the jobs that no lane has taken, and the results that nobody awaits."""
        for job in jobs:
            job.result.cancel()
            self.waiting -= job.is_waiting
            job.is_waiting = False
        if len(self._queue) > 2 * self.waiting + self._max_batch:
            self._queue = [entry for entry in self._queue if not entry[2].result.done()]
            heapq.heapify(self._queue)

    async def _work(self, lane: Lane) -> None:
        size, seconds = 1, 0.0
        while not self._closed:
            jobs = await self._next_batch(size, seconds * _MOMENT)
            # The deadline is counted from now, not from arrival: a busy server must not kill
            # healthy workers because of requests that waited almost until their deadline.
            started, items = time.monotonic(), [job.item for job in jobs]
            future = self._threads.submit(lane.do, items, started + self._deadline_s)
            self._running.add(future)
            future.add_done_callback(self._running.discard)
            await self._settled(lane, jobs, asyncio.wrap_future(future))
            size, seconds = len(jobs), time.monotonic() - started
            self._pace_s = seconds / size

    async def _next_batch(self, last_size: int, moment_s: float) -> list[Job]:
        """The next batch, as soon as there is one."""
        if moment_s and self.waiting < last_size:
            with suppress(TimeoutError):
                async with asyncio.timeout(moment_s):
                    while self.waiting < last_size:
                        await self._change()
        while not (jobs := self._gathered()):
            await self._change()
        return jobs

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _gathered(self) -> list[Job]:
        """One item of each caller in turn; or one that is tried again."""
        jobs: list[Job] = []
        while self._queue and len(jobs) < self._max_batch:
            place, _, job = self._queue[0]
            if not job.result.done():
                jobs.append(job)
                self.waiting -= job.is_waiting
                job.is_waiting = False
            heapq.heappop(self._queue)
            if jobs and place == _AGAIN:
                break
            self._round = max(self._round, place)
        return jobs

    async def _settled(
        self, lane: Lane, jobs: list[Job], running: asyncio.Future[list[Any]]
    ) -> None:
        """Set the results of a batch, or try its jobs again."""
        try:
            results = await running
            if len(results) != len(jobs):
                raise ValueError(f"{len(results)} results for {len(jobs)} items")
        except WorkerLostError as error:
            self._retry(jobs, error)
            await self._replace(lane, error)
        except Exception as error:  # noqa: BLE001  it is a result, and the lane must survive
            ours = error
            if not isinstance(error, GradeGPTError):
                _log.error("the judge raised an error", exc_info=error)
                what = "an error in the judge, not in the request; see the server's log"
                ours = JudgeError(what)
            if len(jobs) > 1:
                self._retry(jobs, ours)
            else:
                jobs[0].settle(ours)
        else:
            for job, result in zip(jobs, results, strict=True):
                job.settle(result)
            self._metrics.judged(results)
            self._metrics.batch(self._name, len(results))

    def _retry(self, jobs: list[Job], error: Exception) -> None:
        """Try each job again separately, as one input may have made the whole batch fail.

        A lost worker may be no input's fault, so that is tried twice.
        """
        most = 2 if isinstance(error, WorkerLostError) else 1
        for job in jobs:
            job.retries += 1
            if job.retries > most:
                job.settle(error)
            else:
                heapq.heappush(self._queue, (_AGAIN, next(self._numbers), job))
        self._changed.set()

    async def _replace(self, lane: Lane, lost: WorkerLostError) -> None:
        """Start a lane again, with unlimited attempts; the other lanes continue."""
        if self._closed:
            return
        _log.error("%s", lost)
        self._metrics.count("workers", "lost")
        self._away += 1
        while not self._closed:
            try:
                await asyncio.get_running_loop().run_in_executor(self._threads, lane.start)
                self._metrics.count("workers", "restarted")
                break
            except GradeGPTError as error:
                _log.error("a worker does not start: %s; next try in %.0f s", error, _PAUSE_S)
                await asyncio.sleep(_PAUSE_S)
        self._away -= 1
