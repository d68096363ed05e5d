"""Benchmark profiles: each scores as its paper does, and leaves other types undecided."""

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


# --- OlympiadBench, Algorithm 1 -------------------------------------------------------------------


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
        ("8000", "\\boxed{8,000}", "correct"),  # one number, not two
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


# --- OlympicArena, appendix C.5 -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reference", "response", "expected"),
    [
        ("number", "3.2\\times 10^5", "\\boxed{3.25\\times 10^5 \\text{ J}}", "correct"),
        ("number", "3.2\\times 10^5", "\\boxed{325000}", "correct"),  # both are converted
        ("number", "3.2e5", "\\boxed{3.25e5}", "correct"),
        ("number", "3.2\\times 10^5", "\\boxed{3.35\\times 10^5}", "incorrect"),
        ("number", "3.2\\times 10^5", "\\boxed{3.25\\times 10^6}", "incorrect"),
        ("number", "3.2\\times 10^5", "The answer is 320000", "incorrect"),  # boxes alone count
        ("number", "42", "\\boxed{43}", "incorrect"),  # 4.2 and 4.3, but no estimate
        ("number", "42", "\\boxed{4.3\\times 10^1}", "incorrect"),  # nor by the response's choice
        ("number", "9.8", "\\boxed{9.81}", "incorrect"),
        ("number", "0.5", "\\boxed{\\frac{1}{2}}", "correct"),
        ("number", "5 m", "\\boxed{5}", "correct"),
        ("number", "160 N", "\\boxed{1.6e2 N}", "correct"),
        ("number", "12 m/s", "\\boxed{12\\,\\mathrm{m/s}}", "correct"),
        ("number", "12 m/s", "\\boxed{43.2 km/h}", "correct"),
        ("number", "12 m/s", "\\boxed{12 km/h}", "incorrect"),  # its unit has no field of its own
        ("set", "{1,2}", "\\boxed{\\{2,1\\}}", "correct"),
        ("set", "{10,20}", "\\boxed{\\{10,20.5\\}}", "incorrect"),
        ("set", "{2.0\\times 10^5}", "\\boxed{\\{2.05\\times 10^5\\}}", "incorrect"),
        ("tuple", "(10,20)", "\\boxed{(10,20)}", "correct"),
        ("tuple", "(10,20)", "\\boxed{(20,10)}", "incorrect"),
        ("tuple", "(10,20)", "\\boxed{(10,20.5)}", "incorrect"),
        ("interval", "[1,2)", "\\boxed{[1,2]}", "incorrect"),
        ("multi_part", "(1) 9; (2) 4", "\\boxed{9, 4}", "correct"),
        ("multi_part", "(1) 9; (2) 4", "\\boxed{4, 9}", "incorrect"),
        ("multi_part", "2.0\\times 10^5; 30", "\\boxed{2.05\\times 10^5; 30}", "correct"),
        ("multi_part", "2.0\\times 10^5; 30", "\\boxed{2.05\\times 10^5; 30.5}", "incorrect"),
        ("multi_answer", "3 or -3", "\\boxed{-3, 3}", "correct"),
        ("multi_answer", "3 or -3", "\\boxed{3}", "incorrect"),
        ("equation", "x^2+y^2=4", "\\boxed{2x^2+2y^2=8}", "correct"),
        ("equation", "y=2x+1", "\\boxed{x=(y−1)/2}", "correct"),
        ("equation", "y=2x+1", "\\boxed{x=2y+1}", "incorrect"),
        ("single_choice", "B", "\\boxed{B}", "correct"),
        ("true_false", "True", "\\boxed{False}", "incorrect"),
    ],
)
def test_olympicarena_matches_the_box_by_type(
    kind: str, reference: str, response: str, expected: str
) -> None:
    assert verdict("olympicarena", reference, response, answer_type=AnswerType(kind)) == expected


def test_a_row_may_state_that_its_answer_is_an_estimate() -> None:
    """By the paper the problem decides which answers are "subject to estimation"."""
    near = ("olympicarena", "9.8", "\\boxed{9.81}")
    assert verdict(*near) == "incorrect"
    assert verdict(*near, tolerance="olympicarena") == "correct"
    assert judge("olympicarena", "42", "\\boxed{42}").tolerance == "exact"
    assert judge("olympicarena", "4.2\\times 10^1", "\\boxed{42}").tolerance == "olympicarena"


