"""The teacher's budget: it is never exceeded, and a larger one resumes the run."""

from __future__ import annotations

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.teacher import Meter, TeacherModel, Vote, usage_bound
from data_gen.teacher.meter import BudgetSpentError, Usage
from data_gen.teacher.prompt import build_messages
from gradegpt.schema import Verdict
from tests.data_gen.teacher_parts import NO, YES, Ask, always, item
from tests.data_gen.teacher_server import Say

PRICED = {"model": "m", "input_price": 1e6, "output_price": 1e6}
"""A token costs one."""
BOUND = sum(usage_bound(build_messages(item()), 100))
"""The most that the next request could cost, in the tests of budgets; a reply costs 450."""


def test_a_spent_budget_stops_cleanly_and_a_larger_one_resumes(ask: Ask) -> None:
    """The budget holds, the other items have a reason, and no reply is paid for twice."""
    short = {"models": [PRICED], "max_new_tokens": 100, "concurrency": 3}
    limit = 3 * 450 + BOUND
    yes, no = Say(YES, usage=(400, 50)), Say(NO, usage=(400, 50))
    votes, server, teacher = ask(always(yes), items=9, budget=limit - 1, **short)
    assert len(server.bodies) == 3
    assert [vote.reason for vote in votes] == ["teacher:agreed"] * 3 + ["teacher:budget"] * 6
    assert votes[-1] == Vote(rejected=("teacher:budget",), reason="teacher:budget")
    assert "budget: 1350.0000 of " in teacher.meter.stopped
    again, server, _ = ask(always(no), items=9, budget=limit - 1, **short)
    assert (again, server.bodies) == (votes, [])
    more, server, teacher = ask(always(no), items=9, budget=limit, **short)
    assert len(server.bodies) == 1
    assert more[:3] == votes[:3]
    assert more[3].verdict is Verdict.INCORRECT
    rest, server, teacher = ask(always(no), items=9, **short)
    assert len(server.bodies) == 5
    assert [vote.reason for vote in rest] == ["teacher:agreed"] * 9
    assert not teacher.meter.stopped


def test_without_a_reported_usage_the_upper_bound_is_charged(ask: Ask) -> None:
    """The budget then holds for a server that does not report the usage, too."""
    _, _, teacher = ask(always(Say(YES, usage=None)), max_new_tokens=100)
    used = teacher.meter.summary()["models"]["m"]
    assert used["prompt_tokens"] + used["completion_tokens"] == BOUND


_COSTS = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 200), st.floats(0, 1), st.booleans()),
    max_size=40,
)


@given(_COSTS, st.floats(0, 0.05))
@settings(deadline=None)
def test_the_budget_is_never_exceeded(
    costs: list[tuple[int, int, float, bool]], budget: float
) -> None:
    """It holds for any costs within the bounds and for lost replies; a stop is final."""
    meter = Meter([TeacherModel(model="m", input_price=3.0, output_price=11.0)], budget)
    spent = 0.0
    for prompt, completion, share, lost in costs:
        bound, stopped = Usage(prompt, completion), meter.stopped
        try:
            meter.reserve("m", bound)
        except BudgetSpentError:
            assert meter.stopped
            continue
        assert not stopped
        used = bound if lost else Usage(int(prompt * share), int(completion * share))
        meter.settle("m", bound, None if lost else used, lost=lost)
        spent += (used[0] * 3.0 + used[1] * 11.0) / 1e6
        assert spent <= budget + 1e-12


def test_a_request_waits_for_open_ones_before_it_is_refused() -> None:
    """Open requests may cost less than their bounds; so a refusal does not depend on threads."""
    meter = Meter([TeacherModel.model_validate(PRICED)], 100)
    meter.reserve("m", Usage(60, 0))
    thread = threading.Thread(target=lambda: meter.reserve("m", Usage(61, 0)))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    meter.settle("m", Usage(60, 0), Usage(10, 0))
    thread.join(5)
    assert not thread.is_alive()
    assert not meter.stopped
