"""Numbers written in words: 三分之一, 百分之五, 一千二百, 3.2万, twenty-five, two thirds."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "壹": 1,
    "贰": 2,
}
_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE: Final = {"万": 10**4, "亿": 10**8}
_CHINESE = re.compile(
    r"[负]?[零〇一二两三四五六七八九十百千万亿壹贰]+(?:点[零〇一二三四五六七八九]+)?"
)
_SCALED = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)\s*(?P<scale>[十百千]?[万亿]|[百千])")
_ONES: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS: Final = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip


def spelled(text: str) -> Fraction | None:
    """The number that ``text`` as a whole spells, or none. Digits alone are not spelled."""
    text = text.strip()
    if not 0 < len(text) <= 60:
        return None
    if text == "半":
        return Fraction(1, 2)
    if "分之" in text:
        below, _, above = text.partition("分之")
        bottom = Fraction(100) if below == "百" else _chinese(below)
        top = _chinese(above) if not _is_digits(above) else Fraction(above)
        return None if top is None or not bottom else top / bottom
    if match := _SCALED.fullmatch(text):
        return Fraction(match["number"]) * _scale(match["scale"])
    return _chinese(text) if text[0] > "\u3000" else _english(text)


def _is_digits(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", text))


def _scale(text: str) -> int:
    value = 1
    for char in text:
        value *= _SMALL.get(char) or _LARGE[char]
    return value


def _chinese(text: str) -> Fraction | None:
    if not _CHINESE.fullmatch(text):
        return None
    if text[0] == "负":
        value = _chinese(text[1:])
        return None if value is None else -value
    whole, _, decimals = text.partition("点")
    value = _whole(whole)
    if decimals:
        digits = "".join(str(_DIGITS[c]) for c in decimals)
        value += Fraction(int(digits), 10 ** len(digits))
    return value


def _whole(text: str) -> Fraction:
    if all(c in _DIGITS for c in text):  # read digit by digit: 二〇二四
        return Fraction(int("".join(str(_DIGITS[c]) for c in text)))
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _SMALL:
            section += (digit or 1) * _SMALL[char]
            digit = 0
        else:
            total = (total + section + digit) * _LARGE[char]
            section = digit = 0
    return Fraction(total + section + digit)


def _english(text: str) -> Fraction | None:
    words = [w for w in re.split(r"[\s-]+", text.lower()) if w not in ("and", "a", "an")]
    if len(words) > 1 and (
        part := _PARTS.get(words[-1].removesuffix("s")) or _PARTS.get(words[-1])
    ):
        top = _cardinal(words[:-1])
        return None if top is None else top / part
    if len(words) == 1 and words[0] in ("half", "quarter"):
        return Fraction(1, _PARTS[words[0]])
    return _cardinal(words)


def _cardinal(words: list[str]) -> Fraction | None:
    if not words:
        return None
    total = group = 0
    for word in words:
        if word in _ONES:
            group += _ONES[word]
        elif word in _TENS:
            group += _TENS[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in _SCALES:
            total += (group or 1) * _SCALES[word]
            group = 0
        else:
            return None
    return Fraction(total + group)
