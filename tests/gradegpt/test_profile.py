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


_LEFT_OPEN = [
    ("single_choice", "B", "It is A or B"),
    ("single_choice", "B", "The answer is B, or maybe C"),
    ("single_choice", "B", "可能是A，也可能是B"),
    ("single_choice", "B", "I hesitate between A and B and leave it open."),
    ("number", "7", "It is 5 or 7"),
    ("number", "7", "It could be 5 or it could be 7"),
    ("number", "7", "The final answer is 7 or 8"),
    ("number", "7", "\\boxed{5} or \\boxed{7}"),
    ("number", "7", "可能是5，也可能是7，我无法确定是哪一个。"),
    ("expression", "x+1", "It is $x-1$ or $x+1$"),
    ("expression", "x+1", "\\boxed{x-1}或\\boxed{x+1}"),
    ("true_false", "true", "It is false or true"),
    ("tuple", "(1,2)", "在(2,1)和(1,2)之间犹豫，不能作出选择。"),
    ("set", "{1,2}", "Either {1,2} or {1,3} seems plausible, and I will not choose."),
    ("multi_answer", "2, 3", "It could be 2, 4 or it could be 2, 3"),
]
_QUOTES = [
    ("single_choice", "B", "The reference answer is B; I would need more time."),
    ("single_choice", "B", "题目的参考答案是B，不过我自己没有算出结果。"),
    ("number", "7", "The reference answer is 7; it looks fine."),
    ("number", "7", "The reference answer is \\boxed{7}."),
    ("number", "7", "Some say that it is 7; I cannot tell whether that is right."),
    ("number", "7", "The answer key says 7."),
    ("number", "7", "标准答案是7。"),
    ("expression", "x+1", "I can see that the key says $x+1$, so I leave this open."),
    ("true_false", "true", "The reference answer is true."),
    ("text", "Paris", "The reference answer is Paris."),
]


@pytest.mark.parametrize("profile", PROFILES)
def test_an_answer_left_open_or_merely_quoted_is_not_correct(profile: str) -> None:
    """Nor is it after the delimiter of ARB."""
    for kind, reference, response in (*_LEFT_OPEN, *_QUOTES):
        for text in (response, f"ANSWER: {response}"):
            made = judge(profile, reference, text, answer_type=kind)
            assert made.verdict != "correct", text


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
