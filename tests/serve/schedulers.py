"""A scheduler with a judge, a judge that waits, and items."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.base import Judge
from serve.metrics import Metrics
from serve.scheduler import BatchScheduler
from serve.settings import ServeSettings
from serve.worker import InProcess
from serve.workers import JudgeWorker


def scheduler_of(judge: Judge, **limits: Any) -> BatchScheduler:
    """A scheduler with one judge in this process."""
    return opened(InProcess(judge), **limits)


def opened(*workers: JudgeWorker, **limits: Any) -> BatchScheduler:
    """A scheduler with these workers."""
    scheduler = BatchScheduler(ServeSettings(max_items=1, **limits), Metrics())
    scheduler.open(workers)
    return scheduler


def items(*names: str) -> list[Item]:
    return [Item(id=name, reference=("4",), response=name) for name in names]


def correct(item: Item, method: str) -> Judgement:
    return Judgement(id=item.id, outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, method=method)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


class Gated:
    """A judge that waits for its gate, and records its batches."""

    name = fingerprint = "gated"

    def __init__(self, *, raises: Callable[[Item], Exception | None] = lambda _: None) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.batches: list[list[str]] = []
        self._raises = raises

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.batches.append([item.id for item in items])
        self.entered.set()
        assert self.gate.wait(5)
        for item in items:
            if (error := self._raises(item)) is not None:
                raise error
        return [correct(item, "gated") for item in items]
