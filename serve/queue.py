"""The queue of inputs in front of the judges, served round robin by caller.

It is safe for use from any thread; the condition ``changed`` guards it and signals changes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any


class Calls:
    """Calls from other threads into an event loop, which is woken once for all that wait.

    Woken for each, a loop of asyncio does nothing else while a busy thread calls it: it reads its
    wake-ups until there is none, and after each read waits for the interpreter's lock.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self._lock = loop, threading.Lock()
        self._waiting: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function in the loop, unless that is closed; the loop logs its errors."""
        if self.loop.is_closed():
            return
        with self._lock:
            self._waiting.append((function, arguments))
            wake = len(self._waiting) == 1
        if wake:
            self.loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for function, arguments in waiting:
            self.loop.call_soon(function, *arguments)


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
    calls: Calls
    result: asyncio.Future[Any]
    retries: int = 0


class Queue:
    """Jobs by caller. ``waiting`` counts them, without retried jobs.

    With ``turn_s`` threads that take jobs take turns: one works at a time, and another one only
    where that takes longer. Threads that compute in Python gain nothing from each other, and each
    delays the event loop.
    """

    def __init__(self, turn_s: float = 0.0) -> None:
        self.waiting = 0
        self._turn_s = turn_s
        self._begun: dict[int, float] = {}
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
        thread = threading.get_ident()
        with self.changed:
            self._begun.pop(thread, None)
            self.changed.wait_for(lambda: self.closed or self.waiting >= last_size, moment_s)
            while not self.closed:
                turn_in_s = self._turn_in_s()
                if turn_in_s <= 0 and (jobs := self._gathered(most)):
                    self._begun[thread] = time.monotonic()
                    return jobs
                self.changed.wait(turn_in_s if turn_in_s > 0 else None)
            return []

    def _turn_in_s(self) -> float:
        """Seconds until another thread may take jobs."""
        last = max(self._begun.values(), default=0.0)
        return last + self._turn_s - time.monotonic() if self._turn_s and self._begun else 0.0

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
    pairs: dict[Calls, list[tuple[Job, Any]]] = {}
    for job, result in zip(jobs, results, strict=True):
        pairs.setdefault(job.calls, []).append((job, result))
    for calls, settled in pairs.items():
        calls.call(_set_results, settled)


def _set_results(settled: list[tuple[Job, Any]]) -> None:
    for job, result in settled:
        if not job.result.done():
            job.result.set_result(result)
