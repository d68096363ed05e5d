"""The types refuse inconsistent rows."""

from __future__ import annotations

from itertools import product

import pytest
from pydantic import ValidationError

from gradegpt.core.reasons import in_words
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.tables.outputs import with_columns


@pytest.mark.parametrize(("outcome", "verdict"), [*product(Outcome, [None, *Verdict])])
def test_the_outcome_judged_and_no_other_has_a_verdict(
    outcome: Outcome, verdict: Verdict | None
) -> None:
    """A failure of the judge cannot carry a verdict, and a judgement cannot lack one."""
    values = {"id": "1", "outcome": outcome, "verdict": verdict, "method": "rules"}
    if (outcome is Outcome.JUDGED) == (verdict is not None):
        assert Judgement.model_validate(values).verdict is verdict
    else:
        with pytest.raises(ValidationError, match="a verdict requires 'judged'"):
            Judgement.model_validate(values)


@pytest.mark.parametrize(
    "reference", ["", "  ", "\n", [], ["4", ""], ["4", " \t"], None, 42, 4.2, True, {"a": "4"}, [4]]
)
def test_an_item_needs_a_reference(reference: object) -> None:
    """Empty, blank and other values than text are refused."""
    with pytest.raises(ValidationError):
        Item.model_validate({"reference": reference, "response": "4"})


def test_a_tolerance_is_a_named_policy() -> None:
    """``relative`` has a share; a number alone has no policy."""
    for named in ("exact", "relative:0.01", "relative:.5", "relative:1e-3", None):
        assert Item(reference=("4",), response="", tolerance=named).tolerance == named
    for wrong in ("", "0.01", "relative:", "relative:-1", "relative:1%", "abs:1"):
        with pytest.raises(ValidationError):
            Item(reference=("4",), response="", tolerance=wrong)


def test_a_judges_own_reason_is_said_with_its_verdict_and_else_the_code() -> None:
    """Also in a table and of any language; without a verdict it would speak for one."""
    values = {"id": "", "verdict": "correct", "method": "m", "reason": "model:chain", "why": "= 4"}
    said = Judgement.model_validate({"outcome": "judged", **values})
    assert "\nin words    = 4" in str(said)
    left = Judgement.model_validate({"outcome": "undecided", **values, "verdict": None})
    rows = with_columns([{}] * 3, [said, left, said.model_copy(update={"why": None})],
                        {"in_words": "w"}, chinese=True)  # fmt: skip
    code = in_words("model:chain", chinese=True)
    assert [row["w"] for row in rows] == ["= 4", code, code]


def test_a_judgement_is_correct_or_not_or_neither_and_has_no_truth_value() -> None:
    """``if judgement`` would take an undecided one for a correct one."""
    made = {v: Judgement(id="", outcome="judged", verdict=v, method="m") for v in Verdict}
    assert [one.correct for one in made.values()] == [True, False, False]
    undecided = Judgement(id="", outcome="undecided", method="m")
    assert undecided.correct is None
    with pytest.raises(TypeError, match=r"use \.correct"):
        bool(undecided)
