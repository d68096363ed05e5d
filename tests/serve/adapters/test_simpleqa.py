"""SimpleQA: one family in many layouts."""

from __future__ import annotations

import pytest

from gradegpt.schema import Message
from serve.adapters import find

SHOTS = """```
Question: Who?
Gold target: Ann
Predicted answer 1: Ann.
Predicted answer 2: Bob.
```
"""
MENU = "Grade the predicted answer as one of:\nA: CORRECT\nB: INCORRECT\nC: NOT_ATTEMPTED\n"
ITEM = "Question: Where?\nGold target: Paris\nPredicted answer: In ```x``` Paris.\n"
LAYOUTS = {
    "menu after": f"{SHOTS}Here is a new example.\n```\n{ITEM}```\n{MENU}",
    "menu before": f"{SHOTS}{MENU}Here is a new example.\n```\n{ITEM}```",
    "indented": f"{SHOTS}Here is a new example.\n    ```\n    {ITEM}    ```\n{MENU}",
    "no fences, menu before": f"{MENU}Here is a new example.\n{ITEM.replace('```', '')}",
    "no fences, menu after": f"Here is a new example.\n{ITEM.replace('```', '')}{MENU}",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_new_example_is_what_is_judged(layout: str) -> None:
    """The examples before it are not judged; fences in the response belong to it."""
    ask = find([Message(role="user", content=LAYOUTS[layout])])
    assert ask.adapter.name == "simpleqa"
    item = ask.item()
    assert (item.question, item.reference) == ("Where?", ("Paris",))
    assert item.response.replace("```", "") == "In x Paris."
