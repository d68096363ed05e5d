"""The quick stage: what asks no model judges in threads of the server's process, in turns.

One thread works at a time, for a moment, as threads that compute in Python gain nothing from each
other, and each delays the event loop. A thread that takes longer, as for computer algebra, goes on
beside the next. The first turn of a caller is before the further turns of all, of which at most one
waits for it; so an item of its own does not wait for the many of another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Final

from gradegpt.core.schema import Item

from .errors import QueueFullError
from .metrics import Metrics
from .stage import Caller, known
from .worker import Begin

_THREADS: Final = 4
_MOMENT_S: Final = 0.001
"""Seconds of a turn: an item takes a third, and to change threads as much."""
_LONG_S: Final = 0.005
"""Seconds after which the next turn begins beside this one."""


class QuickStage:
    """Judges items with ``begin``, whose result is None for what is left to a model."""

    def __init__(self, begin: Begin, max_queue: int, metrics: Metrics) -> None:
        self.waiting = 0
        self._begin, self._max_queue, self._metrics = begin, max_queue, metrics
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="quick")
        self._running = set[Future[list[Any]]]()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def busy(self) -> int:
        """The number of running turns, also of callers that have left."""
        return len(self._running)

    async def results(self, items: Sequence[Item], caller: Caller) -> list[Any]:
        """The result of each item, in order; that of an item that fails is its error.

        Raises:
            QueueFullError: too many items wait.

        """
        if items and self.waiting + len(items) > self._max_queue:
            raise QueueFullError.of(self.waiting, self._max_queue)
        results: list[Any] = []
        self.waiting += len(items)
        try:
            while left := items[len(results) :]:
                made = await self._turn(left, caller)
                self.waiting -= len(made)
                results += made
        finally:
            self.waiting -= len(items) - len(results)
        self._metrics.judged(results)
        return results

    async def _turn(self, items: Sequence[Item], caller: Caller) -> list[Any]:
        """The results of the first of the items."""
        if self._loop is not asyncio.get_running_loop():
            self._loop = asyncio.get_running_loop()
            self._now, self._next = asyncio.Lock(), asyncio.Lock()
        next_ = self._next if caller.has_begun else nullcontext()
        caller.has_begun = True
        async with caller.turn, next_, self._now:
            future = self._threads.submit(self._some, items)
            self._running.add(future)
            future.add_done_callback(self._running.discard)
            running = asyncio.wrap_future(future)
            await asyncio.wait((running,), timeout=_LONG_S)
        return await running

    def _some(self, items: Sequence[Item]) -> list[Any]:
        results, until = list[Any](), time.monotonic() + _MOMENT_S
        for item in items:
            results.append(self._one(item))
            if time.monotonic() > until:
                break
        return results

    def _one(self, item: Item) -> Any:
        try:
            [result] = self._begin([item])
        except Exception as error:  # noqa: BLE001  it is the item's result
            return known(error)
        return result
