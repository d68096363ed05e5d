"""The types make dishonest rows impossible."""

from __future__ import annotations

from itertools import product

import pytest
from pydantic import ValidationError

from gradegpt.schema import (
    AnswerType,
    Example,
    Item,
    Judgement,
    Message,
    Outcome,
    TrainingRow,
    Verdict,
)


@pytest.mark.parametrize(("outcome", "verdict"), [*product(Outcome, [None, *Verdict])])
def test_a_verdict_stands_beside_judged_and_nowhere_else(
    outcome: Outcome, verdict: Verdict | None
) -> None:
    """A failure of the judge cannot carry a verdict, and a judgement cannot lack one."""
    values = {"id": "1", "outcome": outcome, "verdict": verdict, "method": "rules"}
    if (outcome is Outcome.JUDGED) == (verdict is not None):
        assert Judgement.model_validate(values).verdict is verdict
    else:
        with pytest.raises(ValidationError, match="only 'judged' carries one"):
            Judgement.model_validate(values)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf")])
def test_confidence_is_a_probability(confidence: float) -> None:
    """Where there is one."""
    with pytest.raises(ValidationError):
        Judgement(id="", outcome=Outcome.FAILED, method="m", confidence=confidence)


@pytest.mark.parametrize(
    ("row", "values"),
    [
        (Item, {"reference": "4", "response": "4", "answer": "4"}),
        (Example, {"reference": "4", "response": "4", "verdict": "correct", "label": True}),
        (Judgement, {"id": "", "outcome": "failed", "method": "m", "score": 0}),
        (Message, {"role": "user", "content": "", "name": "x"}),
        (TrainingRow, {"prompt": [], "completion": [], "text": ""}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_an_unknown_field_is_refused(row: type[Item], values: dict[str, object]) -> None:
    """A misspelt column is an error and not silence."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        row.model_validate(values)


@pytest.mark.parametrize(
    "reference", ["", "  ", "\n", [], ["4", ""], ["4", " \t"], None, 42, 4.2, True, {"a": "4"}, [4]]
)
def test_without_a_reference_there_is_nothing_to_grade_against(reference: object) -> None:
    """Empty, blank, or not text: refused, and a number is asked for in quotes."""
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
    """Exact, or relative with a share."""
    assert Item(reference=("4",), response="", tolerance=tolerance).tolerance == tolerance


@pytest.mark.parametrize(
    "tolerance", ["", "0.01", "relative:", "relative:-1", "relative:1%", "abs:1"]
)
def test_another_tolerance_is_refused(tolerance: str) -> None:
    """A bare number does not say what it is relative to."""
    with pytest.raises(ValidationError):
        Item(reference=("4",), response="", tolerance=tolerance)


@pytest.mark.parametrize(("field", "value"), [("response", "5"), ("reference", ("5",))])
def test_rows_are_frozen(field: str, value: object) -> None:
    """What was judged cannot change behind the judgement."""
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Item(reference=("4",), response="4"), field, value)


def test_answer_types_have_words() -> None:
    """As they stand in a chain."""
    assert AnswerType.SINGLE_CHOICE.words == "single choice"
    assert len(AnswerType) == 13
