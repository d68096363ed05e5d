"""The teacher's budget: it is never exceeded, and a larger one resumes the run."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.teacher import BudgetSpentError, Meter, TeacherModel, Vote
from data_gen.teacher.cache import Usage
from data_gen.teacher.client import usage_bound
from data_gen.teacher.prompt import build_messages
from gradegpt.fit import Budget
from gradegpt.schema import Verdict
from tests.data_gen.teacher_parts import NO, YES, Ask, always, item
from tests.data_gen.teacher_server import Say

BOUND = sum(usage_bound(build_messages(item(), (), "Grade.", Budget()), 100))
"""Tokens that the next request could cost, in the tests of budgets; a reply costs 450."""


def test_a_spent_budget_stops_cleanly_and_a_larger_one_resumes(ask: Ask) -> None:
    """The budget holds, the other items have a reason, and no reply is paid for twice."""
    short = {"instructions": "Grade.", "max_new_tokens": 100, "concurrency": 3}
    limit = 3 * 450 + BOUND
    yes, no = Say(YES, usage=(400, 50)), Say(NO, usage=(400, 50))
    votes, server, teacher = ask(always(yes), items=9, max_tokens_total=limit - 1, **short)
    assert len(server.bodies) == 3
    assert [vote.reason for vote in votes] == ["teacher:agreed"] * 3 + ["teacher:budget"] * 6
    assert "max_tokens_total: 1,350 of " in teacher.meter.stopped
    again, server, _ = ask(always(no), items=9, max_tokens_total=limit - 1, **short)
    assert (again, server.bodies) == (votes, [])
    more, server, teacher = ask(always(no), items=9, max_tokens_total=limit, **short)
    assert len(server.bodies) == 1
    assert more[:3] == votes[:3]
    assert more[3].verdict is Verdict.INCORRECT
    rest, server, teacher = ask(always(no), items=9, **short)
    assert len(server.bodies) == 5
    assert [vote.reason for vote in rest] == ["teacher:agreed"] * 9
    assert not teacher.meter.stopped


def test_a_budget_is_money(ask: Ask) -> None:
    """1,000 tokens at 1 per million and 50 at 10 per million cost 0.0015 per reply."""
    votes, server, teacher = ask(always(YES), items=20, budget=0.01, max_new_tokens=100)
    summary = teacher.meter.summary()
    assert 1 <= len(server.bodies) < 7
    assert summary["cost"] == pytest.approx(0.0015 * len(server.bodies))
    assert summary["cost"] <= 0.01
    assert re.match(r"budget: 0\.\d{4} of 0\.01 is spent", summary["stopped"])
    assert votes[-1] == Vote(rejected=("teacher:budget",), reason="teacher:budget")


def test_without_a_reported_usage_the_upper_bound_is_charged(ask: Ask) -> None:
    """The budget then holds for a server that does not report the usage, too."""
    _, _, teacher = ask(always(Say(YES, usage=None)), instructions="Grade.", max_new_tokens=100)
    used = teacher.meter.summary()["models"]["m"]
    assert used["prompt_tokens"] + used["completion_tokens"] == BOUND


_COSTS = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 200), st.floats(0, 1), st.booleans()),
    max_size=40,
)


@given(_COSTS, st.floats(0, 0.05), st.none() | st.integers(0, 5000))
@settings(deadline=None)
def test_no_limit_is_ever_exceeded(
    costs: list[tuple[int, int, float, bool]], budget: float, tokens: int | None
) -> None:
    """The budget holds for any costs within the bounds and lost replies; a stop is final."""
    prices = TeacherModel(model="m", input_price=3.0, output_price=11.0)
    meter = Meter([prices], budget, tokens)
    spent = Usage(0, 0)
    for prompt, completion, share, lost in costs:
        bound = Usage(prompt, completion)
        stopped = meter.stopped
        try:
            ticket = meter.reserve("m", bound)
        except BudgetSpentError:
            assert meter.stopped
            continue
        assert not stopped
        used = bound if lost else Usage(int(prompt * share), int(completion * share))
        meter.lost(ticket) if lost else meter.replied(ticket, used)
        spent = Usage(spent[0] + used[0], spent[1] + used[1])
        assert (spent[0] * 3.0 + spent[1] * 11.0) / 1e6 <= budget + 1e-12
        assert tokens is None or sum(spent) <= tokens


def test_a_request_waits_for_open_ones_before_it_is_refused() -> None:
    """Open requests may cost less than their bounds; so a refusal does not depend on threads."""
    meter = Meter([TeacherModel(model="m")], None, 100)
    first = meter.reserve("m", Usage(60, 0))
    second: list[object] = []
    thread = threading.Thread(target=lambda: second.append(meter.reserve("m", Usage(60, 0))))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    meter.replied(first, Usage(10, 0))
    thread.join(5)
    assert len(second) == 1
    assert not meter.stopped
