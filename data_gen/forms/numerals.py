"""Numbers in words: 三百零五, 三分之一, forty-one, three quarters."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

_HAN_DIGITS: Final = "零一二三四五六七八九"
_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS: Final = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_PARTS: Final = {
    2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth",
    9: "ninth", 10: "tenth",
}  # fmt: skip
MAX_SPELLED: Final = 9_999
"""Nobody writes out a larger number."""


def chinese(value: Fraction) -> str | None:
    """A number in Chinese words; none where it is too long to be written so."""
    if abs(value) > MAX_SPELLED:
        return None
    sign, value = ("负" if value < 0 else ""), abs(value)
    if value.denominator == 1:
        return sign + _han(int(value))
    decimals = decimal(value)
    if decimals is not None and len(decimals) <= 6 and value.denominator not in (2, 3, 4, 5):
        whole, _, part = decimals.partition(".")
        return f"{sign}{_han(int(whole))}点{''.join(_HAN_DIGITS[int(d)] for d in part)}"
    return chinese_fraction(-value if sign else value)


def chinese_fraction(value: Fraction) -> str | None:
    """三分之二; none for terms above one hundred."""
    if max(abs(value.numerator), value.denominator) > 100:
        return None
    sign, value = ("负" if value < 0 else ""), abs(value)
    return f"{sign}{_han(value.denominator)}分之{_han(value.numerator)}"


def _han(n: int) -> str:
    """A whole number below 10,000, as it is read."""
    text = ""
    for size, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, n = divmod(n, size)
        if digit:
            text += _HAN_DIGITS[digit] + name
        elif text and n and not text.endswith("零"):
            text += "零"
    return text.removeprefix("一") if text.startswith("一十") else text or "零"


def english(value: Fraction) -> str | None:
    """A number in English words; none where it is too long to be written so."""
    if abs(value) > MAX_SPELLED:
        return None
    sign, value = ("minus " if value < 0 else ""), abs(value)
    if value.denominator == 1:
        return sign + _whole(int(value))
    part = _PARTS.get(value.denominator)
    if part is not None and value.numerator < 20:
        plural = value.numerator > 1
        part = "halves" if plural and part == "half" else part + "s" * plural
        return f"{sign}{_whole(value.numerator)} {part}"
    decimals = decimal(value)
    if decimals is None or len(decimals) > 5:
        return None
    whole, _, digits = decimals.partition(".")
    return f"{sign}{_whole(int(whole))} point {' '.join(_ONES[int(d)] for d in digits)}"


def _whole(n: int) -> str:
    if n < 20:
        return _ONES[n]
    if n < 100:
        ten, one = divmod(n, 10)
        return _TENS[ten] + (f"-{_ONES[one]}" if one else "")
    size, name = (100, "hundred") if n < 1000 else (1000, "thousand")
    above, below = divmod(n, size)
    if not below:
        return f"{_whole(above)} {name}"
    return f"{_whole(above)} {name} {_whole(below)}"


def decimal(value: Fraction) -> str | None:
    """The exact decimal, without closing zeros; none where there is none of up to eight places."""
    for places in range(9):
        if (value * 10**places).denominator == 1:
            scaled = abs(int(value * 10**places))
            digits = str(scaled).rjust(places + 1, "0")
            text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
            return f"-{text}" if value < 0 else text
    return None
