"""Judges without a model on every core, in processes that stay alive; a crash affects one item."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from gradegpt.core.machine import cores
from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.base import Judge, judge_each, undecided
from gradegpt.judges.profile import ProfileJudge
from gradegpt.rules.workers import Pool

ROWS_AT_A_TIME: Final = 1_024
"""Rows to judge per call: enough for all cores."""
_CHUNK: Final = 128
_MIN_ITEMS: Final = 512
"""Fewer items are judged in this process, as starting others takes longer than judging them."""
_SECONDS: Final = 10.0
"""Wall-clock limit of one item in a process, far above the time of the slowest."""
_FIELDS: Final = set(Item.model_fields)
"""The fields that are sent to a process; an example's label is not among them."""


class ParallelJudge:
    """A judge that asks no model, over several processes; same judgements, same order.

    If a process dies or exceeds the limit, the item that it was judging is undecided with the
    reason ``worker:lost``, and a new process judges the rest of its share.

    Args:
        judge: The judge in each process; it also judges small batches in this process.
        processes: The number of processes. None: one per core.
        settings: The judge's settings as JSON, from which each process builds it; rules and
            profiles need none.

    """

    def __init__(
        self, judge: Judge, processes: int | None = None, settings: str | None = None
    ) -> None:
        self.name = judge.name
        self.inner = judge
        profile = judge.name if isinstance(judge, ProfileJudge) else None
        self._settings = settings or json.dumps({"kind": "rules", "profile": profile})
        self.processes = processes or cores()
        self._least = _MIN_ITEMS if self.processes > 1 else sys.maxsize
        self._pool = Pool(self.processes, "gradegpt.judges.worker", self._settings)

    @property
    def fingerprint(self) -> str:
        """That of the inner judge: the number of processes changes no judgement."""
        return self.inner.fingerprint

    def isolated(self) -> ParallelJudge:
        """The same with one process, in which also a few items are judged."""
        alone = ParallelJudge(self.inner, 1, self._settings)
        alone._least = 0
        return alone

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        return next(self.judge_batches([items]))

    def judge_batches(self, batches: Iterable[Sequence[Item]]) -> Iterator[list[Judgement]]:
        """The judgements of each batch, in order.

        The processes judge one batch while the caller uses the judgements of the batch before it
        and reads the batch after it.
        """
        begun = deque[list[Future[list[Judgement]]]]()
        with ThreadPoolExecutor(self.processes) as threads:
            for items in batches:
                begun.append(self._begun(items, threads))
                if len(begun) > 1:
                    yield _ended(begun.popleft())
            while begun:
                yield _ended(begun.popleft())

    def _begun(
        self, items: Sequence[Item], threads: ThreadPoolExecutor
    ) -> list[Future[list[Judgement]]]:
        if len(items) >= self._least:
            chunks = (items[at : at + _CHUNK] for at in range(0, len(items), _CHUNK))
            return [threads.submit(self._chunk, chunk) for chunk in chunks]
        done = Future[list[Judgement]]()
        done.set_result(judge_each(self.inner, items))
        return [done]

    def _chunk(self, items: Sequence[Item]) -> list[Judgement]:
        if (made := self._ask(items)) is not None:
            return made
        one_by_one = ((item, self._ask([item])) for item in items)
        name = self.name
        return [m[0] if m else undecided(item, name, "worker:lost") for item, m in one_by_one]

    def _ask(self, items: Sequence[Item]) -> list[Judgement] | None:
        rows = [item.model_dump(mode="json", include=_FIELDS) for item in items]
        made = self._pool.ask(rows, _SECONDS * len(items))
        return None if made is None else [Judgement.model_validate(row) for row in made]


def _ended(futures: Iterable[Future[list[Judgement]]]) -> list[Judgement]:
    return [judgement for future in futures for judgement in future.result()]
