"""Reading answers: the usual notations of one value are read as that value."""

from __future__ import annotations

import pytest

from gradegpt.answers import AnswerType, read
from gradegpt.rules.compare import compare

K = AnswerType
QUESTION = "Which?\nA. the lever\nB. 12 kg\nC. 斜面\nD. a pulley, fixed"


def same(kind: AnswerType, one: str, other: str) -> bool | None:
    left, right = (read(text, kind, QUESTION) for text in (one, other))
    return compare(left, right, question=QUESTION, tolerance="exact").same


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (K.NUMBER, "minus five", "-5"),
        (K.NUMBER, "negative five", "-5"),
        (K.NUMBER, "负三又二分之一", "-3.5"),
        (K.NUMBER, "two and a half", "5/2"),
        (K.NUMBER, "two point two four", "2.24"),
        (K.NUMBER, "一半", "50%"),
        (K.NUMBER, "half", "0.5"),
        (K.NUMBER, "五十元", "50 yuan"),
        (K.NUMBER, "二十千克", "20 kg"),
        (K.NUMBER, "三分钟", "180 s"),
        (K.NUMBER, "60 kilometres per hour", "60 km/h"),
        (K.NUMBER, "5 degrees Celsius", "5°C"),
        (K.NUMBER, "600 dollars", "60000 cents"),
        (K.NUMBER, "1,000 m/s²", "1000米/秒²"),
        (K.NUMBER, "384π cm^3", "384*pi cubic centimetres"),
        (K.NUMBER, "$281/125$", "2.248"),
        (K.TUPLE, "x=1, y=2", "(1, 2)"),
        (K.TUPLE, "y=2, x=1", "(x, y) = (1, 2)"),
        (K.MULTI_PART, "（1）20（2）25", "20; 25"),
        (K.MULTI_PART, "① 20 ② 25", "第一空20，第二空25"),
        (K.MULTI_PART, "first: 20, second: 25", "(1) twenty; (2) twenty-five"),
        (K.MULTI_PART, "(1) (2,0)和(5,0);(2) (1,-4)", "① (5, 0) and (2, 0) ② (1, -4)"),
        (K.MULTI_ANSWER, "x_1=-2, x_2=3", "-2 or 3"),
        (K.MULTI_ANSWER, "x=±2", "2和-2"),
        (K.INTERVAL, "大于2且小于等于5", "(2,5]"),
        (K.INTERVAL, "greater than 2 and less than 5", "2 < x < 5"),
        (K.INTERVAL, "x小于1或x大于等于3", "(-∞, 1)∪[3, +∞)"),
        (K.INTERVAL, "x is greater than or equal to -1", "{x|x≥-1}"),
        (K.SINGLE_CHOICE, "第三个选项", "C"),
        (K.SINGLE_CHOICE, "the third option", "Ⓒ"),
        (K.SINGLE_CHOICE, "a pulley, fixed", "(D)"),
        (K.MULTIPLE_CHOICE, "A、B和D", "选ABD"),
        (K.MULTIPLE_CHOICE, "(A)(B)(D)", "options A, B and D"),
        (K.TRUE_FALSE, "说法正确", "True"),
        (K.TRUE_FALSE, "The statement is not true.", "错"),
        (K.EXPRESSION, "(x+1)^2", "x²+2x+1"),
        (K.EXPRESSION, "f(g(x))=16x^2-16x", "16x(x-1)"),
        (K.EQUATION, "y=2x+1", "2x - y + 1 = 0"),
        (K.EQUATION, "x=3", "3 = x"),
        (K.TEXT, "It increases", "it goes up."),
        (K.TEXT, "是心脏", "“心脏”"),
    ],
)
def test_two_ways_to_write_it_are_one_answer(kind: AnswerType, one: str, other: str) -> None:
    """Notation does not affect equality."""
    assert same(kind, one, other)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (K.NUMBER, "minus five", "5"),
        (K.NUMBER, "16 g", "16 kg"),
        (K.NUMBER, "two three", "5"),
        (K.SET, "{1, 2}", "{1, 2, 3}"),
        (K.TUPLE, "(1, 2)", "(2, 1)"),
        (K.TUPLE, "x=1, y=2", "(2, 1)"),
        (K.MULTI_PART, "(1) 5; (2) 7", "(1) 7; (2) 5"),
        (K.MULTI_PART, "3(2)5", "(1) 3 (2) 5"),
        (K.INTERVAL, "[1, 2)", "(1, 2]"),
        (K.SINGLE_CHOICE, "the third option", "B"),
        (K.MULTIPLE_CHOICE, "除C外都对", "ABC"),
        (K.EQUATION, "x=5", "y=5"),
        (K.EQUATION, "n=9-11m", "n=9+11m"),
        (K.EXPRESSION, "2x+1", "2x-1"),
        (K.TEXT, "增大", "减小"),
    ],
)
def test_other_values_are_other_answers(kind: AnswerType, one: str, other: str) -> None:
    """Answers differ by a sign, an element, an endpoint, a position, a unit or an option."""
    assert not same(kind, one, other)
