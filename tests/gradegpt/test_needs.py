"""Whether all or any of the accepted answers is needed."""

from __future__ import annotations

import pytest

from gradegpt.chains.chain import PromptSettings, build_prompt
from gradegpt.core.schema import Item
from gradegpt.judges.rules import RuleJudge


@pytest.mark.parametrize(
    ("reference", "needs", "response", "expected"),
    [
        (("4", "6"), None, "The answer is 6.", "correct"),
        (("4", "6"), "any", "The answer is 6.", "correct"),
        (("4", "6"), "all", "The answer is 6.", "incorrect"),
        (("4", "6"), "all", "The answer is 6, 4.", "correct"),
        (("x=3 or x=-3",), None, "\\boxed{x=3}", "incorrect"),
        (("x=3 or x=-3",), None, "\\boxed{\\pm 3}", "correct"),
        (("x=3 or x=-3",), "any", "\\boxed{x=-3}", "correct"),
        (("3; 5",), "any", "\\boxed{4}", "incorrect"),
        (("A", "C"), "all", "故选AC。", "correct"),
        (("A", "C"), "all", "故选A。", "incorrect"),
    ],
)
def test_needs(reference: tuple[str, ...], needs: str | None, response: str, expected: str) -> None:
    """By default several references are alternatives, and one is needed as a whole."""
    item = Item.model_validate({"reference": reference, "needs": needs, "response": response})
    judgement = RuleJudge().judge([item])[0]
    assert (judgement.verdict or judgement.outcome).value == expected, judgement


def test_the_prompt_follows_needs() -> None:
    """It has one reference where all are needed, and alternatives where any suffices."""
    shown = {
        needs: build_prompt(
            Item(reference=("4", "6"), needs=needs, response="6"), PromptSettings()
        )[1].content.count("</reference>")
        for needs in ("all", "any", None)
    }
    assert shown == {"all": 1, "any": 2, None: 2}
