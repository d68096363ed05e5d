"""The rules over several processes: the same judgements, and a lost process affects one item."""

from __future__ import annotations

import pytest

from gradegpt.judges.parallel import ParallelJudge, judge_many
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.schema import Item


def items(count: int) -> list[Item]:
    return [Item(id=str(n), reference=(f"{n}/7",), response=f"It is {2 * n}/14.")
            for n in range(count)]  # fmt: skip


@pytest.mark.parametrize("judge", [RuleJudge(), ProfileJudge("arb")])
def test_processes_change_no_judgement(judge: RuleJudge | ProfileJudge) -> None:
    """They are in order and equal to those of one process."""
    many = items(600)
    parallel = ParallelJudge(judge, processes=2)
    assert parallel.judge(many) == judge.judge(many)
    assert parallel.fingerprint == judge.fingerprint


def test_judge_many_is_the_rule_judge() -> None:
    """For few items and for many."""
    for count in (3, 600):
        assert judge_many(items(count)) == RuleJudge().judge(items(count))


def test_a_process_that_dies_affects_one_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process judges the rest of its share."""
    parallel = ParallelJudge(RuleJudge(), processes=2)
    ask = parallel._ask

    def dies_at_5(share: list[Item]) -> object:
        return None if any(item.id == "5" for item in share) else ask(share)

    monkeypatch.setattr(parallel, "_ask", dies_at_5)
    judgements = parallel.judge(items(600))
    assert [j.id for j in judgements if j.reason == "worker:lost"] == ["5"]
    assert len(judgements) == 600
