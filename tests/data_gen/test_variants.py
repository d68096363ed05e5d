"""Variants of an answer: equivalent forms have its value, hard negatives do not."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.candidates import RULES
from data_gen.generators import parametric
from data_gen.variants import negative_forms, notation_signs, same_forms
from gradegpt.answers.read import read
from gradegpt.core.schema import AnswerType, Item, Verdict
from gradegpt.rules.compare import compare

K = AnswerType
OPTIONS = "Which of these is it?\nA. 12 kg\nB. the lever\nC. 15 kg\nD. the pulley"
TABLE = [
    ("18", K.NUMBER, "还剩多少元？"),
    ("3/4", K.NUMBER, ""),
    ("-\\frac{7}{12}", K.NUMBER, ""),
    ("0.25", K.NUMBER, ""),
    ("35%", K.NUMBER, ""),
    ("4√3", K.NUMBER, ""),
    ("\\frac{\\pi}{6}", K.NUMBER, ""),
    ("2.4×10^{5}", K.NUMBER, ""),
    ("12,500", K.NUMBER, ""),
    ("1.5 m", K.NUMBER, ""),
    ("2小时", K.NUMBER, ""),
    ("$4\\ \\mathrm{h}$", K.NUMBER, ""),
    ("$68", K.NUMBER, ""),
    ("twelve", K.NUMBER, ""),
    ("C", K.SINGLE_CHOICE, OPTIONS),
    ("the lever", K.SINGLE_CHOICE, OPTIONS),
    ("(B)", K.SINGLE_CHOICE, ""),
    ("(C)", K.SINGLE_CHOICE, OPTIONS),
    ("B. the lever", K.SINGLE_CHOICE, OPTIONS),
    ("12", K.SINGLE_CHOICE, "Which?\nA. 12\nB. 15\nC. 18\nD. 21"),
    ("A、C", K.MULTIPLE_CHOICE, ""),
    ("B, C and D", K.MULTIPLE_CHOICE, OPTIONS),
    ("①③④", K.MULTIPLE_CHOICE, ""),
    ("正确", K.TRUE_FALSE, ""),
    ("False", K.TRUE_FALSE, ""),
    ("{1,2,5}", K.SET, ""),
    ("$\\{-1, \\frac{1}{2}\\}$", K.SET, ""),
    ("[-2, 5)", K.INTERVAL, ""),
    ("(-∞,-1]∪[4,+∞)", K.INTERVAL, ""),
    ("$x \\le 3$", K.INTERVAL, ""),
    ("2x^2-3x+1", K.EXPRESSION, ""),
    ("n(n+1)/2", K.EXPRESSION, ""),
    ("$v_0\\sqrt{\\frac{2h}{g}}$", K.EXPRESSION, ""),
    ("\\frac{ab^2}{c}", K.EXPRESSION, ""),
    ("x=3", K.EQUATION, ""),
    ("y = -2x + 7", K.EQUATION, ""),
    ("(x-2)²+(y+1)²=9", K.EQUATION, ""),
    ("N₂ + 3H₂ → 2NH₃", K.EQUATION, ""),
    ("(3,-2)", K.TUPLE, ""),
    ("x=1, y=2", K.TUPLE, ""),
    ("(1) 5; (2) 7", K.MULTI_PART, ""),
    ("(1) (2,0)和(5,0);(2) (1,-4)", K.MULTI_PART, ""),
    ("54;80", K.MULTI_PART, ""),
    ("x=3或x=-3", K.MULTI_ANSWER, ""),
    ("x = 4 or x = -1", K.MULTI_ANSWER, ""),
    ("(1, 6), (2, 4)", K.MULTI_ANSWER, ""),
    ("增大", K.TEXT, ""),
    ("it moves to the left", K.TEXT, ""),
]
ROWS = pytest.mark.parametrize(("answer", "kind", "question"), TABLE, ids=[r[0] for r in TABLE])
BOTH = pytest.mark.parametrize("chinese", [True, False], ids=["zh", "en"])


def rng() -> random.Random:
    return random.Random(7)


def same(answer: str, kind: AnswerType, question: str = "", *, chinese: bool = False) -> list[str]:
    return [*same_forms(rng(), answer, kind, question=question, chinese=chinese)]


def near(answer: str, kind: AnswerType, question: str = "", *, chinese: bool = False) -> list[str]:
    return [*negative_forms(rng(), answer, kind, question=question, chinese=chinese)]


def equal(left: str, right: str, kind: AnswerType, question: str = "") -> bool | None:
    return compare(
        read(left, kind, question),
        read(right, kind, question),
        question=question,
        tolerance="exact",
    ).same


# --- the table ------------------------------------------------------------------------------------


@BOTH
@ROWS
def test_an_answer_has_several_forms_and_hard_negatives(
    answer: str, kind: AnswerType, question: str, *, chinese: bool
) -> None:
    """There are at least four forms and two hard negatives, all new, distinct and not empty."""
    forms, misses = (f(answer, kind, question, chinese=chinese) for f in (same, near))
    assert len(forms) >= 4
    assert len(misses) >= 2
    for made in (forms, misses):
        assert all(m == m.strip() != "" for m in made)
        assert len({*made}) == len(made)
        assert answer not in made
        assert all(m.count("{") == m.count("}") for m in made)
    assert not {*forms} & {*misses}


@ROWS
def test_the_same_seed_gives_the_same_forms(answer: str, kind: AnswerType, question: str) -> None:
    """The forms and their order depend on the random generator alone."""
    assert same(answer, kind, question) == same(answer, kind, question)
    assert near(answer, kind, question) == near(answer, kind, question)


@pytest.mark.parametrize(
    ("answer", "kind", "question"),
    [r for r in TABLE if r[1] in (K.NUMBER, K.SET, K.INTERVAL, K.TUPLE, K.EXPRESSION, K.EQUATION)],
)
def test_a_hard_negative_has_the_signs_of_the_answer(
    answer: str, kind: AnswerType, question: str
) -> None:
    """The signs are the same, except where they are the mistake: minus, brackets, ≤ for <."""
    assert all(
        notation_signs(miss) == notation_signs(answer) for miss in near(answer, kind, question)
    )


# --- single claims --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "question", "form"),
    [
        ("18", K.NUMBER, "", "十八"),
        ("18", K.NUMBER, "", "eighteen"),
        ("18", K.NUMBER, "", "18.0"),
        ("18", K.NUMBER, "还剩多少元？", "18元"),
        ("18", K.NUMBER, "How many apples are left?", "18 apples"),
        ("12500", K.NUMBER, "", "12,500"),
        ("0.25", K.NUMBER, "", "25%"),
        ("0.25", K.NUMBER, "", "四分之一"),
        ("1/2", K.NUMBER, "", "一半"),
        ("7/4", K.NUMBER, "", "1\\frac{3}{4}"),
        ("2√3", K.NUMBER, "", "√12"),
        ("1.5 m", K.NUMBER, "", "150 cm"),
        ("2小时", K.NUMBER, "", "120分钟"),
        ("3 cm", K.NUMBER, "", "3厘米"),
        ("B", K.SINGLE_CHOICE, OPTIONS, "the lever"),
        ("B", K.SINGLE_CHOICE, OPTIONS, "the second option"),
        ("ABD", K.MULTIPLE_CHOICE, "", "A、B和D"),
        ("B A D", K.MULTIPLE_CHOICE, "", "1. B 2. A 3. D"),
        ("1.B 2.A 3.D", K.MULTIPLE_CHOICE, "", "B, A, D"),
        ("正确", K.TRUE_FALSE, "", "True"),
        ("[1,5)", K.INTERVAL, "", "大于等于1且小于5"),
        ("(1,5)", K.INTERVAL, "", "greater than 1 and less than 5"),
        ("x^2+1", K.EXPRESSION, "", "x²+1"),
        ("y=2x+1", K.EQUATION, "", "2x+1=y"),
        ("x=3", K.EQUATION, "", "3"),
        ("(1,2)", K.TUPLE, "", "x=1, y=2"),
        ("(1) 5; (2) 7", K.MULTI_PART, "", "第一空5，第二空7"),
        ("x=2或x=-2", K.MULTI_ANSWER, "", "x=±2"),
        ("增大", K.TEXT, "", "变大"),
        ("It increases", K.TEXT, "", "It goes up"),
    ],
)
def test_well_known_forms_are_among_them(
    answer: str, kind: AnswerType, question: str, form: str
) -> None:
    """The usual notations of people are among the forms, for each family of forms."""
    assert form in same(answer, kind, question, chinese="元" in question)


@pytest.mark.parametrize(
    ("answer", "kind", "miss"),
    [
        ("18", K.NUMBER, "19"),
        ("18", K.NUMBER, "180"),
        ("18", K.NUMBER, "-18"),
        ("3/4", K.NUMBER, "4/3"),
        ("16 g", K.NUMBER, "16 kg"),
        ("[1,5)", K.INTERVAL, "(1,5]"),
        ("[1,+\\infty)", K.INTERVAL, "(-\\infty,1]"),
        ("(-∞, -2)", K.INTERVAL, "(-2, ∞)"),
        ("{2, 3, 5, 7, 11, 13}", K.SET, "{3, 5, 7, 11, 13}"),
        ("(1,2)", K.TUPLE, "(2,1)"),
        ("(1) 5; (2) 7", K.MULTI_PART, "(1) 7; (2) 5"),
        ("(1) 5; (2) 7", K.MULTI_PART, "(1) 5"),
        ("x=2或x=-2", K.MULTI_ANSWER, "x=2"),
        ("2x^2-3x+1", K.EXPRESSION, "2x^2+3x+1"),
        ("x³+2x²+x+C", K.EXPRESSION, "x³+2x²+C"),
        ("y = x^2 - 4x + 3", K.EQUATION, "y = x^2 - 4x"),
        ("正确", K.TRUE_FALSE, "错误"),
        ("先增大后减小", K.TEXT, "先减小后增大"),
        ("It increases", K.TEXT, "It stays the same"),
    ],
)
def test_well_known_mistakes_are_among_the_hard_negatives(
    answer: str, kind: AnswerType, miss: str
) -> None:
    """The usual errors are among them: neighbours, swaps, signs, magnitudes, omissions."""
    drawn = (
        negative_forms(random.Random(n), answer, kind, question="", chinese=False)
        for n in range(20)
    )
    assert any(miss in made for made in drawn)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("3/4", K.NUMBER), ("\\frac{5}{6}", K.NUMBER), ("2√3", K.NUMBER), ("3x+2", K.EXPRESSION)],
)
def test_a_hard_negative_has_no_oddity(answer: str, kind: AnswerType) -> None:
    """There is no 6/4, √4, 1x or 0, which would be recognised without the reference."""
    for seed in range(30):
        for miss in negative_forms(random.Random(seed), answer, kind, question="", chinese=True):
            assert not {"6/4", "2/4", "\\frac{4}{6}", "2√4", "1x+2", "0x+2", "3x+0"} & {miss}


def test_a_hard_negative_of_an_options_text_is_another_options_text() -> None:
    """A number that is the text of an option is not read as the statements 1 and 2."""
    question = "Which?\nA. 12\nB. 15\nC. 18\nD. 21"
    assert {*near("12", K.SINGLE_CHOICE, question)} == {"15", "18", "21"}
    assert "A" in same("12", K.SINGLE_CHOICE, question)


@pytest.mark.parametrize("text", ["the treaty of the three rivers", "张三丰的徒弟", "Proven"])
def test_a_text_that_cannot_be_edited_has_no_hard_negative(text: str) -> None:
    """No certainly different answer can be made from such a text."""
    assert near(text, K.TEXT) == []


@pytest.mark.parametrize("answer", ["yes, no, yes", "May 4, 1919"])
def test_an_answer_with_a_fixed_order_is_not_reordered(answer: str) -> None:
    """Answers to several questions, or a date, are no set of answers."""
    for form in same(answer, K.MULTI_ANSWER):
        words = [w for w in re.sub("[;、；]", ", ", form.lower()).replace('"', "").split() if w]
        assert [w.strip(",.") for w in words[-len(answer.split()) :]] == [
            w.strip(",.") for w in answer.lower().split()
        ]


def test_the_sides_of_a_reaction_are_not_exchanged() -> None:
    """The sides of an equation may be exchanged, those of a reaction may not."""
    assert all(
        f.strip("$").endswith(("H₂O", "H2O", "H_2O")) for f in same("2H₂+O₂=2H₂O", K.EQUATION)
    )


@pytest.mark.parametrize(("kind", "answer"), [(K.CODE, "print(1)"), (K.NUMBER, " "), (K.TEXT, ".")])
def test_code_and_empty_answers_have_no_variants(kind: AnswerType, answer: str) -> None:
    """No other form of them is certainly equivalent."""
    assert same(answer, kind) == near(answer, kind) == []


# --- read back ------------------------------------------------------------------------------------


def drawn_answers() -> list[tuple[str, AnswerType, str, bool]]:
    """References of problems of all types, in both languages."""
    drawn = parametric(220, seed=3)
    return [(p.reference, p.answer_type, p.question, p.lang == "zh") for p in drawn]


def judged(item: Item, response: str) -> Verdict | None:
    return RULES.judge([item.model_copy(update={"response": response})])[0].verdict


def test_the_rules_accept_every_form_and_no_hard_negative() -> None:
    """The claim holds for hundreds of answers of all types; few forms of parts may be undecided."""
    read, unread = Counter[str](), []
    for n, (reference, kind, question, chinese) in enumerate(drawn_answers()):
        item = Item(question=question, reference=(reference,), response="-", answer_type=kind)
        for form in same_forms(
            random.Random(n), reference, kind, question=question, chinese=chinese
        ):
            said = judged(item, form)
            assert said is not Verdict.INCORRECT, (reference, form)
            read[kind.value] += said is Verdict.CORRECT
            unread += [(reference, form)] if said is not Verdict.CORRECT else []
        misses = negative_forms(
            random.Random(n), reference, kind, question=question, chinese=chinese
        )
        for miss in itertools.islice(misses, 4):
            assert judged(item, miss) is not Verdict.CORRECT, (reference, miss)
    assert {*read} == {kind.value for kind in K if kind is not K.CODE}
    assert len(unread) <= 0.005 * read.total(), unread


# --- properties -----------------------------------------------------------------------------------

INTEGERS = st.integers(-99_999, 99_999).map(str)
FRACTIONS = st.fractions(-30, 30, max_denominator=99).map(str)
DECIMALS = st.decimals(-500, 500, allow_nan=False, places=2).map(str)
TEX = st.fractions(Fraction(1, 50), 30, max_denominator=50).map(
    lambda f: f"\\frac{{{f.numerator}}}{{{f.denominator}}}"
)
SMALL = st.integers(-20, 20)
SETS = st.lists(SMALL, min_size=1, max_size=5, unique=True).map(
    lambda xs: f"{{{', '.join(map(str, xs))}}}"
)
TUPLES = st.lists(SMALL, min_size=2, max_size=3).map(lambda xs: f"({','.join(map(str, xs))})")
ENDS = st.tuples(SMALL, SMALL).filter(lambda e: e[0] < e[1])
INTERVALS = st.builds(
    lambda ends, o, c: f"{o}{ends[0]},{ends[1]}{c}",
    ENDS,
    st.sampled_from("[("),
    st.sampled_from("])"),
)
LETTERS = st.sets(st.sampled_from("ABCDE"), min_size=2, max_size=4).map(
    lambda s: "".join(sorted(s))
)
ROOTS = st.lists(SMALL, min_size=2, max_size=3, unique=True).map(
    lambda xs: " or ".join(f"x={x}" for x in xs)
)
SAMPLES = st.one_of(
    *(st.tuples(s, st.just(K.NUMBER)) for s in (INTEGERS, FRACTIONS, DECIMALS, TEX)),
    st.tuples(SETS, st.just(K.SET)),
    st.tuples(TUPLES, st.just(K.TUPLE)),
    st.tuples(INTERVALS, st.just(K.INTERVAL)),
    st.tuples(st.sampled_from("ABCD"), st.just(K.SINGLE_CHOICE)),
    st.tuples(LETTERS, st.just(K.MULTIPLE_CHOICE)),
    st.tuples(ROOTS, st.just(K.MULTI_ANSWER)),
)


@given(sample=SAMPLES, seed=st.integers(0, 999), chinese=st.booleans())
@settings(max_examples=40)
def test_the_rules_contradict_no_form_and_no_hard_negative(
    sample: tuple[str, AnswerType], seed: int, *, chinese: bool
) -> None:
    """No form is called different, and no hard negative is called the same."""
    answer, kind = sample
    draw = random.Random(seed)
    forms = [*same_forms(draw, answer, kind, question="", chinese=chinese)]
    misses = [*negative_forms(draw, answer, kind, question="", chinese=chinese)]
    assert forms
    assert misses
    assert all(equal(answer, form, kind) is not False for form in forms)
    for miss in misses[:3]:
        assert equal(answer, miss, kind) is not True


@given(text=st.text(max_size=40), kind=st.sampled_from([*K]), seed=st.integers(0, 99))
@settings(max_examples=50)
def test_any_text_is_accepted(text: str, kind: AnswerType, seed: int) -> None:
    """References come from files, and no text in them may raise an error."""
    draw = random.Random(seed)
    assert all(same_forms(draw, text, kind, question=text, chinese=True))
    assert all(negative_forms(draw, text, kind, question=text, chinese=False))


MATHS = st.text(alphabet="0123456789xy+-*/^(){}[]\\,;=√π.$ ①或和", max_size=24)


@given(text=MATHS, kind=st.sampled_from([*K]))
@settings(max_examples=50)
def test_any_formula_is_accepted(text: str, kind: AnswerType) -> None:
    """Broken mathematics raises no error."""
    same(text, kind)
    near(text, kind)
