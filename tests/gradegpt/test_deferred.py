"""A cascade's model is loaded for the first item that the rules leave undecided."""

from __future__ import annotations

import pytest

from gradegpt.core.errors import MissingError
from gradegpt.core.schema import Item, Outcome
from gradegpt.judges.base import DeferredJudge
from gradegpt.judges.build import build_judge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings

DECIDED = Item(reference=("4",), response="The answer is 4.")


def test_it_is_loaded_once_on_first_use() -> None:
    """Not when it is made, and not for later calls."""
    loads: list[int] = []

    def load() -> RuleJudge:
        loads.append(1)
        return RuleJudge()

    judge = DeferredJudge("rules", load)
    assert not loads
    assert judge.judge([DECIDED, DECIDED])[1].outcome is Outcome.JUDGED
    assert judge.fingerprint == RuleJudge().fingerprint
    assert loads == [1]


def test_a_missing_model_is_an_error_at_the_first_undecided_item() -> None:
    """Items that the rules decide need no model."""
    judge = build_judge(JudgeSettings.of(model="/not/there", adapter=None))
    assert judge.judge([DECIDED])[0].method == "rules"
    with pytest.raises(MissingError, match="/not/there"):
        judge.judge([Item(reference=("blue",), response="the sky has the colour of the sea")])
