"""Letters that are not negative by a statement or by the kind of quantity they name."""

from __future__ import annotations

import pytest

from gradegpt.rules.compare.positive import not_negative


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (r"Given $a>0$ and $b \ge 0$, simplify.", "a b"),
        ("Let a > b > 0.", "a b"),
        ("$0<x<y$", "x y"),
        (r"$x\in(0,+\infty)$", "x"),
        (r"$x \in [0,1]$", "x"),
        (r"$n\in\mathbb{N}^*$", "n"),
        (r"$a \in \mathbb{R}^+$", "a"),
        ("Let positive real numbers a, b and c satisfy", "a b c"),
        ("a, b are both positive", "a b"),
        ("设正数 a, b 满足", "a b"),
        ("a、b均为正实数", "a b"),
        ("a是正数", "a"),
        ("a ball of mass m and radius R rolls", "m R"),
        ("a mass $a$ on a spring", "a"),
        ("masses m_1 and m_2 with speed $v_0$", "m_1 m_2 v_0"),
        ("质量为m、半径为R的圆盘", "m R"),
        ("长为 $2a$ 宽为 $b$", "b"),
        (r"of wavelength \lambda", "λ"),
    ],
)
def test_letters_that_a_question_makes_nonnegative(question: str, names: str) -> None:
    """They are found in signs, in words and by the kind of quantity, in both languages."""
    assert not_negative(question) == {*names.split()}


@pytest.mark.parametrize(
    "question",
    [
        "x + a > 0", "$2a > 0$", "xy > 0", "x^2 > 0", r"\sin x > 0", "f(x) > 0", "a > -1", "-1 < a",
        "若 a > 0 则开口向上, 若 a < 0 则向下", r"$a\in\mathbb R$", "a is not positive",
        "with a mass a hundred times as large", "velocity v", "charge q", "temperature T",
        "增长a倍", "a is positive if and only if", "",
    ],
)  # fmt: skip
def test_letters_that_a_question_does_not_make_nonnegative(question: str) -> None:
    """Letters in expressions, in one of several cases, and of signed quantities are not found."""
    assert not_negative(question) == frozenset()
