"""The rule judge: what it decides and what it leaves undecided; one row per past bug."""

from __future__ import annotations

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
WORKED_ZH = "比较各数：负数小于零，两个负数中绝对值大的反而小，其余各项均不符合题意。故选：B．"
WORKED_EN = "Each pen costs 3 dollars and there are seven of them.\nSo 3*7=21.\n#### 21"


def judge(reference: str | tuple[str, ...], response: str, question: str = "") -> Judgement:
    references = (reference,) if isinstance(reference, str) else reference
    item = Item(question=question, reference=references, response=response)
    return RuleJudge().judge([item])[0]


def verdict(reference: str | tuple[str, ...], response: str, question: str = "") -> str:
    """The verdict, or ``undecided``."""
    judgement = judge(reference, response, question)
    return (judgement.verdict or judgement.outcome).value


# --- option letters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    ["B", "b", "(B)", "（B）", "[B]", "B.", "B)", "B：", "B、", "Ｂ", "**B**", "`B`", "$B$",
    "$\\text{B}$", "选B",
     "B项", "选项B", "Option B", "Choice_B", "B. -3", "(B) -3", "B：-3", "\\boxed{B}",
     "\\boxed{\\text{(B)}}",
     "故选B。", "故选：B．", "应选（B）", "因此选择B项", "答案是B", "答案：B", "【答案】B",
     "【答案】 B\n【解析】略",
     "正确答案是：**B**。", "本题正确选项是 B", "综上所述，答案为 $\\boxed{B}$。", "所以选B<eoa>",
     "A、B、C、D中，故选B",
     "Answer: B", "ANSWER: B", "The answer is (B).", "The correct option is B.",
     "The answer is option B: -3",
     "Solution: Choice_B", "Step 1: think. <STEP1>\nThe answer is B <STEP2>", "<answer>B</answer>",
     "<answer>\n B \n</answer>", "#### B", "-3", "The answer is -3.", "答案是 -3"],
)  # fmt: skip
@pytest.mark.parametrize("question", [ZH, EN], ids=["zh", "en"])
def test_an_option_in_any_spelling_is_the_option(response: str, question: str) -> None:
    """A letter alone, bracketed, boxed or announced, or the text of the option, is read."""
    assert verdict("B", response, question) == "correct"
    assert verdict("(B)", response, question) == "correct"
    assert verdict("C", response, question) == "incorrect"


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("AC", "AC", "correct"),
        ("AC", "CA", "correct"),
        ("AC", "A、C", "correct"),
        ("AC", "A,C", "correct"),
        ("AC", "A，C", "correct"),
        ("AC", "A C", "correct"),
        ("AC", "A和C", "correct"),
        ("AC", "A and C", "correct"),
        ("AC", "A & C", "correct"),
        ("AC", "故选：A、C", "correct"),
        ("A、C", "故选AC", "correct"),
        ("A and C", "AC", "correct"),
        ("AC", "A", "incorrect"),
        ("AC", "ABC", "incorrect"),
        ("AC", "故选BD。", "incorrect"),
        ("A", "AC", "incorrect"),
        ("BD", "B. D.", "correct"),
        ("BD", "B + D", "undecided"),
        ("BD", "B; D", "correct"),
        ("BD", "(B)(D)", "correct"),
        ("A", "答案是A或B", "undecided"),
        ("A", "答案是A或者C。", "undecided"),
        ("A", "The answer is A (or B)", "undecided"),
        ("A", "The answer is A or B.", "undecided"),
        ("B", "B。A错误", "undecided"),
        ("B", "B. A rock", "correct"),
        ("B", "B. Vitamin C", "correct"),
        ("B", "The answer is not B.", "undecided"),
        ("B", "答案不是B", "undecided"),
        ("B", "A number of options look right.", "undecided"),
        ("B", "This is a good answer.", "undecided"),
        ("B", "The answer is a mystery.", "undecided"),
        ("B", "I do not know.", "invalid"),
        ("B", "这是一道好题。", "undecided"),
        ("B", "Answer: the second one", "undecided"),
        ("B", "{B}", "correct"),
    ],
)
def test_several_letters_and_sentences_that_resemble_letters(
    reference: str, response: str, expected: str
) -> None:
    """Missing and surplus options are wrong; two candidates or a mere mention are undecided."""
    assert verdict(reference, response, ZH) == expected


