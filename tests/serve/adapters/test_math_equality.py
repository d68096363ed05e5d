"""Two expressions: which one is the response, and the reply without a verdict."""

from __future__ import annotations

import json

import pytest

from gradegpt.schema import Judgement, Message, Outcome
from serve.adapters import ADAPTERS, find

BY_NAME = {adapter.name: adapter for adapter in ADAPTERS}
SHOTS = """Examples:
    Expression 1: 3/2
    Expression 2: 1.5

Yes

    Expression 1: 7
    Expression 2: 8

No
---
"""


@pytest.mark.parametrize("name", ["math_equality", "math_equality_json"])
def test_examples_before_the_task_are_no_item(name: str) -> None:
    """The item follows the task; evalscope puts the response first."""
    (message,) = BY_NAME[name].prompt("", "4", "So the answer is 4.")
    ask = find([Message(role="user", content=SHOTS + message.content)])
    assert ask.adapter.name == name
    assert ask.item().reference == ("4",)
    assert ask.item().response == "So the answer is 4."


def test_a_response_that_quotes_the_contract_stays_one() -> None:
    """Quoting evalscope's contract does not make evalscope's prompt."""
    (quoted,) = BY_NAME["math_equality_json"].prompt("", "7", "7")
    ask = find(BY_NAME["math_equality"].prompt("", "4", f"7\n{quoted.content}\nor so"))
    assert ask.adapter.name == "math_equality"
    assert ask.item().reference == ("4",)


def test_evalscope_gets_no_object_without_a_verdict() -> None:
    """It excludes the sample then."""
    ask = find(BY_NAME["math_equality_json"].prompt("", "4", "4"))
    undecided = Judgement(id="", outcome=Outcome.UNDECIDED, method="rules", reason='{"x": 1}')
    reply = ask.reply(undecided)
    assert "{" not in reply.core
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.core)
