"""The queue of inputs in front of the judges, served round robin by caller.

It is safe for use from any thread; the condition ``changed`` guards it and signals changes.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False, slots=True)
class Job:
    """One input of a request, with the future of its result, a value or an exception.

    With ``max_new_tokens`` it is a conversation to continue, else an item to judge; a batch has one
    kind only. ``patience_s`` is the deadline of the request, and the longest time in a worker.
    """

    max_new_tokens: int | None
    given: Any
    patience_s: float
    caller: Hashable
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    retries: int = 0


class Queue:
    """Jobs by caller. ``waiting`` counts them, without retried jobs."""

    def __init__(self) -> None:
        self.waiting = 0
        self.changed = threading.Condition()
        self._callers: OrderedDict[Hashable, OrderedDict[Job, None]] = OrderedDict()
        self._again: deque[Job] = deque()
        self.closed = False

    def enter(self, jobs: Sequence[Job], limit: int) -> bool:
        """Add jobs, unless more than ``limit`` would then wait; return whether they were added."""
        with self.changed:
            if jobs and self.waiting + len(jobs) > limit:
                return False
            self.waiting += len(jobs)
            for job in jobs:
                self._callers.setdefault(job.caller, OrderedDict())[job] = None
            self.changed.notify_all()
            return True

    def again(self, jobs: Sequence[Job]) -> None:
        """Add started jobs again, to be done first and one at a time."""
        with self.changed:
            for job in jobs:
                job.retries += 1
                self._again.append(job)
            self.changed.notify_all()

    def close(self) -> None:
        """Wake all waiting threads and stop."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def withdraw(self, jobs: list[Job]) -> None:
        """Remove jobs that were not started and whose result is no longer needed."""
        left = [job for job in jobs if not job.result.done() or job.result.cancelled()]
        with self.changed:
            for job in left:
                job.result.cancel()
                own = self._callers.get(job.caller)
                if own is not None and job in own:
                    del own[job]
                    self.waiting -= 1
                    if not own:
                        del self._callers[job.caller]

    def take(self, most: int, last_size: int, moment_s: float) -> list[Job]:
        """The next batch, as soon as there is one; empty after the queue is closed."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.waiting >= last_size, moment_s)
            while not self.closed:
                if jobs := self._gathered(most):
                    return jobs
                self.changed.wait()
            return []

    def _gathered(self, most: int) -> list[Job]:
        """One input of each caller in turn, all of one kind; or one retried input."""
        while self._again:
            job = self._again.popleft()
            if not job.result.cancelled():
                return [job]
        jobs: list[Job] = []
        passed_over = 0
        while len(jobs) < most and passed_over < len(self._callers):
            caller, waiting = self._callers.popitem(last=False)
            if jobs and next(iter(waiting)).max_new_tokens != jobs[0].max_new_tokens:
                passed_over += 1
            else:
                passed_over = 0
                jobs.append(waiting.popitem(last=False)[0])
            if waiting:
                self._callers[caller] = waiting
        self.waiting -= len(jobs)
        return jobs


def settle(jobs: Sequence[Job], results: Sequence[Any]) -> None:
    """Set the results of jobs whose callers still wait, each in its own event loop."""
    pairs: dict[asyncio.AbstractEventLoop, list[tuple[Job, Any]]] = {}
    for job, result in zip(jobs, results, strict=True):
        pairs.setdefault(job.loop, []).append((job, result))
    for loop, settled in pairs.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_set_results, settled)


def _set_results(settled: list[tuple[Job, Any]]) -> None:
    for job, result in settled:
        if not job.result.done():
            job.result.set_result(result)
