"""Benchmark profiles: what they share; ``rules/cases/profiles.jsonl`` has how each scores."""

from __future__ import annotations

import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome
from gradegpt.judges.profile import ProfileJudge
from gradegpt.rules.profiles import PROFILES


def judge(profile: str, reference: object, response: str, **fields: object) -> Judgement:
    item = Item.model_validate({"reference": reference, "response": response, **fields})
    return ProfileJudge(profile).judge([item])[0]


def verdict(profile: str, reference: object, response: str, **fields: object) -> str:
    judgement = judge(profile, reference, response, **fields)
    assert judgement.outcome is Outcome.JUDGED, judgement.reason
    assert judgement.tolerance
    return str(judgement.verdict)


def test_a_row_may_state_that_its_answer_is_an_estimate() -> None:
    """By the paper the problem decides which answers are "subject to estimation"."""
    near = ("olympicarena", "9.8", "\\boxed{9.81}")
    assert verdict(*near) == "incorrect"
    assert verdict(*near, tolerance="olympicarena") == "correct"
    assert judge("olympicarena", "42", "\\boxed{42}").tolerance == "exact"
    assert judge("olympicarena", "4.2\\times 10^1", "\\boxed{42}").tolerance == "olympicarena"


@pytest.mark.parametrize("needs", ["all", None])
@pytest.mark.parametrize("reference", [["9", "4", "Rayleigh"], '[9, 4, "Rayleigh"]'])
def test_a_list_of_references_is_each_of_them_in_atlas(reference: object, needs: str) -> None:
    """For other profiles they are several answers, in any order."""
    made = judge("atlas", reference, '{"answers": [9, 5, "Rayleigh"]}', needs=needs)
    assert (made.verdict, made.reason) == ("incorrect", "atlas:A,B,A")
    assert verdict("olympicarena", ["9", "4"], "\\boxed{4, 9}", needs="all") == "correct"


_LEFT_OUT = {
    "olympiadbench": ("code", "text", "single_choice", "multiple_choice", "true_false", "set"),
    "olympicarena": ("code", "text"),
    "arb": (
        "code", "text", "true_false", "set", "interval", "tuple", "multi_part", "multi_answer",
    ),
    "atlas": ("code",),
}  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", AnswerType)
def test_a_type_without_a_rule_in_the_paper_is_undecided(profile: str, kind: AnswerType) -> None:
    """It is not incorrect, for any response."""
    made = judge(profile, "B", "A", answer_type=kind)
    reason = f"{profile}:cannot-grade-{kind.value.replace('_', '-')}"
    left_out = kind.value in _LEFT_OUT[profile]
    assert (made.reason == reason) is left_out or (profile, kind) == ("atlas", AnswerType.TEXT)
    assert (made.outcome is Outcome.UNDECIDED) is (made.reason == reason)


def test_the_error_of_an_unknown_profile_lists_the_profiles() -> None:
    with pytest.raises(SettingsError, match="olympiadbench, olympicarena, arb, atlas"):
        ProfileJudge("olympics")
