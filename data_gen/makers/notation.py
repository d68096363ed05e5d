"""Numbers, formulas and pieces of the number line, as LaTeX and as one types them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

Num = int | Fraction | Decimal | str
"""A number; where it is no rational one, its LaTeX."""
_FRAC: Final = re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}(?=(.?))")
_SIGNS: Final = {
    "\\pi": "π", "\\infty": "∞", "\\le": "≤",
    "\\ge": "≥", "\\cdot": " *", "\\times": " ×", "\\ln": "ln", "\\sin": "sin", "\\cos": "cos",
    "\\cup": "∪", "\\theta": "θ",
}  # fmt: skip
_COMMAND: Final = re.compile(r"\\[a-z]+")
_ROOT: Final = re.compile(r"\\sqrt\{([^{}]*)\}")
_RAISED: Final = re.compile(r"([\^_])\{([^{}]*)\}")
_SMALL: Final = str.maketrans("23456789", "²³⁴⁵⁶⁷⁸⁹")


def tex(number: Num) -> str:
    """A number as LaTeX."""
    if isinstance(number, Decimal):
        return f"{number.normalize():f}"
    if isinstance(number, Fraction) and number.denominator != 1:
        sign = "-" if number < 0 else ""
        return f"{sign}\\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"
    return str(number)


def plain(formula: str) -> str:
    r"""A formula as one types it: ``\frac{1}{2}`` as 1/2, ``\sqrt{3}`` as √3, ``x^{2}`` as x^2."""
    text = _ROOT.sub(lambda m: f"√{m[1]}" if m[1].isalnum() else f"√({m[1]})", formula)
    text = _FRAC.sub(_slashed, text).replace("^\\circ", "°")
    text = _COMMAND.sub(lambda m: _SIGNS.get(m[0].strip(), m[0]), text)
    return _RAISED.sub(lambda m: f"{m[1]}{m[2]}" if m[2].isalnum() else f"{m[1]}({m[2]})", text)


def _slashed(frac: re.Match[str]) -> str:
    top, bottom = (x if re.fullmatch(r"[\w√]+|\\pi", x) else f"({x})" for x in frac.group(1, 2))
    whole = f"{top}/{bottom}"
    return f"({whole})" if frac[3] and re.match(r"[\w(\\]", frac[3]) else whole


def small(formula: str) -> str:
    """The plain formula with raised digits: x²."""
    return re.sub(r"\^([2-9])(?!\d)", lambda m: m[1].translate(_SMALL), plain(formula))


def dollars(formula: str) -> str:
    """The formula between dollar signs."""
    return f"${formula}$"


def spaced(formula: str) -> str:
    """The plain formula with blanks around the signs between its terms."""
    return re.sub(r"(?<=[\w)²³])([-+=])", r" \1 ", plain(formula))


def bracketed(formula: str) -> str:
    r"""The formula between \( and \)."""
    return f"\\({formula}\\)"


def coefficient(number: int) -> str:
    """A factor before a letter: 1 is not written, of -1 the sign alone."""
    return {1: "", -1: "-"}.get(number, str(number))


def polynomial(coefficients: Sequence[int], variable: str = "x") -> str:
    """A polynomial, its highest power first; coefficients from the highest down."""
    top = len(coefficients) - 1
    text = ""
    for power, number in zip(range(top, -1, -1), coefficients, strict=True):
        if number:
            text += _term(number, power, variable)
    return text.removeprefix("+") or "0"


def ascending(coefficients: Sequence[int], variable: str = "x") -> str:
    """The same polynomial, its lowest power first."""
    terms = [
        _term(number, power, variable)
        for power, number in enumerate(reversed(coefficients))
        if number
    ]
    return "".join(terms).removeprefix("+") or "0"


def _term(number: int, power: int, variable: str) -> str:
    sign, size = "-" if number < 0 else "+", abs(number)
    raised = {0: "", 1: variable}.get(power, f"{variable}^{power}" if power < 10 else "")
    return f"{sign}{size if size != 1 or not power else ''}{raised}"


_SIGN: Final = {("<", False): "<", ("<", True): "\\le", (">", False): ">", (">", True): "\\ge"}


class Span(NamedTuple):
    """One piece of a region of the number line; an end that is none lies at infinity."""

    low: Num | None
    high: Num | None
    low_in: bool = False
    high_in: bool = False

    def brackets(self) -> str:
        """As an interval, in LaTeX."""
        low = "-\\infty" if self.low is None else tex(self.low)
        high = "+\\infty" if self.high is None else tex(self.high)
        return f"{'[' if self.low_in else '('}{low},{high}{']' if self.high_in else ')'}"

    def order(self, variable: str) -> str:
        """As an inequality, in LaTeX."""
        if self.high is None and self.low is not None:
            return f"{variable} {_SIGN['>', self.low_in]} {tex(self.low)}"
        low = "" if self.low is None else f"{tex(self.low)} {_SIGN['<', self.low_in]} "
        high = "" if self.high is None else f" {_SIGN['<', self.high_in]} {tex(self.high)}"
        return f"{low}{variable}{high}"


Region = tuple[Span, ...]


def flipped(span: Span) -> Span:
    """The same piece with its finite ends the other way: open for closed."""
    low_in, high_in = span.low is not None, span.high is not None
    return span._replace(low_in=low_in and not span.low_in, high_in=high_in and not span.high_in)
