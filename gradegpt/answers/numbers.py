"""Numbers in digits and in words: 1,234.5, 3/4, 50%, 三分之一, 3.2万, twenty-five, two thirds."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_UNIT = (
    r"%|°C?|℃|元|角|分钟|分|小时|时|秒|天|年|月|米|厘米|分米|毫米|千米|公里|平方米|平方厘米|立方米|立方厘米|千克|克|吨|升|毫升|"
    r"个|只|人|本|支|张|棵|岁|次|块|名|条|页|辆|件|套|度|种|倍|dollars?|cents?|hours?|minutes?|seconds?|days?|weeks?|"
    r"years?|miles?|feet|foot|inch(?:es)?|meters?|metres?|km|cm|mm|m|kg|g|pounds?|ounces?|degrees?|units?|percent|"
    r"square \w+|cubic \w+|cm\^?\{?[23]\}?|m\^?\{?[23]\}?|"
    # Any other plural, but for the words that change the value: "3 halves", "7 times n".
    r"(?!(?:times|plus|less|dozens|tens|hundreds|thousands|[mb]illions|halves|thirds|quarters|"
    r"fourths|fifths|sixths|sevenths|eighths|ninths|tenths|hundredths|thousandths)\b)[a-z]+s"
)
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:[$¥￥€£]\s*)?(?P<body>"
    rf"(?P<whole>\d+)?\s*\\frac\{{(?P<num>-?\d+)\}}\{{(?P<den>\d+)\}}|(?P<n>\d+)\s*/\s*(?P<d>\d+)|"
    rf"(?P<mantissa>\d[\d,]*\.?\d*|\.\d+)(?:\s*[×x*·]\s*10\^?\{{?(?P<power>[+-]?\d+)\}}?|e(?P<exp>[+-]?\d+))?)"
    rf"\s*(?P<unit>{_UNIT})?\.?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS_ONLY = re.compile(r"(?:[\s(][^\d+*/^=<>\\\\:{}]*)?", re.DOTALL)
_MAX_POWER: Final = 400


class Amount(NamedTuple):
    """An exact value, percent already applied, and the unit behind it as written, or empty."""

    value: Fraction
    unit: str


def number(text: str) -> Amount | None:
    r"""Read an exact rational, or none.

    Such as ``1,234.5``, ``3/4``, ``1\frac{1}{2}``, ``50%``, ``2.5×10^3``, ``$18``, ``18 dollars``.
    Words may follow (``8 tablespoons in total``), further mathematics may not.
    """
    text = fold(text).strip(" ,;*=≈").rstrip(" .,;*=≈")
    match = _NUMBER.match(text)
    if match is None or len(text) > 60 or not _WORDS_ONLY.fullmatch(text, match.end()):
        return None
    value = _value(match)
    if value is None:
        return None
    unit = match["unit"] or ""
    if unit.lower() in ("%", "percent"):
        value, unit = value / 100, ""
    return Amount(-value if match["sign"] == "-" else value, unit)


def _value(match: re.Match[str]) -> Fraction | None:
    if match["den"] is not None or match["d"] is not None:
        numerator, denominator = (
            (match["num"], match["den"]) if match["den"] else (match["n"], match["d"])
        )
        return (
            None
            if int(denominator) == 0
            else int(match["whole"] or 0) + Fraction(int(numerator), int(denominator))
        )
    mantissa = match["mantissa"]
    if "," in mantissa and not _GROUPED.fullmatch(mantissa):
        return None
    power = int(match["power"] or match["exp"] or 0)
    if abs(power) > _MAX_POWER:
        return None
    return Fraction(mantissa.replace(",", "").rstrip(".")) * Fraction(10) ** power


# --- in words ------------------------------------------------------------------------------------

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
    unit = 1
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
            unit = 1 if char in "零〇" else unit
        elif char in _SMALL:
            section += (digit or 1) * _SMALL[char]
            digit, unit = 0, _SMALL[char]
        else:
            size, unit = _LARGE[char], _LARGE[char]
            whole = total if total >= size else 0  # 三亿五千万: the 亿 is not of the 万
            total = whole + (total - whole + section + digit) * size
            section = digit = 0
    if digit and unit > 10 and text[-1] in _DIGITS:
        digit *= unit // 10  # 一万二 is 12,000
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
