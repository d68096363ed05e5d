"""Two formulas are equal if and only if they are the same function."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradegpt.answers import algebra
from gradegpt.answers.formula import read_formula
from gradegpt.answers.text import fold


def equal(left: str, right: str) -> bool | None:
    a, b = read_formula(fold(left).strip()), read_formula(fold(right).strip())
    assert a is not None, left
    assert b is not None, right
    return algebra.equal(a, b)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [("x^2-1", "(x-1)(x+1)", True), (r"\frac{\sqrt{3}}{2}", r"\sqrt{3}/2", True),
     (r"3\sqrt{2}", r"\sqrt{18}", True), (r"\frac{4\sqrt{7}}{7}", r"\frac{4}{\sqrt{7}}", True),
     (r"1\frac{1}{2}", "3/2", True), (r"\frac12", "0.5", True),
     (r"\sin 2x", r"2\sin x\cos x", True), (r"e^{2x}", r"\exp(2x)", True), (r"\log_2 8", "3", True),
     (r"\sqrt[3]{-8}", "-2", True), (r"30^{\circ}", r"\frac{\pi}{6}", True),
     ("n(n+1)/2", r"\frac{n^2+n}{2}", True), ("x_1+x_2", "x_{1}+x_2", True),
     ("|x-1|", "|1-x|", True), ("x+1", "x+2", False), (r"\sin 2x", r"2\sin x", False),
     ("2^{n}-1", "2^{n-1}", False), ("a+b", "a+c", False), (r"\sqrt{x^2}", "x", None),
     (r"\log x", r"\ln x", None), (r"a\sqrt{b}", r"\sqrt{a^2b}", None), ("9^{9^{9^9}}", "1", None)],
)  # fmt: skip
def test_equality_of_formulas(left: str, right: str, same: bool | None) -> None:
    """None if it depends on an unknown sign or base, or if the numbers are too large."""
    assert equal(left, right) is same
    assert equal(right, left) is same


@pytest.mark.parametrize(
    "text",
    ["1/2x", "x^12", "H2O", "sin^{-1} x", "the answer", "x+", "(x", "x)", "", "增大", "\\foo{x}",
     "{" * 5_000, "(" * 200 + "x" + ")" * 200, "x" * 500],
    ids=lambda t: ascii(t)[:20],
)  # fmt: skip
def test_texts_without_a_unique_reading_as_a_formula_are_not_read(text: str) -> None:
    """Words, incomplete formulas, and formulas with two readings are rejected."""
    assert read_formula(text) is None


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(1, 99))
def test_rational_arithmetic_is_exact(a: int, b: int, c: int) -> None:
    """No intermediate result is a float."""
    tree = read_formula(f"({a})*({b})/{c}+{c}")
    assert tree is not None
    assert algebra.constant(tree) == Fraction(a * b, c) + c


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-50, 50), st.integers(-50, 50))
def test_two_lines_are_equal_if_and_only_if_they_are(a: int, b: int, c: int, d: int) -> None:
    """Two lines are equal if their slopes and intercepts are."""
    assert equal(f"{a}x+({b})", f"({d})+{c}*x") is ((a, b) == (c, d))


@given(st.integers(1, 40), st.integers(2, 40), st.integers(1, 40), st.integers(2, 40))
def test_unequal_roots_are_distinguished(a: int, b: int, c: int, d: int) -> None:
    """``a√b`` and ``c√d`` are equal if and only if their squares are."""
    assume(a * a * b != c * c * d)
    assert equal(f"{a}\\sqrt{{{b}}}", f"{c}\\sqrt{{{d}}}") is False
    assert equal(f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}") is True
