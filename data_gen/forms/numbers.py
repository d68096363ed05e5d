"""Write numbers in digits, in words of both languages, or as a closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from typing import Final

from gradegpt.answers.algebra import close
from gradegpt.answers.formula import Node
from gradegpt.answers.number import HAN_DIGITS, ONES, PARTS, TENS

_MAX_SPELLED: Final = 9_999
"""Larger numbers are not written in words."""
_MAX_PART: Final = 100
_MAX_BELOW: Final = 60
_MAX_ABOVE: Final = 10_000
_SQUAREFREE: Final = [n for n in range(2, 50) if all(n % (k * k) for k in range(2, 8))]


class Digits(StrEnum):
    """How a number is written: in digits of several kinds, or in words."""

    PLAIN = "plain"
    ZEROS = "zeros"
    GROUPED = "grouped"
    FRACTION = "fraction"
    DISPLAYED = "displayed"
    MIXED = "mixed"
    PERCENT = "percent"
    SCIENTIFIC = "scientific"
    WORDS = "words"
    PARTS = "parts"


_PLACES: Final = 8
_MAX_TERM: Final = 10_000
"""Largest numerator and denominator of a fraction that is written for a decimal."""


def decimal(value: Fraction) -> str | None:
    """The exact decimal without trailing zeros; None if it needs more than eight places."""
    if value.denominator == 1:
        return str(value)
    for places in range(1, _PLACES + 1):
        if (value * 10**places).denominator == 1:
            digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
            text = f"{digits[:-places]}.{digits[-places:]}"
            return f"-{text}" if value < 0 else text
    return None


def write_number(
    value: Fraction, digits: Digits, *, latex: bool = False, code: bool = False
) -> str:
    """A number in that form; in plain digits or as a fraction if it has no such form."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    top, bottom = size.numerator, size.denominator
    shown = decimal(size)
    fraction = f"\\frac{{{top}}}{{{bottom}}}" if latex else f"{top}/{bottom}"
    plain = shown or fraction
    match digits:
        case Digits.ZEROS if shown is not None:
            plain = f"{shown}0" if "." in shown else f"{shown}.0"
        case Digits.GROUPED if shown is not None:
            whole, dot, rest = shown.partition(".")
            plain = f"{int(whole):,}{dot}{rest}"
        case Digits.PERCENT if (percent := decimal(size * 100)) is not None:
            plain = f"{percent}{chr(92) * latex}%"
        case Digits.SCIENTIFIC if size:
            plain = _scientific(size, latex, code) or plain
        case Digits.MIXED if size > 1 and bottom > 1:
            plain = f"{top // bottom}\\frac{{{top % bottom}}}{{{bottom}}}"
        case Digits.DISPLAYED if bottom > 1:
            plain = f"\\dfrac{{{top}}}{{{bottom}}}"
        case Digits.FRACTION | Digits.MIXED if bottom > 1:
            plain = fraction
    return sign + plain


def _scientific(size: Fraction, latex: bool, code: bool) -> str | None:
    power = len(str(size.numerator)) - len(str(size.denominator))
    power -= size < Fraction(10) ** power
    mantissa = decimal(size / Fraction(10) ** power)
    times = " \\times " if latex else "×"
    shown = f"{mantissa}e{power}" if code else f"{mantissa}{times}10^{{{power}}}"
    return None if mantissa is None else shown


def digit_forms(value: Fraction) -> Iterator[Digits]:
    """The customary forms in digits that differ for this value."""
    size, shown = abs(value), decimal(value)
    broken = size.denominator > 1
    if shown is not None:
        yield from (Digits.PLAIN, Digits.ZEROS)
        if size >= 1000:
            yield Digits.GROUPED
        if size and (size >= 10_000 or size < Fraction(1, 100)) and len(str(size.numerator)) < 20:
            yield Digits.SCIENTIFIC
        if broken and size < 1 and decimal(size * 100) is not None:
            yield Digits.PERCENT
    if broken and max(size.numerator, size.denominator) <= _MAX_TERM:
        yield Digits.FRACTION
        if size > 1:
            yield Digits.MIXED
    elif shown is None:
        yield Digits.PLAIN


def spell(value: Fraction, *, chinese: bool, parts: bool = False) -> str | None:
    """A number in words; None if it would be too long.

    With ``parts`` a fraction is written as a fraction, 四分之一, and one half as 一半 or half; else
    as a decimal if it has a short one: 零点一.
    """
    size = abs(value)
    if size > _MAX_SPELLED or (parts and size.denominator == 1):
        return None
    text = (_in_chinese if chinese else _in_english)(size, parts)
    return text and (("负" if chinese else "minus ") if value < 0 else "") + text


def _in_chinese(size: Fraction, parts: bool) -> str | None:
    if size.denominator == 1:
        return _han(int(size))
    if parts and size == Fraction(1, 2):
        return "一半"
    decimals = decimal(size)
    if parts or size.denominator in (3, 4, 5) or decimals is None or len(decimals) > 6:
        small = max(size.numerator, size.denominator) <= _MAX_PART
        return f"{_han(size.denominator)}分之{_han(size.numerator)}" if small else None
    whole, _, digits = decimals.partition(".")
    return f"{_han(int(whole))}点{''.join(HAN_DIGITS[int(d)] for d in digits)}"


def _han(n: int) -> str:
    """A whole number below 10,000 in Chinese words."""
    text = ""
    for size, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, n = divmod(n, size)
        if digit:
            text += HAN_DIGITS[digit] + name
        elif text and n and not text.endswith("零"):
            text += "零"
    return text.removeprefix("一") if text.startswith("一十") else text or "零"


def _in_english(size: Fraction, parts: bool) -> str | None:
    if size.denominator == 1:
        return _written(int(size))
    if parts and size == Fraction(1, 2):
        return "half"
    name = next((word for word, n in PARTS.items() if n == size.denominator), None)
    if name is not None and size.numerator < len(ONES):
        plural = "halves" if name == "half" else f"{name}s"
        return f"{_written(size.numerator)} {name if size.numerator == 1 else plural}"
    decimals = decimal(size)
    if parts or decimals is None or len(decimals) > 5:
        return None
    whole, _, digits = decimals.partition(".")
    return f"{_written(int(whole))} point {' '.join(ONES[int(d)] for d in digits)}"


def _written(n: int) -> str:
    if n < len(ONES):
        return ONES[n]
    size, name = (
        (1000, " thousand ") if n >= 1000 else (100, " hundred ") if n >= 100 else (10, "-")
    )
    above, below = divmod(n, size)
    head = TENS[above] if size == 10 else _written(above)
    return head + (f"{name}{_written(below)}" if below else name.rstrip(" -"))


def closed_form(value: float) -> Node:
    """A float as a short rational multiple of π or of a square root; else as a decimal."""
    size = abs(value)
    for radicand, of in ((0, math.pi), *((n, math.sqrt(n)) for n in _SQUAREFREE)):
        share = Fraction(size / of).limit_denominator(_MAX_BELOW)
        if share and share.numerator < _MAX_ABOVE and close(share * of, size):
            root = Node("root", (_num(Fraction(radicand)), _num(Fraction(2))))
            node = root if radicand else Node("const", name="π")
            if share.numerator > 1:
                node = Node("*", (_num(Fraction(share.numerator)), node))
            if share.denominator > 1:
                node = Node("/", (node, _num(Fraction(share.denominator))))
            return node if value > 0 else Node("neg", (node,))
    return _num(Fraction(repr(value)))


def _num(value: Fraction) -> Node:
    return Node("neg", (_num(-value),)) if value < 0 else Node("num", value=value)
