"""Other notations of an answer have its value, and wrong answers do not."""

from __future__ import annotations

import random

import pytest

from data_gen.drawn import parametric
from data_gen.notation import same_forms, wrong_forms
from data_gen.problems import Problem
from gradegpt.answers.read import read
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

K = AnswerType
OPTIONS = "Which of these is it?\nA. 12 kg\nB. the lever\nC. 15 kg\nD. the pulley"
TABLE = [
    ("18", K.NUMBER, "", "$18$", "19"),
    ("3/4", K.NUMBER, "", "\\frac{3}{4}", "4/4|3/5"),
    ("12500", K.NUMBER, "", "12,500", "12501"),
    ("1.5 m", K.NUMBER, "", "1.5m", "1.6 m"),
    ("C", K.SINGLE_CHOICE, OPTIONS, "(C)", "A"),
    ("AC", K.MULTIPLE_CHOICE, "", "A, C", "A"),
    ("A、C", K.MULTIPLE_CHOICE, "", "AC", "A、B"),
    ("正确", K.TRUE_FALSE, "", "√", "错误"),
    ("{1,2,5}", K.SET, "", "$\\{1, 2, 5\\}$", "{1,5}"),
    ("[-2, 5)", K.INTERVAL, "", "$[-2,5)$", "(-2, 5)"),
    ("x≤3", K.INTERVAL, "", "x\\le 3", "x<3"),
    ("2x^2-3x+1", K.EXPRESSION, "", "2x²-3x+1", "2x^2+3x+1"),
    ("(x-2)²+(y+1)²=9", K.EQUATION, "", "(x-2)^2+(y+1)^2=9", "(x+2)²+(y+1)²=9"),
    ("(3,-2)", K.TUPLE, "", "(3, -2)", "(-2,3)"),
    ("(1) 5; (2) 7", K.MULTI_PART, "", "(1) 5;(2) 7", "(1) 5; (2) 8"),
    ("x=3或x=-3", K.MULTI_ANSWER, "", "x=3 or x=-3", "x=3"),
    ("增大", K.TEXT, "", "", "减小"),
]


def forms(answer: str, kind: AnswerType, question: str = "") -> list[str]:
    made = same_forms(random.Random(7), answer, kind, question=question, chinese=True)
    return [*made]


def misses(answer: str, kind: AnswerType, question: str = "") -> list[str]:
    return [*wrong_forms(random.Random(7), answer, kind, question=question)]


@pytest.mark.parametrize(("answer", "kind", "question", "form", "miss"), TABLE)
def test_every_type_has_other_notations_and_wrong_answers(
    answer: str, kind: AnswerType, question: str, form: str, miss: str
) -> None:
    """Those expected are among them; all are new, distinct and not empty."""
    right, wrong = forms(answer, kind, question), misses(answer, kind, question)
    assert not form or form in right
    assert {*miss.split("|")} & {*wrong}
    for made in (right, wrong):
        assert all(m == m.strip() != "" for m in made)
        assert len({*made}) == len(made)
        assert answer not in made
    assert not {*right} & {*wrong}
    assert right == forms(answer, kind, question)
    assert wrong == misses(answer, kind, question)


@pytest.mark.parametrize(
    ("answer", "kind", "odd"),
    [
        ("2x+1", K.EXPRESSION, "1x+1"),
        ("3/4", K.NUMBER, "6/4"),
        ("x^2", K.EXPRESSION, "x^1"),
        ("(2,1)", K.TUPLE, "(2,-0)"),
        ("(1) 5; (2) 7", K.MULTI_PART, "(2) 5; (2) 7"),
    ],
)
def test_a_wrong_answer_has_no_oddity_of_its_own(answer: str, kind: AnswerType, odd: str) -> None:
    """It could be recognised without the reference."""
    assert odd not in misses(answer, kind)


def test_words_and_units_are_not_typeset_as_mathematics() -> None:
    """Dollars stand around formulas alone."""
    for answer in ("16 g", "3 or 4", "Ottawa; Nile"):
        assert not [form for form in forms(answer, K.MULTI_ANSWER) if "$" in form]


def test_an_english_response_gets_no_chinese_form() -> None:
    """Unless the answer is Chinese itself."""
    for answer, kind in (
        ("B", K.SINGLE_CHOICE),
        ("True", K.TRUE_FALSE),
        ("3 or 4", K.MULTI_ANSWER),
    ):
        made = same_forms(random.Random(7), answer, kind, chinese=False)
        assert all(form.isascii() or form in "√×" for form in made)


@pytest.mark.parametrize("kind", [K.CODE, K.TEXT])
def test_what_cannot_be_changed_has_no_wrong_answer(kind: AnswerType) -> None:
    """A program, or a text without a number, a trend or a verb."""
    assert misses("print('yes')", kind) == []


@pytest.mark.parametrize("empty", ["{}", "$\\{\\}$"])
def test_an_empty_set_has_no_element_to_leave_out(empty: str) -> None:
    """It is an answer like any other."""
    assert misses(empty, K.SET) == []


@pytest.mark.parametrize("problem", [*parametric(24, seed=9)], ids=lambda p: p.id)
def test_the_rules_agree_with_both(problem: Problem) -> None:
    """A notation is the same answer to them, and a wrong answer is not."""
    kind, asked = problem.answer_type, problem.question
    reference = read(problem.reference, kind, asked)

    def said(form: str) -> bool | None:
        return compare(reference, read(form, kind, asked), question=asked, tolerance="exact").same

    assert all(said(form) is True for form in forms(problem.reference, kind, asked))
    assert all(said(form) is not True for form in misses(problem.reference, kind, asked))
