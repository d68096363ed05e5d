"""The rules on every core, in processes that stay alive; a crash affects a single item."""

from __future__ import annotations

import atexit
import json
import queue
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

from gradegpt.judges.base import undecided
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.machine import cores
from gradegpt.rules.workers import Worker
from gradegpt.schema import Item, Judgement

_CHUNK: Final = 128
_MIN_ITEMS: Final = 512
"""Fewer items are judged in this process, as starting others takes longer than judging them."""
_SECONDS: Final = 10.0
"""Wall-clock limit of one item in a process, far above the time of the slowest."""
_FIELDS: Final = set(Item.model_fields)
"""The fields that are sent to a process; an example's label is not among them."""


class ParallelJudge:
    """A rule judge or profile over several processes; same judgements, same order.

    If a process dies or exceeds the limit, the item that it was judging is undecided with the
    reason ``worker:lost``, and a new process judges the rest of its share.

    Args:
        judge: The judge in each process; it also judges small batches in this process.
        processes: The number of processes. None: one per core.

    """

    def __init__(self, judge: RuleJudge | ProfileJudge, processes: int | None = None) -> None:
        self.name = judge.name
        self._judge = judge
        self._profile = judge.name if isinstance(judge, ProfileJudge) else ""
        self.processes = processes or cores()
        self._least = _MIN_ITEMS if self.processes > 1 else sys.maxsize
        self._free = queue.LifoQueue[Worker | None]()
        for _ in range(self.processes):
            self._free.put(None)

    @property
    def fingerprint(self) -> str:
        """That of the inner judge: the number of processes changes no judgement."""
        return self._judge.fingerprint

    def isolated(self) -> ParallelJudge:
        """The same with one process, in which also a few items are judged."""
        alone = ParallelJudge(self._judge, 1)
        alone._least = 0
        return alone

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        if len(items) < self._least:
            return self._judge.judge(items)
        chunks = [items[at : at + _CHUNK] for at in range(0, len(items), _CHUNK)]
        with ThreadPoolExecutor(self.processes) as threads:
            return [made for part in threads.map(self._chunk, chunks) for made in part]

    def _chunk(self, items: Sequence[Item]) -> list[Judgement]:
        if (made := self._ask(items)) is not None:
            return made
        one_by_one = ((item, self._ask([item])) for item in items)
        name = self.name
        return [m[0] if m else undecided(item, name, "worker:lost") for item, m in one_by_one]

    def _ask(self, items: Sequence[Item]) -> list[Judgement] | None:
        worker = self._free.get()
        try:
            if worker is None or worker.process.poll() is not None:
                worker = Worker("gradegpt.judges.worker", self._profile)
                atexit.register(worker.kill)
            rows = [item.model_dump(mode="json", include=_FIELDS) for item in items]
            line = json.dumps(rows).encode() + b"\n"
            answer = worker.ask(line, time.monotonic() + _SECONDS * len(items))
            if answer is None:
                worker.kill()
                return None
            return [Judgement.model_validate(row) for row in json.loads(answer)]
        finally:
            self._free.put(worker)


@cache
def _shared() -> ParallelJudge:
    return ParallelJudge(RuleJudge())


def judge_many(items: Sequence[Item]) -> list[Judgement]:
    """Judge with the rules on every core; the processes stay alive for the next call."""
    return _shared().judge(items)