@pytest.mark.parametrize(
    ("reference", "response", "question"),
    [
        ("B", "First I thought the answer is A. But the answer is B.", EN),
        ("B", "答案是A。不对，重新计算，答案是B。", ZH),
        ("B", "故选：A。检查后发现错误，更正为 故选：B。", ZH),
        ("B", "The answer is \\boxed{A}. Wait, it should be \\boxed{B}.", EN),
        ("B", "<answer>A</answer> no, <answer>B</answer>", EN),
        ("18", "The answer is 17. Checking: one more. The answer is 18.", ""),
        ("18", "答案：17\n更正。答案：18", ""),
    ],
)
def test_a_revised_answer_counts(reference: str, response: str, question: str) -> None:
    """The final answer of a response counts, not one that it retracted."""
    assert verdict(reference, response, question) == "correct"


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    ["18", "18.", "18.0", "+18", "=18", "１８", "$18$", "\\(18\\)", "**18**", "`18`", "$18",
     "\\$18", "￥18",
     "18 dollars", "18元", "18 cm", "36/2", "\\frac{36}{2}", "1.8e1", "1.8×10^1",
     "1.8 \\times 10^{1}", "\\boxed{18}",
     "\\boxed{18\\text{ cm}}", "A: 18", "#### 18", "The answer is 18.", "The answer is $18.00.",
     "答案是18元。",
     "答案：18", "【答案】18", "The final answer is $\\boxed{18}$.",
     "Answer: 18\n\nConfidence: 90%",
     "The answer is 18 cookies. The cost is 5 dollars."],
)  # fmt: skip
def test_a_number_in_any_spelling_is_the_number(response: str) -> None:
    """Numbers are read exactly, with any text around them."""
    assert verdict("18", response) == "correct"
    assert verdict("18.0", response) == "correct"
    assert verdict("19", response) == "incorrect"


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("1,000", "1000", "correct"),
        ("1000", "1,000.00", "correct"),
        ("1234567", "1,234,567", "correct"),
        ("1000", "1，000", "correct"),
        ("1000", "1,00,0", "undecided"),
        ("1.5", "1,5", "undecided"),
        ("100", "100,000", "incorrect"),
        ("1/2", "0.5", "correct"),
        ("0.5", "$\\dfrac{1}{2}$", "correct"),
        ("1/2", "2/4", "correct"),
        ("3/2", "1\\frac{1}{2}", "correct"),
        ("-1/2", "-\\frac{1}{2}", "correct"),
        ("-1/2", "\\frac{-1}{2}", "correct"),
        ("1/2", "1/3", "incorrect"),
        ("1/2", "1/0", "undecided"),
        ("1/2", "1½", "incorrect"),
        ("3/2", "1½", "correct"),
        ("-5", "−5", "correct"),
        ("-5", "5", "incorrect"),
        ("0.333", "1/3", "correct"),
        ("50%", "50\\%", "correct"),
        ("50%", "0.5", "correct"),
        ("50%", "50 percent", "correct"),
        ("50％", "1/2", "correct"),
        ("50%", "40%", "incorrect"),
        ("50%", "50", "undecided"),
        ("50％", "50", "undecided"),
        ("50", "50 percent", "undecided"),
        ("2500", "2.5e3", "correct"),
        ("2500", "2.5×10³", "correct"),
        ("0.0025", "2.5×10⁻³", "correct"),
        ("2500", "2.5×10^4", "incorrect"),
        ("102", "10²", "incorrect"),
        ("100", "10²", "correct"),
        ("1e9999", "1e9998", "undecided"),
        ("5 cm", "5", "correct"),
        ("5 cm", "6 cm", "incorrect"),
        ("5 cm", "50 mm", "correct"),
        ("5 cm", "5 m", "incorrect"),
        ("5元", "5角", "undecided"),
        ("3 hours", "3 hour", "correct"),
        ("60", "60^\\circ", "correct"),
        ("60°", "60", "correct"),
        ("8", "8 tablespoons in total", "correct"),
        ("3", "3 halves", "undecided"),
        ("7", "7 times n", "undecided"),
        ("7", "7 plus x", "undecided"),
        ("7", "7 thousand", "incorrect"),
        ("7", "7万", "incorrect"),
        ("7", "7的平方", "undecided"),
        ("7", "7 or 8", "undecided"),
        ("7", "The answer is not 7.", "undecided"),
        ("7", "答案不是7", "undecided"),
        ("7", "the answer is less than 7", "undecided"),
        ("7", "The numbers are 3, 5 and 7", "undecided"),
        ("7", "First 3, then 4.\nTogether that makes 7", "correct"),
        ("5", "x=5", "correct"),
        ("5", "five", "correct"),
        ("18", "\\boxed{", "invalid"),
    ],
)
def test_numbers(reference: str, response: str, expected: str) -> None:
    """Equal values match and units are converted; a bare percent sign or prose is undecided."""
    assert verdict(reference, response) == expected


@pytest.mark.parametrize(
    ("tolerance", "response", "expected"),
    [
        (None, "3.14", "undecided"),
        (None, "3.141594", "correct"),
        (None, "4", "incorrect"),
        ("exact", "3.14", "incorrect"),
        ("relative:0.01", "3.14", "correct"),
        ("relative:0.01", "3.0", "incorrect"),
        ("relative:1e-2", "-3.14159", "incorrect"),
        ("relative:0", "3.14159", "correct"),
    ],
)
def test_a_tolerance_widens_equality(tolerance: str | None, response: str, expected: str) -> None:
    """The policy of the item decides; without one, a number near the reference is undecided."""
    item = Item(reference=("3.14159",), response=response, tolerance=tolerance)
    judgement = RuleJudge().judge([item])[0]
    assert (judgement.verdict or judgement.outcome).value == expected


