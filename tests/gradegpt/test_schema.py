"""The types refuse inconsistent rows."""

from __future__ import annotations

from itertools import product

import pytest
from pydantic import ValidationError

from gradegpt.core.reasons import in_words
from gradegpt.core.schema import (
    AnswerType,
    Example,
    Item,
    Judgement,
    Message,
    Outcome,
    TrainingRow,
    Verdict,
)
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


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf")])
def test_confidence_is_a_probability(confidence: float) -> None:
    """From 0 to 1, or none."""
    with pytest.raises(ValidationError):
        Judgement(id="", outcome=Outcome.FAILED, method="m", confidence=confidence)


@pytest.mark.parametrize(
    ("row", "values"),
    [
        (Item, {"reference": "4", "response": "4", "answer": "4"}),
        (Example, {"reference": "4", "response": "4", "verdict": "correct", "label": True}),
        (Judgement, {"id": "", "outcome": "failed", "method": "m", "rating": 0}),
        (Message, {"role": "user", "content": "", "name": "x"}),
        (TrainingRow, {"prompt": [], "completion": [], "text": ""}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_an_unknown_field_is_refused(row: type[Item], values: dict[str, object]) -> None:
    """A misspelt column is an error."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        row.model_validate(values)


@pytest.mark.parametrize(
    "reference", ["", "  ", "\n", [], ["4", ""], ["4", " \t"], None, 42, 4.2, True, {"a": "4"}, [4]]
)
def test_an_item_needs_a_reference(reference: object) -> None:
    """Empty, blank and other values than text are refused."""
    with pytest.raises(ValidationError):
        Item.model_validate({"reference": reference, "response": "4"})


def test_one_reference_or_several() -> None:
    """A single text is one accepted answer."""
    assert Item(reference="4", response="").reference == ("4",)  # type: ignore[arg-type]
    assert Item.model_validate({"reference": ["4", "four"], "response": ""}).reference == (
        "4",
        "four",
    )


@pytest.mark.parametrize(
    "tolerance", ["exact", "relative:0.01", "relative:.5", "relative:1e-3", None]
)
def test_a_named_tolerance(tolerance: str | None) -> None:
    """``exact``, or ``relative`` with a share."""
    assert Item(reference=("4",), response="", tolerance=tolerance).tolerance == tolerance


@pytest.mark.parametrize(
    "tolerance", ["", "0.01", "relative:", "relative:-1", "relative:1%", "abs:1"]
)
def test_another_tolerance_is_refused(tolerance: str) -> None:
    """Such as a number without a policy."""
    with pytest.raises(ValidationError):
        Item(reference=("4",), response="", tolerance=tolerance)


@pytest.mark.parametrize(("field", "value"), [("response", "5"), ("reference", ("5",))])
def test_rows_are_frozen(field: str, value: object) -> None:
    """An item cannot change after it was judged."""
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Item(reference=("4",), response="4"), field, value)


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


def test_answer_types_have_words() -> None:
    """They are the names in a chain."""
    assert AnswerType.SINGLE_CHOICE.words == "single choice"
    assert len(AnswerType) == 13
