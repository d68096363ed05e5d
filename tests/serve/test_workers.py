"""Worker processes: their results, and the effects of their death."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradegpt.core.errors import EngineError, MissingError
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from serve.app import build_app
from serve.errors import DeadlineError
from serve.settings import ServeSettings
from serve.workers import WorkerProcess, workers_for
from tests.serve.schedulers import items, opened
from tests.serve.scripted import scripted_judge

RULES = JudgeSettings.of(kind="rules")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], WorkerProcess]]:
    """Starts workers with the scripted judge."""
    made = list[WorkerProcess]()
    seen = tmp_path_factory.mktemp("scripted") / "seen"

    def start() -> WorkerProcess:
        made.append(WorkerProcess(RULES, partial(scripted_judge, seen)))
        made[-1].start()
        return made[-1]

    yield start
    for worker in made:
        worker.close()


@pytest.fixture(scope="module")
def worker(started: Callable[[], WorkerProcess]) -> WorkerProcess:
    """One that is started again whenever a test has killed it, and that no scheduler closes."""
    return started()


def soon() -> float:
    return time.monotonic() + 20


def alive(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_judges_as_the_judge_does_here(tmp_path: Path) -> None:
    """It has the same judgements, fingerprint and cache counts."""
    worker = WorkerProcess(RULES.model_copy(update={"cache": tmp_path / "cache.db"}))
    worker.start()
    asked = items("The answer is 4.", "5", "", "it depends")
    nested: dict[str, Any] = {}
    for _ in range(800):
        nested = {"a": nested}
    asked[0] = asked[0].model_copy(update={"meta": nested})
    for cached in ((0, 4), (4, 4)):
        assert worker.do(asked, soon()) == RuleJudge().judge(asked)
        assert worker.cached == cached
    assert (worker.name, worker.fingerprint) == ("rules", RuleJudge().fingerprint)
    pid, process = worker.pid, worker._process
    worker.close()
    assert not alive(pid)
    assert process is not None
    assert process.exitcode == 0  # it was not killed, and has cleaned up


def test_a_worker_distinguishes_errors(worker: WorkerProcess) -> None:
    """A failure of the engine is a judgement; a bug fails its batch alone, with its class."""
    [late] = worker.do(items("Late"), soon())
    assert (late.outcome, late.reason) == ("failed", "engine:timeout: too slow")
    with pytest.raises(KeyError, match="secret"):
        worker.do(items("Bug"), soon())
    assert worker.do(items("a"), soon())[0].verdict == "correct"


def test_a_judge_that_does_not_load_says_why() -> None:
    worker = WorkerProcess(JudgeSettings.of(kind="model", model="./nowhere"))
    with pytest.raises((MissingError, EngineError), match="nowhere"):
        worker.start()
    worker.close()


def test_the_death_of_a_worker_loses_no_request(worker: WorkerProcess) -> None:
    """It is killed in the middle of a batch, and a new worker judges the same items."""

    async def ask() -> None:
        scheduler = opened(worker)
        asked = [
            asyncio.create_task(scheduler.judge(items(f"Slow {n}", f"b{n}"))) for n in range(3)
        ]
        while not scheduler.busy:
            await asyncio.sleep(0.001)
        first = worker.pid
        os.kill(first or 0, signal.SIGKILL)
        replies = await asyncio.gather(*asked)
        assert [[j.verdict for j in reply] for reply in replies] == [["correct"] * 2] * 3
        assert worker.pid != first

    asyncio.run(ask())


def test_an_item_that_kills_workers_fails_alone(worker: WorkerProcess) -> None:
    """Each item is tried again separately; the one that kills three workers is failed."""

    async def ask() -> None:
        scheduler = opened(worker)
        made = await scheduler.judge(items("a", "Always", "b"))
        assert [j.outcome for j in made] == ["judged", "failed", "judged"]
        assert made[1].reason.startswith("engine:error: worker process")
        assert (await scheduler.judge(items("c")))[0].verdict == "correct"
        assert (await scheduler.judge(items("Once")))[0].verdict == "correct"
        assert scheduler.ready

    asyncio.run(ask())


def test_a_hanging_item_fails_at_its_deadline_and_the_worker_is_replaced(
    worker: WorkerProcess,
) -> None:
    async def ask() -> None:
        scheduler = opened(worker, deadline_s=0.5)
        with pytest.raises(DeadlineError):
            await scheduler.judge(items("Hang"))
        scheduler.deadline_s = 20
        assert (await scheduler.judge(items("a")))[0].verdict == "correct"

    asyncio.run(ask())


def test_a_request_that_waited_long_kills_no_worker(worker: WorkerProcess) -> None:
    """Its deadline ends in the middle of the batch; the healthy worker is kept."""

    async def ask() -> None:
        scheduler, pid = opened(worker, max_batch=1), worker.pid
        first = asyncio.create_task(scheduler.judge(items("Slow 1")))
        while not scheduler.busy:
            await asyncio.sleep(0.001)
        scheduler.deadline_s = 0.5
        with pytest.raises(DeadlineError):
            await scheduler.judge(items("Slow 2"))
        scheduler.deadline_s = 20
        assert (await first)[0].verdict == "correct"
        assert (await scheduler.judge(items("a")))[0].verdict == "correct"
        assert worker.pid == pid

    asyncio.run(ask())


def test_workers_work_in_parallel(
    worker: WorkerProcess, started: Callable[[], WorkerProcess]
) -> None:
    """Each of two items waits until the other is judged, too."""

    async def ask() -> None:
        scheduler = opened(worker, started(), max_batch=1, deadline_s=20)
        made = await scheduler.judge(items("Meet 1", "Meet 2"))
        assert [j.verdict for j in made] == ["correct"] * 2

    asyncio.run(ask())


def test_the_server_has_its_judge_in_workers_if_set(item: dict[str, Any]) -> None:
    """The reply is the same, and the worker does not survive the server."""
    settings = ServeSettings(judge=RULES, workers=1)
    app, workers = build_app(settings), workers_for(settings)
    app.state.service.scheduler.open(workers)
    with TestClient(app) as client:
        assert client.get("/health").json()["judge"] == "rules"
        judged = client.post("/v1/judge", json=item).json()["judgement"]
        assert judged["verdict"] == "correct"
    assert not any(alive(w.pid) for w in workers if isinstance(w, WorkerProcess))
