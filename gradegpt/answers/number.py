"""Reading numbers in words: 负三又二分之一, 3.2万, two and a half."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import pairwise
from typing import Final

HAN_DIGITS: Final = "零一二三四五六七八九"
_DIGITS: Final = {c: n for n, c in enumerate(HAN_DIGITS)} | {"〇": 0, "两": 2, "壹": 1, "贰": 2}
_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE: Final = {"万": 10**4, "亿": 10**8}
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿壹贰]+(?:点[零〇一二三四五六七八九]+)?")
_TAEL = re.compile(r"(?<=[零一二三四五六七八九十百千])两(?![百千万亿])")
"""A unit of mass after its number: 四两."""
_SCALED = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)\s*(?P<scale>[十百千]?[万亿]|[百千])")
ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
TENS: Final = (
    "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_VALUES: Final = {word: 10 * n for n, word in enumerate(TENS) if word} | {
    w: n for n, w in enumerate(ONES)
}
SCALES: Final = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
PARTS: Final = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "halves": 2, "fourth": 4,
}  # fmt: skip
_SIZED = re.compile(
    rf"(?P<number>-?\d[\d,]*(?:\.\d+)?)(?:[\s-]?(?P<scale>hundred|{'|'.join(SCALES)})\b"
    rf"|\s*(?P<han>[十百千]?[万亿]))(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ROMAN = re.compile("(?=..)(?:XL|L?X{0,3})(?:I[XV]|V?I{0,3})")
_ROMANS: Final = {"I": 1, "V": 5, "X": 10, "L": 50}
_BEGINS: Final = {*_VALUES, *SCALES, *PARTS, "a", "an", "hundred", "point", "minus", "negative"}


def may_begin(word: str) -> bool:
    """Whether a number in English words may begin with the word."""
    return word[:1] in "-0123456789" or word.split("-")[0].lower() in _BEGINS


def spelled(text: str) -> Fraction | None:
    """The number that the whole ``text`` spells; None for any other text, and for digits alone."""
    text = text.strip()
    if not 0 < len(text) <= 60:
        return None
    if turned := re.match(r"负|(?:minus|negative)\s+", text, re.IGNORECASE):
        size = spelled(text[turned.end() :])
        return None if size is None else -size
    if text in ("半", "一半"):
        return Fraction(1, 2)
    if "分之" in text:
        return _chinese_fraction(*text.split("分之", 1))
    if match := _SCALED.fullmatch(text):
        return Fraction(match["number"]) * scale(match["scale"])
    if text[0] > "\u3000":
        return _chinese(text)
    lowered = text.lower()
    return _english(lowered) if may_begin(lowered.split(None, 1)[0]) else None


def scaled(text: str) -> tuple[Fraction, Fraction | None, str] | None:
    """The number, its last written place and what follows: ``4.5 billion years``, 3.6亿元."""
    match = _SIZED.match(text)
    if match is None:
        return None
    number, han, word = match["number"].replace(",", ""), match["han"], match["scale"]
    size = scale(han) if han else {"hundred": 100, **SCALES}[word.lower()]
    decimals = len(number.partition(".")[2])
    place = Fraction(size, 10**decimals) if decimals else None
    return Fraction(number) * size, place, match["rest"].strip(" -")


def roman(text: str) -> int | None:
    """The value of a Roman numeral below 90 of two or more letters; C, D, M are other things."""
    if not _ROMAN.fullmatch(text):
        return None
    sizes = [_ROMANS[letter] for letter in text]
    return sum(-a if a < b else a for a, b in pairwise([*sizes, 0]))


def _chinese_fraction(below: str, above: str) -> Fraction | None:
    """三分之二, 一又三分之二, 百分之35."""
    whole, _, below = below.rpartition("又")
    more = _chinese(whole) if whole else Fraction(0)
    bottom = Fraction(100) if below == "百" else _chinese(below)
    top = Fraction(above) if re.fullmatch(r"\d+(?:\.\d+)?", above) else _chinese(above)
    return None if top is None or more is None or not bottom else more + top / bottom


def scale(text: str) -> int:
    """The size of a Chinese word such as 千万."""
    return math.prod(_SMALL.get(char) or _LARGE[char] for char in text)


def _chinese(text: str) -> Fraction | None:
    if not _CHINESE.fullmatch(text) or _TAEL.search(text):
        return None
    whole, _, decimals = text.partition("点")
    value = _whole(whole)
    if decimals and value is not None:
        digits = "".join(str(_DIGITS[c]) for c in decimals)
        value += Fraction(int(digits), 10 ** len(digits))
    return value


def _whole(text: str) -> Fraction | None:
    if all(c in _DIGITS for c in text):  # read digit by digit: 二〇二四
        return Fraction(int("".join(str(_DIGITS[c]) for c in text)))
    total = section = digit = 0
    last, unit = 10**4, 1
    for before, char in zip(" " + text, text, strict=False):
        if char in _DIGITS:
            digit = _DIGITS[char]
            unit = 1 if char in "零〇" else unit
        elif char in _SMALL:
            if _SMALL[char] >= last or before in "零〇万亿":
                return None  # in 二十千克 and 三万千克 the 千 belongs to the unit
            last = unit = _SMALL[char]
            section += (digit or 1) * last
            digit = 0
        else:
            size = unit = _LARGE[char]
            whole = total if total >= size else 0  # 三亿五千万: 万 does not multiply the 亿
            total = whole + (total - whole + section + digit) * size
            section, digit, last = 0, 0, 10**4
    if digit and unit > 10 and text[-1] in _DIGITS:
        digit *= unit // 10  # 一万二 is 12,000
    return Fraction(total + section + digit)


def _english(text: str) -> Fraction | None:
    words = [w for w in re.split(r"[\s-]+", text) if w not in ("a", "an")]
    if "point" in words:
        at = words.index("point")
        whole = _cardinal(words[:at]) if at else Fraction(0)
        digits = [_VALUES.get(word, 10) for word in words[at + 1 :]]
        if whole is None or max(digits, default=10) > 9:
            return None
        return whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits))
    part = PARTS.get(words[-1]) or PARTS.get(words[-1].removesuffix("s")) if words else None
    if part is None:
        return _cardinal(words)
    at = len(words) - 1 - words[::-1].index("and") if "and" in words else -1
    more = _cardinal(words[:at]) if at > 0 else Fraction(0)
    top = _cardinal(words[at + 1 : -1]) if words[at + 1 : -1] else Fraction(1)
    return None if top is None or more is None else more + top / part


def _cardinal(words: list[str]) -> Fraction | None:
    if not words:
        return None
    total = group = 0
    for before, word in pairwise(["", *words]):
        if word == "and" and (before == "hundred" or before in SCALES):
            continue  # "two hundred and five"; "two and five" are two numbers
        if word in _VALUES:
            if group % (100 if _VALUES[word] > 9 else 10):
                return None  # "two three" is not a number
            group += _VALUES[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in SCALES:
            total += (group or 1) * SCALES[word]
            group = 0
        else:
            return None
    return Fraction(total + group)
