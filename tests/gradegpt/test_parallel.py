"""The rules over several processes: the same judgements, and a lost process affects one item."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from multiprocessing import Pipe

import pytest

from gradegpt.core.schema import Item, Judgement
from gradegpt.judges import worker
from gradegpt.judges.build import build_judge, on_every_core
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.rules.reading import read_item


def items(count: int) -> list[Item]:
    return [Item(id=str(n), reference=(f"{n}/7",), response=f"It is {2 * n}/14.")
            for n in range(count)]  # fmt: skip


@pytest.fixture(scope="module")
def parallel() -> ParallelJudge:
    """Two processes, which stay alive."""
    return ParallelJudge(RuleJudge(), processes=2)


def test_processes_change_no_judgement(parallel: ParallelJudge) -> None:
    """They are in order and equal to those of one process, for few items and for many."""
    assert parallel.fingerprint == RuleJudge().fingerprint
    for many in (items(3), items(600)):
        assert parallel.judge(many) == RuleJudge().judge(many)


def test_a_process_judges_by_the_same_profile() -> None:
    """Its settings, from which a process builds the judge, name it."""
    arb = ProfileJudge("arb")
    settings = JudgeSettings.of(**json.loads(ParallelJudge(arb)._settings))
    assert build_judge(settings).fingerprint == arb.fingerprint


def test_a_cascade_without_a_model_runs_on_every_core() -> None:
    """Each process builds the same cascade; one that asks a model stays in this process."""
    settings = JudgeSettings.of(judges=[{"kind": "rules"}])
    cascade = build_judge(settings)
    parallel = on_every_core(cascade, settings)
    assert isinstance(parallel, ParallelJudge)
    texts = [Item(id=f"t{n}", question="Who wrote it?", reference=("Jane Austen",),
                  response=f"It was Jane {name}, I think.")
             for n, name in enumerate(("Austen", "Eyre"))]  # fmt: skip
    many = [*items(3), *texts]
    assert parallel.isolated().judge(many) == cascade.judge(many)
    asks = JudgeSettings.of(min_confidence=0, model="gradegpt-0.5b")
    assert not isinstance(on_every_core(build_judge(asks), asks), ParallelJudge)


def test_a_batch_is_read_while_the_one_before_it_is_judged() -> None:
    """One ahead, and no more; in order."""
    read = list[int]()

    def batches() -> Iterator[list[Item]]:
        for number in range(4):
            read.append(number)
            yield items(3)[number % 3 :]

    made = ParallelJudge(RuleJudge(), processes=2).judge_batches(batches())
    for number, judgements in enumerate(made):
        assert read == list(range(min(number + 2, 4)))
        assert judgements == RuleJudge().judge(items(3)[number % 3 :])


def test_a_bug_that_one_item_meets_fails_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process for a few items, and in the processes for many."""

    def with_bug(item: Item) -> object:
        if item.id == "2":
            raise ValueError("a bug")
        return read_item(item)

    monkeypatch.setattr("gradegpt.judges.rules.read_item", with_bug)
    made = ParallelJudge(RuleJudge(), processes=2).judge(items(4))
    assert [j.outcome for j in made] == ["judged", "judged", "failed", "judged"]
    assert made[2].reason.startswith("judge:error: ValueError: a bug (in with_bug, line")
    here, there = Pipe()
    monkeypatch.setattr("sys.argv", ["worker", '{"kind": "rules"}', str(os.dup(there.fileno()))])
    there.close()
    thread = threading.Thread(target=worker.main)
    thread.start()
    here.send("ready")
    assert here.recv() == "ready"
    here.send([item.model_dump(mode="json") for item in items(4)])
    assert [Judgement.model_validate(row) for row in here.recv()] == made
    here.close()
    thread.join()


def test_a_process_that_dies_affects_one_item(
    parallel: ParallelJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process judges the rest of its share."""
    ask = parallel._ask

    def dies_at_5(share: list[Item]) -> object:
        return None if any(item.id == "5" for item in share) else ask(share)

    monkeypatch.setattr(parallel, "_ask", dies_at_5)
    judgements = parallel.judge(items(600))
    assert [j.id for j in judgements if j.reason == "worker:lost"] == ["5"]
    assert len(judgements) == 600