# --- other types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("True", "true", "correct"),
        ("True", "Yes.", "correct"),
        ("对", "√", "correct"),
        ("正确", "✓", "correct"),
        ("对", "×", "incorrect"),
        ("正确", "答案：错误", "incorrect"),
        ("错", "不正确", "correct"),
        ("No", "The answer is no.", "correct"),
        ("False", "True", "incorrect"),
        ("True", "The statement is true.", "correct"),
        ("True", "Yes, but only for x > 0", "undecided"),
        ("对", "答案是错误的", "incorrect"),
    ],
)
def test_truth_words(reference: str, response: str, expected: str) -> None:
    """They are read in both languages and as signs, alone or at the end of a sentence."""
    assert verdict(reference, response) == expected


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("Paris", "paris.", "correct"),
        ("Paris", "The answer is Paris.", "correct"),
        ("Paris", "London", "undecided"),
        ("增大", "答案：增大", "correct"),
        ("增大", "减小", "incorrect"),
        ("(1,2)", "$(1, 2)$", "correct"),
        ("(1,2)", "(2,1)", "incorrect"),
        ("[1,2]", "[1,2)", "incorrect"),
        ("{1,2}", "\\{1, 2\\}", "correct"),
        ("{1,2}", "{2,1}", "correct"),
        ("\\pi", "π", "correct"),
        ("x^2", "x²", "correct"),
        ("x^{12}", "x¹²", "correct"),
        ("x+1", "1+x", "correct"),
        (">", ">", "correct"),
        ("∅", "∅", "correct"),
    ],
)
def test_texts_and_simple_structures(reference: str, response: str, expected: str) -> None:
    """The same text matches; another text is incorrect only if both can be read."""
    assert verdict(reference, response) == expected


@pytest.mark.parametrize(
    ("reference", "response", "question", "expected"),
    [
        (WORKED_ZH, "B", ZH, "correct"),
        (WORKED_ZH, "答案：C", ZH, "incorrect"),
        (WORKED_ZH.replace("B．", "$\\text{B}$ ．"), "B", ZH, "correct"),
        (WORKED_EN, "The answer is 21.", "", "correct"),
        (WORKED_EN, "The answer is 22.", "", "incorrect"),
        ("We try all cases one by one, and the final answer is $\\boxed{7}$.", "7", "", "correct"),
        ("A long text without any answer in it, which goes on and on and on.", "7", "",
        "undecided"),
        (("4", "four"), "The answer is four.", "", "correct"),
        (("4", "four"), "The answer is 4.", "", "correct"),
        (("4", "6"), "The answer is 6.", "", "correct"),
        (("4", "6"), "The answer is 5.", "", "incorrect"),
        (("4", "four"), "The answer is 5.", "", "incorrect"),
    ],
)  # fmt: skip
def test_worked_solutions_and_several_accepted_answers(
    reference: str | tuple[str, ...], response: str, question: str, expected: str
) -> None:
    """A solution means the answer that it announces; any accepted answer suffices."""
    assert verdict(reference, response, question) == expected


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
def test_two_unequal_integers_are_never_correct(a: int, b: int, data: st.DataObject) -> None:
    """The spelling of either number does not matter."""
    assume(a != b)
    reference = data.draw(st.sampled_from([str(a), f"{a:,}", f"{a}.0", f"${a}$"]))
    for response in spellings(b):
        assert verdict(reference, response) == "incorrect"


@given(st.integers(-(10**12), 10**12))
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
@settings(max_examples=300)
def test_any_text_is_judged_the_same_way_twice(
    reference: str, response: str, question: str
) -> None:
    """Any text is judged without an error or state, and quotes are from the response."""
    judgement = judge(reference, response, question)
    assert judge(reference, response, question) == judgement
    if judgement.key_sentence is not None:
        assert judgement.key_sentence in response


@given(HOSTILE)
@settings(max_examples=300)
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
    """A megabyte of it is a valid response, ten thousand repeats a valid reference."""
    long, short = piece * (2**20 // len(piece)), piece * 10_000
    for reference, response in (("B", long), (short if short.strip() else "B", short)):
        judgement = judge(reference, response, EN)
        assert (judgement.outcome is Outcome.JUDGED) == (judgement.verdict is not None)
    assert verdict("B", f"{long}\nThe answer is B.", EN) == "correct"


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "question", "kind"),
    [
        ("B", ZH, "single_choice"),
        ("AC", "", "multiple_choice"),
        ("A、C", ZH, "multiple_choice"),
        ("正确", "", "true_false"),
        ("-3.5", "", "number"),
        ("18 dollars", "", "number"),
        ("{1, 2}", "", "set"),
        ("[0,+∞)", "", "interval"),
        ("x<3", "", "interval"),
        ("(1,2)", "", "tuple"),
        ("x^2+1", "", "expression"),
        ("y=2x", "", "equation"),
        ("(1) 3; (2) 5", "", "multi_part"),
        ("x=1或x=2", "", "multi_answer"),
        ("增大", "", "text"),
        ("the water cycle", "", "text"),
    ],
)
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
