"""What waits for the judges: who asks takes turns, an input each.

All of it may be used from any thread; ``changed`` guards it and tells of what is new.
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
    """One input of a request, and where its result goes: a value or an exception.

    With ``max_new_tokens`` it is to be continued, without to be judged; a batch is all of a kind.
    ``patience_s`` is how long the request waits in all: longer than that no worker is at it.
    """

    max_new_tokens: int | None
    given: Any
    patience_s: float
    caller: Hashable
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    retried: bool = False


class Queue:
    """Jobs, by who asks. ``waiting`` counts them, but for those that are tried again."""

    def __init__(self) -> None:
        self.waiting = 0
        self.changed = threading.Condition()
        self._callers: OrderedDict[Hashable, deque[Job]] = OrderedDict()
        self._again: deque[Job] = deque()
        self.closed = False

    def enter(self, jobs: Sequence[Job], limit: int) -> bool:
        """Take jobs in, unless more than ``limit`` would then wait."""
        with self.changed:
            if jobs and self.waiting + len(jobs) > limit:
                return False
            self.waiting += len(jobs)
            for job in jobs:
                self._callers.setdefault(job.caller, deque()).append(job)
            self.changed.notify_all()
            return True

    def again(self, jobs: Sequence[Job]) -> None:
        """Take back what was started, to be done before all else and each on its own."""
        with self.changed:
            for job in jobs:
                job.retried = True
                self._again.append(job)
            self.changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def withdraw(self, jobs: list[Job]) -> None:
        """Forget what was not started and nobody waits for any longer."""
        left = [job for job in jobs if not job.result.done() or job.result.cancelled()]
        if not left:
            return
        with self.changed:
            for job in left:
                job.result.cancel()
            waiting = self._callers.pop(left[0].caller, ())
            kept = deque(job for job in waiting if not job.result.cancelled())
            self.waiting -= len(waiting) - len(kept)
            if kept:
                self._callers[left[0].caller] = kept

    def take(self, most: int, last_size: int, moment_s: float) -> list[Job]:
        """The next batch, as soon as there is one; empty once the scheduler is closed."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.waiting >= last_size, moment_s)
            while not self.closed:
                if jobs := self._gathered(most):
                    return jobs
                self.changed.wait()
            return []

    def _gathered(self, most: int) -> list[Job]:
        """An input of each caller in turn, all of one kind; or one that is tried again."""
        while self._again:
            job = self._again.popleft()
            if not job.result.cancelled():
                return [job]
        jobs: list[Job] = []
        passed_over = 0
        while len(jobs) < most and passed_over < len(self._callers):
            caller, waiting = self._callers.popitem(last=False)
            if jobs and waiting[0].max_new_tokens != jobs[0].max_new_tokens:
                passed_over += 1
            else:
                passed_over = 0
                jobs.append(waiting.popleft())
            if waiting:
                self._callers[caller] = waiting
        self.waiting -= len(jobs)
        return jobs


def settle(jobs: Sequence[Job], results: Sequence[Any]) -> None:
    """Hand results to whoever still waits for them, each in its own loop."""
    pairs: dict[asyncio.AbstractEventLoop, list[tuple[Job, Any]]] = {}
    for job, result in zip(jobs, results, strict=True):
        pairs.setdefault(job.loop, []).append((job, result))
    for loop, told in pairs.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_tell, told)


def _tell(told: list[tuple[Job, Any]]) -> None:
    for job, result in told:
        if not job.result.done():
            job.result.set_result(result)
