"""The stages of a cascade: what rules decide does not wait for a model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gradegpt.core.schema import Item, Judgement
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from serve.errors import EngineError, QueueFullError
from serve.settings import ServeSettings
from serve.worker import begin_of
from serve.workers import WorkerProcess, usual_workers
from tests.serve.schedulers import Gated, correct, items, scheduler_of, until


class Staged(Gated):
    """A judge whose first stage decides the items named "easy"; its model waits for its gate."""

    def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
        if any(item.id == "broken" for item in items):
            raise KeyError("a bug")
        return [correct(item, "quick") if item.id == "easy" else None for item in items]


@pytest.fixture
def judge() -> Iterator[Staged]:
    judge = Staged()
    yield judge
    judge.gate.set()


def test_an_item_that_needs_no_model_does_not_wait_for_one(judge: Staged) -> None:
    """It is answered while the model is busy and its queue is full, which still refuses others."""

    async def ask() -> None:
        scheduler = scheduler_of(judge, max_queue=2)
        first = asyncio.create_task(scheduler.judge(items("first")))
        assert await asyncio.to_thread(judge.entered.wait, 5)
        second = asyncio.create_task(scheduler.judge(items("a", "b")))
        await until(lambda: scheduler.waiting["full"] == 2)
        [easy] = await scheduler.judge(items("easy"))
        assert (easy.method, first.done()) == ("quick", False)
        with pytest.raises(QueueFullError):
            await scheduler.judge(items("c"))
        judge.gate.set()
        assert [j.method for j in (await first) + (await second)] == ["gated"] * 3
        scheduler.close()

    asyncio.run(ask())


def test_the_model_gets_only_what_is_left(judge: Staged) -> None:
    """The judgements come in the order of the items, whoever made them."""
    judge.gate.set()

    async def ask() -> None:
        scheduler = scheduler_of(judge)
        made = await scheduler.judge(items("a", "easy", "b", "easy"))
        assert [(j.id, j.method) for j in made] == [
            ("a", "gated"), ("easy", "quick"), ("b", "gated"), ("easy", "quick"),
        ]  # fmt: skip
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["a", "b"]]


def test_the_model_never_sees_items_of_a_caller_that_left(judge: Staged) -> None:
    async def ask() -> None:
        scheduler = scheduler_of(judge)
        first = asyncio.create_task(scheduler.judge(items("first")))
        assert await asyncio.to_thread(judge.entered.wait, 5)
        leaving = asyncio.create_task(scheduler.judge(items("easy", "gone")))
        await until(lambda: scheduler.waiting["full"] == 1)
        leaving.cancel()
        await until(lambda: scheduler.waiting["full"] == 0)
        judge.gate.set()
        await first
        await scheduler.judge(items("next"))
        scheduler.close()

    asyncio.run(ask())
    assert judge.batches == [["first"], ["next"]]


def test_an_error_in_a_stage_fails_its_item_only(judge: Staged) -> None:
    judge.gate.set()

    async def ask() -> None:
        scheduler = scheduler_of(judge)
        made = await scheduler.judge(items("easy", "broken", "a"))
        assert [j.outcome for j in made] == ["judged", "failed", "judged"]
        with pytest.raises(EngineError):
            await scheduler.judge(items("broken"))
        scheduler.close()

    asyncio.run(ask())


def test_a_cascade_begins_with_its_rules_also_behind_a_cache(tmp_path: Path) -> None:
    """The rest of the judgement equals that without stages."""
    cascade = CascadeJudge([RuleJudge(), ModelJudge(ScriptedEngine(["<Yes>"]))])
    begin = begin_of(CachedJudge(cascade, tmp_path / "cache.db"))
    assert begin is not None
    first, second = begin(items("4", "it depends"))
    assert first == RuleJudge().judge(items("4"))[0]
    assert second is None
    assert begin_of(RuleJudge()) is None


def test_a_worker_process_has_its_rules_in_the_server() -> None:
    """They are built there without loading the model; only a cascade has them."""
    begin = WorkerProcess(JudgeSettings.of(kind="cascade", model="./nowhere")).begin
    assert begin is not None
    assert [j if j is None else j.verdict for j in begin(items("4", "it depends"))] == [
        "correct",
        None,
    ]
    assert WorkerProcess(JudgeSettings.of(kind="rules")).begin is None


def test_quick_threads_take_turns_and_pass_one_that_takes_long() -> None:
    """One item at a time, except behind one that waits, as for computer algebra."""
    running, most, free = 0, list[int](), threading.Event()
    lock = threading.Lock()

    class Slow(Staged):
        def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
            nonlocal running
            with lock:
                running += 1
                most.append(running)
            if any(item.id == "slow" for item in items):
                assert free.wait(5)
            with lock:
                running -= 1
            return [correct(item, "quick") for item in items]

    async def ask() -> None:
        scheduler = scheduler_of(Slow())
        await scheduler.judge(items(*(["easy"] * 50)))
        assert set(most) == {1}
        slow = asyncio.create_task(scheduler.judge(items("slow")))
        await until(lambda: running == 1)
        [passed] = await scheduler.judge(items("easy"))
        assert (passed.method, slow.done()) == ("quick", False)
        free.set()
        await slow
        scheduler.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("judge", "processes"),
    [
        (JudgeSettings.of(model="./nowhere", min_confidence=0), 1),
        (JudgeSettings.of(), 0),
        (JudgeSettings.of(model="m", base_url="http://127.0.0.1:9/v1"), 0),
        (JudgeSettings.of(kind="rules"), 0),
    ],
    ids=["local model", "no model", "model elsewhere", "rules"],
)
def test_a_local_model_behind_rules_has_a_process(judge: JudgeSettings, processes: int) -> None:
    """By default; every other judge is in the server's process."""
    assert usual_workers(ServeSettings(judge=judge)) == processes
