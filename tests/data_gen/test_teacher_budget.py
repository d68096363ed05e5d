"""The teacher's budget: no request is sent once it is spent, and a larger one resumes the run."""

from __future__ import annotations

from data_gen.teacher import TeacherVote
from gradegpt.core.schema import Verdict
from tests.data_gen.teacher_parts import NO, YES, Ask, always
from tests.data_gen.teacher_server import Say

PRICED = {"model": "m", "input_price": 1.0, "output_price": 10.0}


def test_a_spent_budget_stops_cleanly_and_a_larger_one_resumes(ask: Ask) -> None:
    """The other items have a reason, and no reply is paid for twice; a reply costs 0.0015."""
    yes, no = Say(YES, usage=(1000, 50)), Say(NO, usage=(1000, 50))
    votes, server, teacher = ask(always(yes), items=9, models=[PRICED], budget=0.004)
    assert len(server.bodies) == 3
    assert [vote.reason for vote in votes] == ["teacher:agreed"] * 3 + ["teacher:budget"] * 6
    assert votes[-1] == TeacherVote(None, "teacher:budget")
    summary = teacher.meter.summary()
    assert summary["cost"] == summary["models"]["m"]["cost"] == 0.0045
    assert summary["stopped"].startswith("budget: 0.0045 of 0.004 is spent")
    again, server, _ = ask(always(no), items=9, models=[PRICED], budget=0.004)
    assert (again, server.bodies) == (votes, [])
    more, server, _ = ask(always(no), items=9, models=[PRICED], budget=0.006)
    assert len(server.bodies) == 1
    assert more[:3] == votes[:3]
    assert more[3].verdict is Verdict.INCORRECT
    rest, server, teacher = ask(always(no), items=9, models=[PRICED])
    assert len(server.bodies) == 5
    assert [vote.reason for vote in rest] == ["teacher:agreed"] * 9
    assert not teacher.meter.stopped
