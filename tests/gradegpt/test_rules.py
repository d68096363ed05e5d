"""The rule judge: spellings, the fields of a judgement, and properties; see also the case table."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gradegpt.answers.options import letters, options
from gradegpt.answers.quantity import number
from gradegpt.answers.read import answer_type
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome
from gradegpt.judges.rules import RuleJudge
from gradegpt.rules.claims import find_answer
from gradegpt.rules.reference import reference_answer

ZH = "下列各数中最小的是（ ）\nA. 0\nB. -3\nC. 2\nD. -1"
EN = "Which is the smallest?\n(A) 0\n(B) -3\n(C) 2\n(D) -1"
WORKED_EN = "Each pen costs 3 dollars and there are seven of them.\nSo 3*7=21.\n#### 21"


def judge(reference: str, response: str, question: str = "") -> Judgement:
    item = Item(question=question, reference=reference, response=response)
    return RuleJudge().judge([item])[0]


def verdict(reference: str, response: str, question: str = "") -> str:
    """The verdict, or ``undecided``."""
    judgement = judge(reference, response, question)
    return (judgement.verdict or judgement.outcome).value


# --- option letters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    ["b", "（B）", "B.", "B：", "B、", "Ｂ", "**B**", "$\\text{B}$", "选B", "B项", "Option B",
     "Choice_B", "(B) -3", "B：-3", "\\boxed{\\text{(B)}}", "故选：B．", "应选（B）", "因此选择B项",
     "答案是B", "【答案】 B\n【解析】略", "正确答案是：**B**。", "本题正确选项是 B", "所以选B<eoa>",
     "综上所述，答案为 $\\boxed{B}$。", "A、B、C、D中，故选B", "ANSWER: B", "The answer is (B).",
     "The correct option is B.", "The answer is option B: -3", "Solution: Choice_B",
     "Step 1: think. <STEP1>\nThe answer is B <STEP2>", "<answer>\n B \n</answer>", "#### B",
     "-3", "The answer is -3.", "答案是 -3"],
)  # fmt: skip
@pytest.mark.parametrize("question", [ZH, EN], ids=["zh", "en"])
def test_an_option_in_any_spelling_is_the_option(response: str, question: str) -> None:
    """A letter alone, bracketed, boxed or announced, or the text of the option, is read."""
    assert verdict("B", response, question) == "correct"
    assert verdict("(B)", response, question) == "correct"
    assert verdict("C", response, question) == "incorrect"


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    ["18.", "+18", "=18", "１８", "\\(18\\)", "`18`", "\\$18", "￥18", "18元", "18 cm", "36/2",
     "\\frac{36}{2}", "1.8e1", "1.8 \\times 10^{1}", "\\boxed{18\\text{ cm}}", "A: 18", "#### 18",
     "The answer is $18.00.", "答案是18元。", "【答案】18", "The final answer is $\\boxed{18}$.",
     "Answer: 18\n\nConfidence: 90%", "The answer is 18 cookies. The cost is 5 dollars."],
)  # fmt: skip
def test_a_number_in_any_spelling_is_the_number(response: str) -> None:
    """Numbers are read exactly, with any text around them."""
    assert verdict("18", response) == "correct"
    assert verdict("18.0", response) == "correct"
    assert verdict("19", response) == "incorrect"


@pytest.mark.parametrize(
    "response", ["", " ", "\n\t", "...", "。。。", "???", "——", "\u200b", "\x00", "**"]
)
def test_a_response_without_a_word_is_invalid(response: str) -> None:
    """Spaces and punctuation alone are not gradable."""
    judgement = judge("42", response)
    assert (judgement.verdict, judgement.reason) == ("invalid", "response:empty")
    assert judgement.key_sentence is None
    assert judgement.chain is not None
    assert judgement.chain.startswith("The model response gives no answer that can be graded.")


# --- fields of a judgement ------------------------------------------------------------------------


def test_a_decided_judgement_has_its_evidence() -> None:
    """It has the verbatim key sentence, answer, type, chain and a machine-readable reason."""
    response = "先比较负数。\n综上所述，本题的正确答案是 B。谢谢。"
    judgement = judge("B", response, ZH)
    assert judgement.key_sentence == "综上所述，本题的正确答案是 B。"
    assert (judgement.answer, judgement.answer_type) == ("B", AnswerType.SINGLE_CHOICE)
    assert judgement.method == "rules"
    assert judgement.confidence is not None
    assert judgement.reason == "choice:same-options"
    assert judgement.chain == (
        "The model response gives its answer here: 综上所述，本题的正确答案是 B。\n"
        "The reference answer B is a single choice; the model response gives B.\n"
        "The answers agree: <Yes>"
    )


def test_an_undecided_judgement_has_a_reason_and_no_verdict() -> None:
    """It reports the answer that was found, for the next judge."""
    judgement = judge("the water cycle", "The answer is evaporation.")
    assert judgement.outcome is Outcome.UNDECIDED
    assert (judgement.verdict, judgement.chain, judgement.confidence) == (None, None, None)
    assert (judgement.reason, judgement.answer) == ("text:not-shown", "evaporation")


def test_a_stated_type_takes_precedence() -> None:
    """A letter of the type text is not an option."""
    item = Item(reference=("A",), response="The answer is A.", answer_type=AnswerType.TEXT)
    assert RuleJudge().judge([item])[0].answer_type is AnswerType.TEXT


# --- properties -----------------------------------------------------------------------------------

_SIGNS = "ABCD 选项答案是故或and.,:;()（）[]{}\\$%*_#<>/|^0123456789xπ√=+-−\n\t\x00½²"
HOSTILE = st.one_of(
    st.text(max_size=80),
    st.text(_SIGNS, max_size=80),
    st.lists(
        st.sampled_from(["\\boxed{", "}", "\\frac{", "答案是", "The answer is ", "故选", "A", "12",
        "####", "<answer>"]),
        max_size=12,
    ).map("".join),
)  # fmt: skip


def spellings(value: int) -> list[str]:
    return [
        str(value), f"{value:,}", f"{value}.0", f"{value}.00", f"\\boxed{{{value}}}",
        f"$\\boxed{{{value:,}}}$",
        f"The answer is {value}.", f"The answer is {value:,}.00.", f"答案：{value}",
        f"#### {value:,}", f"${value}$",
    ]  # fmt: skip


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.data())
@settings(max_examples=40)
def test_two_unequal_integers_are_never_correct(a: int, b: int, data: st.DataObject) -> None:
    """The spelling of either number does not matter."""
    assume(a != b)
    reference = data.draw(st.sampled_from([str(a), f"{a:,}", f"{a}.0", f"${a}$"]))
    for response in spellings(b):
        assert verdict(reference, response) == "incorrect"


@given(st.integers(-(10**12), 10**12))
@settings(max_examples=40)
def test_a_number_written_another_way_is_correct(value: int) -> None:
    """Separators, trailing zeros and boxes do not change a value."""
    for response in spellings(value):
        assert verdict(str(value), response) == "correct"
        assert verdict(f"{value:,}", response) == "correct"


@given(st.fractions(max_denominator=999).filter(lambda f: f.denominator > 1))
def test_fractions_are_read_exactly(value: Fraction) -> None:
    """No intermediate result is a float."""
    sign = "-" if value < 0 else ""
    top = abs(value.numerator)
    assume(len(str(top)) < 12)
    for text in (str(value), f"{sign}\\frac{{{top}}}{{{value.denominator}}}"):
        read = number(text)
        assert read is not None
        assert read[0] == value


@given(reference=HOSTILE.filter(lambda t: bool(t.strip())), response=HOSTILE, question=HOSTILE)
@example(reference="٣", response="٣", question="")
@example(reference="1/²", response="1/²", question="")
@example(reference="①", response="1", question="")
def test_any_text_is_judged_the_same_way_twice(
    reference: str, response: str, question: str
) -> None:
    """Any text is judged without an error or state, and quotes are from the response."""
    judgement = judge(reference, response, question)
    assert judge(reference, response, question) == judgement
    assert (judgement.key_sentence or "") in response


@given(HOSTILE)
def test_spans_of_a_found_answer_are_valid(text: str) -> None:
    """Spans are inside of the text, and the sentence is on one line."""
    found = find_answer(text)
    if found is not None:
        assert found.answer in text
        assert 0 <= found.start <= found.end <= len(text)
        assert "\n" not in text[found.start : found.end]
        assert len(text[found.start : found.end]) <= 160


@pytest.mark.parametrize(
    "piece",
    ["{", "}", "\\boxed{", "\\frac{1}{", "(", "A", "A,", "A and ", "9", "9,", "1/", "答案",
     "答案是", "故选", "因此",
     "The answer is ", "<answer>", " ", "\n", "\x00", "选项", "$", "-", ".", "**", "\\text{", "²",
     "so ", "_", "___a", "&nbsp;", "<p>", "# ", "1 ", '{"answers": ["a" ', '"answer": [1'],
    ids=ascii,
)  # fmt: skip
def test_hostile_repetition_does_not_raise(piece: str) -> None:
    """200 kB of it are a valid response, ten thousand repeats a valid reference; in linear time."""
    long, short = piece * (200_000 // len(piece)), piece * 10_000
    start = time.process_time()
    for reference, response in (("B", long), (short if short.strip() else "B", short)):
        judgement = judge(reference, response, EN)
        assert (judgement.outcome is Outcome.JUDGED) == (judgement.verdict is not None)
    assert verdict("B", f"{long}\nThe answer is B.", EN) == "correct"
    assert time.process_time() - start < 5


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "question", "kind"),
    [("B", ZH, "single_choice"), ("AC", "", "multiple_choice"), ("A、C", ZH, "multiple_choice"),
     ("正确", "", "true_false"), ("-3.5", "", "number"), ("18 dollars", "", "number"),
     ("{1, 2}", "", "set"), ("[0,+∞)", "", "interval"), ("x<3", "", "interval"),
     ("(1,2)", "", "tuple"), ("x^2+1", "", "expression"), ("y=2x", "", "equation"),
     ("(1) 3; (2) 5", "", "multi_part"), ("x=1或x=2", "", "multi_answer"), ("增大", "", "text"),
     ("the water cycle", "", "text")],
)  # fmt: skip
def test_the_type_of_a_reference(reference: str, question: str, kind: str) -> None:
    """The likely type is found for references without a stated one."""
    assert answer_type(reference, question).value == kind


@pytest.mark.parametrize(
    ("text", "named"),
    [("A", "A"), ("A. 0", "A"), ("A、B、D", "ABD"), ("A, B and D", "ABD"), ("Choice_C", "C"),
     ("h", "H"), ("I", "I"), ("J", "J"),
     ("AI", None), ("Apple", None), ("A cat", None), ("cab", None), ("", None), ("A or B", None)],
)  # fmt: skip
def test_letters(text: str, named: str | None) -> None:
    """Option letters are A to J; words are not letters."""
    assert letters(text) == (None if named is None else frozenset(named))


def test_options_of_a_question() -> None:
    """Options are listed on lines or in a row; one letter alone is not a list."""
    assert options(ZH) == {"A": "0", "B": "-3", "C": "2", "D": "-1"}
    assert options(EN) == options(ZH)
    assert options("求值（ ） A、(1,3) B、[1,3)") == {"A": "(1,3)", "B": "[1,3)"}
    assert options("如图，A. 是圆心") == {}


def test_only_a_long_reference_is_searched_for_its_answer() -> None:
    """A short reference is the answer itself; a long one is read as a solution."""
    assert reference_answer(" B ") == "B"
    assert reference_answer(WORKED_EN) == "21"


@pytest.mark.parametrize("piece", [" ", "* ", "_ :", "# "])
def test_a_long_line_before_an_option_takes_linear_time(piece: str) -> None:
    """Without possessive patterns, every division of the line would be tried."""
    item = Item(reference=("B",), response=piece * 4_000 + "x", answer_type="single_choice")
    assert RuleJudge().judge([item])[0].verdict is None
