"""Benchmark profiles: each decides as its paper says, and leaves nothing open."""

from __future__ import annotations

import pytest

from gradegpt.errors import SettingsError
from gradegpt.judges.profile import ProfileJudge
from gradegpt.schema import AnswerType, Item, Outcome


def verdict(profile: str, reference: str, response: str, **fields: object) -> str:
    item = Item.model_validate({"reference": reference, "response": response, **fields})
    judgement = ProfileJudge(profile).judge([item])[0]
    assert judgement.outcome is Outcome.JUDGED
    assert judgement.tolerance
    return str(judgement.verdict)


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("$\\frac{1}{2}$", "So the final answer is $\\boxed{0.5}$.", "correct"),
        ("0.333333333", "\\boxed{\\frac{1}{3}}", "correct"),  # within 1e-8
        ("0.3333", "\\boxed{\\frac{1}{3}}", "incorrect"),  # auto would round; Algorithm 1 does not
        ("(1,2)", "\\boxed{(1, 2)}", "correct"),
        ("(1,2)", "\\boxed{(2, 1)}", "incorrect"),
        ("[1,2]", "\\boxed{[1,2)}", "incorrect"),
        ("x^2+y^2=4", "\\boxed{2x^2+2y^2-8=0}", "correct"),
        ("x^2+y^2=4", "\\boxed{x^2+y^2=5}", "incorrect"),
        ("2x+2", "\\boxed{2(x+1)}", "correct"),
        ("2, 3", "\\boxed{3, 2}", "correct"),
        ("\\pm 2", "\\boxed{2,-2}", "correct"),
        ("2, 3", "\\boxed{2}", "incorrect"),
        ("x=3", "所以最终答案是 3。", "correct"),
        ("3", "It is probably 3", "incorrect"),  # no box, nothing announced
    ],
)
def test_olympiadbench_follows_algorithm_1(reference: str, response: str, expected: str) -> None:
    assert verdict("olympiadbench", reference, response) == expected


def test_olympiadbench_takes_the_error_of_the_row() -> None:
    assert verdict("olympiadbench", "9.8", "\\boxed{9.81}") == "incorrect"
    assert verdict("olympiadbench", "9.8", "\\boxed{9.81}", tolerance="olympiadbench:0.1") == (
        "correct"
    )


@pytest.mark.parametrize(
    ("reference", "response", "kind", "expected"),
    [
        ("3.2\\times 10^5", "\\boxed{3.25\\times 10^5 \\text{ J}}", "number", "correct"),
        ("3.2\\times 10^5", "\\boxed{3.25\\times 10^6}", "number", "incorrect"),
        ("3.2\\times 10^5", "The answer is 320000", "number", "incorrect"),  # boxes alone count
        ("{1,2}", "\\boxed{\\{2,1\\}}", "set", "correct"),
        ("B", "\\boxed{B}", "single_choice", "correct"),
    ],
)
def test_olympicarena_matches_the_box_by_type(
    reference: str, response: str, kind: str, expected: str
) -> None:
    assert verdict("olympicarena", reference, response, answer_type=AnswerType(kind)) == expected


def test_arb_drops_units_and_allows_one_percent() -> None:
    assert verdict("arb", "50.0 J", "ANSWER: 50.4 N", answer_type="number") == "correct"
    assert verdict("arb", "50.0 J", "ANSWER: 51.0 J", answer_type="number") == "incorrect"


def test_atlas_rejects_first_and_allows_a_tenth() -> None:
    assert verdict("atlas", "159.4 N", "The answer is 170 N", answer_type="number") == "correct"
    assert verdict("atlas", "159.4 N", "The answer is 180 N", answer_type="number") == "incorrect"
    assert verdict("atlas", "159.4 N", "I cannot answer this question.") == "invalid"


def test_an_unknown_profile_names_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="olympiadbench, olympicarena, arb, atlas"):
        ProfileJudge("olympics")
