"""The batch scheduler: batches, turns, limits, deadlines, failures."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from typing_extensions import override

from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.model import ModelJudge
from serve.errors import BusyError, DeadlineError, JudgeError
from serve.metrics import Metrics
from serve.scheduler import BatchScheduler
from serve.settings import ServeSettings
from serve.stage import Caller
from tests.serve.schedulers import Gated, items, scheduler_of, until


@pytest.fixture
def judge() -> Iterator[Gated]:
    judge = Gated()
    yield judge
    judge.gate.set()


async def busy(scheduler: BatchScheduler, judge: Gated) -> asyncio.Task[list[Judgement]]:
    """A first request that keeps the judge busy, so that all others wait."""
    task = asyncio.create_task(scheduler.judge(items("first")))
    assert await asyncio.to_thread(judge.entered.wait, 5)
    return task


def test_requests_that_wait_are_judged_in_one_batch(judge: Gated) -> None:
    """The first does not wait for others; later ones share the next batch."""

    async def ask() -> None:
        scheduler = scheduler_of(judge)
        first = await busy(scheduler, judge)
        others = [asyncio.create_task(scheduler.judge(items(f"r{n}"))) for n in range(5)]
        await until(lambda: scheduler.waiting["full"] == 5)
        judge.gate.set()
        replies = await asyncio.gather(first, *others)
        assert [reply[0].id for reply in replies] == ["first", "r0", "r1", "r2", "r3", "r4"]
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["first"], ["r0", "r1", "r2", "r3", "r4"]]


def test_a_small_request_does_not_wait_for_a_large_one(judge: Gated) -> None:
    """Each request gives an item in turn; the others follow in the next batch."""

    async def ask() -> None:
        scheduler = scheduler_of(judge, max_batch=4)
        first = await busy(scheduler, judge)
        large = asyncio.create_task(scheduler.judge(items(*"abcdefgh")))
        await until(lambda: scheduler.waiting["full"] == 8)
        small = asyncio.create_task(scheduler.judge(items("x", "y")))
        await until(lambda: scheduler.waiting["full"] == 10)
        judge.gate.set()
        assert [j.id for j in (await asyncio.gather(first, large, small))[1]] == [*"abcdefgh"]
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["first"], ["a", "x", "b", "y"], ["c", "d", "e", "f"], ["g", "h"]]


def test_requests_of_one_caller_share_its_turn(judge: Gated) -> None:
    """The rows of a stream are separate requests of one caller."""

    async def ask() -> None:
        scheduler = scheduler_of(judge, max_batch=2)
        tasks = [await busy(scheduler, judge)]
        stream = Caller()
        rows = [scheduler.judge(items(name), caller=stream) for name in "abc"]
        tasks += [asyncio.create_task(row) for row in rows]
        tasks.append(asyncio.create_task(scheduler.judge(items("x"))))
        await until(lambda: scheduler.waiting["full"] == 4)
        judge.gate.set()
        await asyncio.gather(*tasks)
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["first"], ["a", "x"], ["b", "c"]]


def test_a_deadline_ends_the_wait_and_drops_waiting_items(judge: Gated) -> None:
    async def ask() -> None:
        scheduler = scheduler_of(judge)
        first = await busy(scheduler, judge)
        scheduler.deadline_s = 0.05
        with pytest.raises(DeadlineError, match=r"within 0\.05 s"):
            await scheduler.judge(items("late"))
        assert scheduler.waiting["full"] == 0
        judge.gate.set()
        await first
        await scheduler.judge(items("next"))
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["first"], ["next"]]


def test_an_item_that_breaks_the_judge_does_not_affect_other_requests() -> None:
    """The batch is judged again item by item; the broken item is failed, or raised if alone."""
    judge = Gated(raises=lambda item: KeyError("x") if item.id == "bad" else None)

    async def ask() -> None:
        scheduler = scheduler_of(judge)
        tasks = [await busy(scheduler, judge)]
        asked = [scheduler.judge(items(*names)) for names in (["good"], ["bad"], ["a", "bad"])]
        tasks += [asyncio.create_task(one) for one in asked]
        await until(lambda: scheduler.waiting["full"] == 4)
        judge.gate.set()
        _, good, alone, mixed = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(alone, JudgeError)
        assert isinstance(good, list)
        assert isinstance(mixed, list)
        assert [j.outcome for j in (*good, *mixed)] == ["judged", "judged", "failed"]
        assert mixed[1].reason.startswith("engine:error: an error in the judge")
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches[2:] == [["good"], ["bad"], ["a"], ["bad"]]


def test_an_engine_failure_is_raised_and_one_failed_prompt_is_not() -> None:
    async def ask() -> None:
        down = scheduler_of(Gated(raises=lambda _: EngineError("no GPU")))
        down._workers[0]._judge.gate.set()  # type: ignore[attr-defined]
        with pytest.raises(EngineError, match="no GPU"):
            await down.judge(items("a", "b"))
        one = scheduler_of(ModelJudge(ScriptedEngine(["<Yes>", EngineError("lost")])))
        outcomes = [j.outcome for j in await one.judge(items("a", "b"))]
        assert outcomes == [Outcome.JUDGED, Outcome.FAILED]
        down.close()
        one.close()

    asyncio.run(ask())


def test_a_judge_that_omits_an_item_does_not_break_the_scheduler() -> None:
    """No judgement is given to the wrong item, and the next request is served."""

    class Forgetful(Gated):
        @override
        def judge(self, items: Sequence[Item]) -> list[Judgement]:
            self.gate.set()
            return super().judge(items)[: 1 - len(self.batches) % 2]

    async def ask() -> None:
        scheduler = scheduler_of(Forgetful())
        with pytest.raises(JudgeError):
            await scheduler.judge(items("a"))
        assert len(await scheduler.judge(items("b"))) == 1
        scheduler.close()

    asyncio.run(ask())


def test_a_scheduler_without_a_judge_is_not_ready() -> None:
    scheduler = BatchScheduler(ServeSettings(), Metrics())
    assert not scheduler.ready
    with pytest.raises(BusyError, match="being loaded"):
        asyncio.run(scheduler.judge(items("a")))