# --- ARB, sections 4 and 6 ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reference", "response", "expected"),
    [
        ("number", "50.0 J", "ANSWER: 50.4 N", "correct"),  # without units, within 1 %
        ("number", "50.0 J", "ANSWER: 51.0 J", "incorrect"),
        ("number", "2.4", "**ANSWER:** 2.4.", "correct"),
        ("number", "2.4", "ANSWER:\n\\[\n2.4\n\\]\n", "correct"),
        ("number", "2.4", "I first had ANSWER: 3. That is wrong.\nANSWER: 2.4", "correct"),
        ("number", "2.4", "The answer is 2.4", "incorrect"),
        ("number", "2.4", "Answer: 2.4", "incorrect"),  # the delimiter is in capitals
        ("number", "2.4", "The answer is 2.4\nANSWER:", "incorrect"),
        ("single_choice", "B", "B is right.\nANSWER: B", "correct"),
        ("single_choice", "B", "ANSWER: (B) 5 m/s\nC and D are too large.", "correct"),
        ("single_choice", "B", "ANSWER: A", "incorrect"),
        ("expression", "x*y", "ANSWER: $y * x$", "correct"),
        ("expression", "x*y", "ANSWER: $y + x$", "incorrect"),
        ("expression", "\\ln(b/a)", "ANSWER: $\\ln b - \\ln a$", "correct"),
        ("expression", "\\ln(b/a)", "ANSWER: $\\ln a - \\ln b$", "incorrect"),
    ],
)
def test_arb_reads_the_text_after_its_delimiter(
    kind: str, reference: str, response: str, expected: str
) -> None:
    assert verdict("arb", reference, response, answer_type=kind) == expected


def test_arb_leaves_undecided_what_algebra_cannot_check() -> None:
    """Section 6: "not all symbolic answers can be checked in this way"."""
    fields = {"answer_type": "expression"}
    made = judge("arb", "\\int_0^1 f(x) dx", "ANSWER: $\\sum_k a_k$", **fields)
    assert made.outcome is Outcome.UNDECIDED
    assert made.reason == "arb:cannot-check-symbolic"


# --- ATLAS, prompt E.2 ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "expected", "label"),
    [
        ("The answer is 170 N", "correct", "A"),  # within a relative 0.1
        ("The answer is 1.6\\times 10^{2} N", "correct", "A"),
        ('{"answers": ["1.6e2 N"]}', "correct", "A"),
        ("The answer is 0.1594 kN", "correct", "A"),
        ("The answer is 159.4 kN", "incorrect", "B"),
        ("The answer is 180 N", "incorrect", "B"),
        ("I cannot answer this question.", "invalid", "C"),
        ('{"answers": ["I cannot answer this question."]}', "invalid", "C"),
        ("", "invalid", "C"),
        ("The force follows from the", "invalid", "C"),
        ("so " * 60, "invalid", "C"),
        ("It may be 159.4 N or 2 N; I cannot decide which.", "incorrect", "B"),
    ],
    ids=[
        "near",
        "case-5.4",
        "power-of-ten",
        "converted",
        "another-unit",
        "far",
        "refusal",
        "in-json",
        "empty",
        "cut-off",
        "loop",
        "left-open",
    ],
)
def test_atlas_checks_validity_first_and_allows_a_tenth(
    response: str, expected: str, label: str
) -> None:
    made = judge("atlas", "159.4 N", response, answer_type="number")
    assert made.verdict == expected
    assert made.reason.startswith(f"atlas:{label}:")


@pytest.mark.parametrize(
    ("reference", "response", "labels", "expected"),
    [
        ('["9","4"]', '```json\n{"answers": ["9", "4"]}\n```', "A,A", "correct"),
        ('["9","4"]', '["4","9"]', "B,B", "incorrect"),
        ('["9","4"]', "['9', '5']", "A,B", "incorrect"),
        ('["9","4"]', "[9, 4]", "A,A", "correct"),
        ('["9","4"]', '{"answers": ["9"]}', "A,B", "incorrect"),
        ('["9","4"]', '{"answers": ["9", "4", "1"]}', "B,B", "incorrect"),
        ('["9","4"]', '{"answers": ["9", "I cannot answer this."]}', "A,C", "incorrect"),
        ('["9","4"]', '{"answers": ["9", ""]}', "A,C", "incorrect"),
        ('["9","4"]', '```json\n{"answers": ["9", "4', "C,C", "invalid"),
        ('["9","4"]', '["9", "4', "C,C", "invalid"),
        ('["9","4"]', "I cannot answer this question.", "C,C", "invalid"),
        ('["9","4"]', '["I cannot answer this.", "I cannot answer this."]', "C,C", "invalid"),
        ('["9","4"]', "", "C,C", "invalid"),
        ('["9","4"]', "(1) The first is 9.\n(2) The second is 4.", "A,A", "correct"),
        ("['9', '\\\\frac{1}{2}']", '{"answers": ["9", "1/2"]}', "A,A", "correct"),
        ('["B","C"]', '{"answers": ["B", "D"]}', "A,B", "incorrect"),
        ('["true","10"]', '{"answers": ["false", "10.5"]}', "B,A", "incorrect"),
        ("(1) 9; (2) 4", "The answer is (1) 9, (2) 4", "A,A", "correct"),
        ("(1) rises; (2) Paris", "(1) rises; (2) Paris", "A,A", "correct"),
        ("(1) rises; (2) Paris", "(1) falls; (2) Paris", "B,A", "incorrect"),
        ('["9","4"]', "(1) Add 3 and 6.\n(2) Take 5 away.\nThe answer is 9, 4.", "A,A", "correct"),
        ("(1) 9; (2) 4", "The answer is (1) 4, (2) 9", "B,B", "incorrect"),
        ("B\nC\nC\nD", "B\nC\nC\nA", "A,A,A,B", "incorrect"),
    ],
)
def test_atlas_judges_each_sub_answer_in_its_place(
    reference: str, response: str, labels: str, expected: str
) -> None:
    made = judge("atlas", reference, response)
    assert made.verdict == expected
    assert made.reason.split(":")[1] == labels


