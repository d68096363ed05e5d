"""The batch scheduler: two stages of judging, each with a queue of its own.

The quick stage judges with what asks no model, such as rules, in the server's process. The full
stage asks the judge for the items that are left. So an item that rules decide never waits for a
model, however many items do. A judge without such a stage has only the full one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.base import failed

from .errors import BusyError, DeadlineError, WorkerLostError
from .metrics import Metrics
from .settings import ServeSettings
from .stage import Caller, JudgingStage
from .worker import QuickLane
from .workers import JudgeWorker

_LANES: Final = 3
_FEW: Final = 2
"""Quick batches at a time, most of which wait for their turn, and the items of one: a caller's
single item, which waits for all of them, is judged within milliseconds."""


class BatchScheduler:
    """The stages of one judge. ``metrics`` counts what is judged, and lost workers."""

    def __init__(self, settings: ServeSettings, metrics: Metrics) -> None:
        self.name = self.fingerprint = ""
        self.max_queue, self.deadline_s = settings.max_queue, settings.deadline_s
        self._workers: tuple[JudgeWorker, ...] = ()
        self._quick = JudgingStage("quick", _FEW, settings, metrics)
        self._full = JudgingStage("full", settings.max_batch, settings, metrics)

    def open(self, workers: Sequence[JudgeWorker]) -> None:
        """Start to judge with equal workers that are already started.

        A worker that is listed twice processes two batches at once.
        """
        first = workers[0]
        self.name = first.name
        self.fingerprint = hashlib.sha256(first.fingerprint.encode()).hexdigest()[:16]
        if first.begin is not None:
            self._quick.open([QuickLane(first.begin)] * _LANES)
        self._full.open(workers)
        self._workers = tuple(workers)

    def close(self) -> None:
        """Stop the workers after their current batches."""
        self._quick.close()
        self._full.close()

    @property
    def waiting(self) -> dict[str, int]:
        """The number of items of each stage that no worker has taken."""
        return {"quick": self._quick.waiting, "full": self._full.waiting}

    @property
    def busy(self) -> int:
        """The number of running batches."""
        return self._full.busy + self._quick.busy

    @property
    def ready(self) -> bool:
        """Whether a worker is running."""
        return self._full.ready

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
        self, items: Sequence[Item], *, caller: Caller | None = None
    ) -> list[Judgement]:
        """A judgement for each item, in order.

        An item for which the judge raises an error is ``failed``; if all items fail, the error is
        raised. Requests of one ``caller`` share its turns; without, a request is its own caller.

        Raises:
            QueueFullError: too many items wait.
            DeadlineError: not all items were judged in time.
            BusyError: no judge is loaded yet.

        """
        async with self._in_time():
            results = await self._judged(items, caller or Caller())
        errors = [r for r in results if isinstance(r, Exception)]
        if errors and len(errors) == len(results) and not isinstance(errors[0], WorkerLostError):
            raise errors[0]
        return [
            result if isinstance(result, Judgement) else failed(item, result, self.name)
            for item, result in zip(items, results, strict=True)
        ]

    async def _judged(self, items: Sequence[Item], caller: Caller) -> list[Any]:
        """The result of each item: by the quick stage, where it works, or else by the full."""
        if not self._quick.ready:
            return await self._full.results(items, caller)
        results = await self._quick.results(items, caller)
        left = [at for at, result in enumerate(results) if result is None]
        judged = await self._full.results([items[at] for at in left], caller) if left else []
        for at, result in zip(left, judged, strict=True):
            results[at] = result
        return results

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        self.check()
        try:
            async with asyncio.timeout(self.deadline_s):
                yield
        except TimeoutError as error:
            raise DeadlineError(
                f"not judged within {self.deadline_s:g} s; send fewer items at a time, "
                "or start the server with a larger deadline_s"
            ) from error
