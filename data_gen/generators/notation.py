"""Numbers and polynomials as LaTeX, for questions and steps."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

Num = int | Fraction | Decimal | str
"""A number; one that is not rational is given as LaTeX."""


def tex(number: Num) -> str:
    """A number as LaTeX."""
    if isinstance(number, Decimal):
        return f"{number.normalize():f}"
    if isinstance(number, Fraction) and number.denominator != 1:
        sign = "-" if number < 0 else ""
        return f"{sign}\\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"
    return str(number)


def coefficient(number: int) -> str:
    """A factor before a letter: nothing for 1, the sign alone for -1."""
    return {1: "", -1: "-"}.get(number, str(number))


def polynomial(coefficients: Sequence[int | Fraction], variable: str = "x") -> str:
    """A polynomial as LaTeX; its coefficients are listed from the highest power down."""
    top = len(coefficients) - 1
    text = ""
    for power, number in zip(range(top, -1, -1), coefficients, strict=True):
        if number:
            text += _term(number, power, variable)
    return text.removeprefix("+") or "0"


def _term(number: int | Fraction, power: int, variable: str) -> str:
    sign = "-" if number < 0 else "+"
    size = -number if number < 0 else number
    raised = {0: "", 1: variable}.get(power, f"{variable}^{power}" if power < 10 else "")
    return f"{sign}{tex(size) if size != 1 or not power else ''}{raised}"