@pytest.mark.parametrize("needs", ["all", None])
@pytest.mark.parametrize("reference", [["9", "4", "Rayleigh"], '[9, 4, "Rayleigh"]'])
def test_a_list_of_references_is_each_of_them_in_atlas(reference: object, needs: str) -> None:
    """For other profiles they are several answers, in any order."""
    made = judge("atlas", reference, '{"answers": [9, 5, "Rayleigh"]}', needs=needs)
    assert (made.verdict, made.reason) == ("incorrect", "atlas:A,B,A")
    assert verdict("olympicarena", ["9", "4"], "\\boxed{4, 9}", needs="all") == "correct"


def test_alternatives_and_both_roots_are_one_sub_answer() -> None:
    made = judge("atlas", ["9", "nine"], "The answer is 9", needs="any")
    assert made.reason.startswith("atlas:A:")
    made = judge("atlas", "x=3 or x=-3", "The answer is x=-3 or x=3")
    assert made.reason.startswith("atlas:A:")


def test_an_interval_is_not_a_list_of_sub_answers() -> None:
    made = judge("atlas", "[8,12]", "The answer is [8,12]", answer_type="interval")
    assert made.reason.startswith("atlas:A:")


# --- all of them ----------------------------------------------------------------------------------

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
@pytest.mark.parametrize(("kind", "reference", "response"), [*_LEFT_OPEN, *_QUOTES])
def test_an_answer_left_open_or_merely_quoted_is_not_correct(
    profile: str, kind: str, reference: str, response: str
) -> None:
    """Nor is it after the delimiter of ARB."""
    for text in (response, f"ANSWER: {response}"):
        assert judge(profile, reference, text, answer_type=kind).verdict != "correct"


@pytest.mark.parametrize(
    ("kind", "reference", "response"),
    [
        ("number", "7", "At first I was not sure. The answer is 7."),
        ("number", "7", "It could be 5 or 7. Only one fits, so the answer is 7."),
        ("number", "7", "【参考答案】7"),
        ("single_choice", "D", "The answer is (D) either R or S."),
        ("single_choice", "B", "It is either A or B. The answer is B."),
        ("multi_answer", "3 or -3", "The answer is x = 3 or x = -3"),
        ("interval", "x<1 or x>3", "The answer is x<1 or x>3"),
    ],
)
def test_a_choice_after_doubt_is_an_answer(kind: str, reference: str, response: str) -> None:
    assert verdict("atlas", reference, response, answer_type=kind) == "correct"


_LEFT_OUT = {
    "olympiadbench": ("code", "text", "single_choice", "multiple_choice", "true_false", "set"),
    "olympicarena": ("code", "text"),
    "arb": (
        *("code", "text", "true_false", "set", "interval", "tuple"),
        *("multi_part", "multi_answer"),
    ),
    "atlas": ("code",),
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", AnswerType)
def test_a_type_without_a_rule_in_the_paper_is_undecided(profile: str, kind: AnswerType) -> None:
    """It is not incorrect, for any response."""
    made = judge(profile, "B", "A", answer_type=kind)
    reason = f"{profile}:cannot-grade-{kind.value.replace('_', '-')}"
    left_out = kind.value in _LEFT_OUT[profile]
    assert (made.reason == reason) is left_out or (profile, kind) == ("atlas", AnswerType.TEXT)
    assert (made.outcome is Outcome.UNDECIDED) is (made.reason == reason)


def test_atlas_leaves_texts_undecided_that_rules_cannot_grade() -> None:
    """Its own judge is a model; texts that the rules can decide are graded."""
    fields = {"answer_type": "text"}
    assert verdict("atlas", "the increase", "The answer is the increase.", **fields) == "correct"
    made = judge("atlas", "the increase", "The answer is growth.", **fields)
    assert (made.outcome, made.reason) == (Outcome.UNDECIDED, "atlas:cannot-grade-text")
    made = judge("atlas", '["7", "the moon of Jupiter"]', '["7", "Io"]')
    assert (made.outcome, made.reason) == (Outcome.UNDECIDED, "atlas:A,?:cannot-grade-text")
    made = judge("atlas", '["7", "the moon of Jupiter"]', '["8", "Io"]')
    assert (made.verdict, made.reason) == ("incorrect", "atlas:B,?")


def test_with_an_ungraded_reference_a_mismatch_is_undecided() -> None:
    """The ungraded reference might have matched."""
    made = judge("atlas", ["the moon of Jupiter", "1610"], "The answer is Io.", needs="any")
    assert made.outcome is Outcome.UNDECIDED
    either = ["the moon of Jupiter", "Io"]
    assert verdict("atlas", either, "The answer is Io.", needs="any") == "correct"


def test_the_error_of_an_unknown_profile_lists_the_profiles() -> None:
    with pytest.raises(SettingsError, match="olympiadbench, olympicarena, arb, atlas"):
        ProfileJudge("olympics")
