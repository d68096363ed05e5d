"""Numbers in figures and words of two languages: 3.2万, 2.5×10^3, 负三又二分之一, half a dozen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

HAN_DIGITS: Final = "零一二三四五六七八九"
_DIGITS: Final = {c: n for n, c in enumerate(HAN_DIGITS)} | {"〇": 0, "两": 2, "壹": 1, "贰": 2}
_SIZES: Final = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
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
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
PARTS: Final = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "halves": 2, "fourth": 4,
}  # fmt: skip
_NAMES: Final = {*_VALUES, *SCALES, *PARTS, "hundred", "point"}
_NAME: Final = "|".join(sorted(_NAMES, reverse=True))
_BEGINS: Final = {*_NAMES, "a", "an", "minus", "negative"}
_ROMANS: Final = {
    tens + ones: 10 * n + m
    for n, tens in enumerate(("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX"))
    for m, ones in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if len(tens + ones) > 1
}
"""Roman numerals of two or more letters; C, D, M are other things."""
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿壹贰]+(?:点[零〇一二三四五六七八九]+)?")
_TAEL = re.compile(r"(?<=[零一二三四五六七八九十百千])两(?![百千万亿])")
"""A unit of mass after its number: 四两."""


def may_begin(word: str) -> bool:
    """Whether a number in English words may begin with the word."""
    return word[:1] in "-0123456789" or word.split("-")[0].lower() in _BEGINS


def roman(text: str) -> int | None:
    """The value of a Roman numeral below 90 of two or more letters."""
    return _ROMANS.get(text)


def spelled(text: str) -> Fraction | None:
    """The number that the whole ``text`` spells; None for any other text, and for digits alone."""
    text = text.strip()
    if not 0 < len(text) <= 60:
        return None
    for sign in ("负", "minus ", "negative "):
        if text.lower().startswith(sign):
            size = spelled(text[len(sign) :])
            return None if size is None else -size
    if text in ("半", "一半"):
        return Fraction(1, 2)
    if "分之" in text:
        return _chinese_fraction(*text.split("分之", 1))
    if text[0] > "\u3000":
        return _chinese(text)
    if share := _OUT_OF.fullmatch(text):  # 1 in 6
        top, bottom = map(int, share.groups())
        return Fraction(top, bottom) if top <= bottom else None
    if text[0].isdigit():  # 3.2万
        figures = text.rstrip("十百千万亿 ")
        scaled = _FIGURES.fullmatch(figures) if figures != text else None
        return Fraction(figures) * _scale(text[len(figures) :].strip()) if scaled else None
    lowered = text.lower()
    return _english(lowered) if may_begin(lowered.split(None, 1)[0]) else None


_FIGURES = re.compile(r"\d+(?:\.\d+)?")
_OUT_OF = re.compile(r"(\d{1,9}) (?:in|out of)(?: every)? ([1-9]\d{0,8})", re.IGNORECASE)


def _scale(text: str) -> int:
    """The size of a Chinese word such as 千万."""
    made = 1
    for char in text:
        made *= _SIZES[char]
    return made


def _chinese_fraction(below: str, above: str) -> Fraction | None:
    """三分之二, 一又三分之二, 百分之35."""
    whole, _, below = below.rpartition("又")
    more = _size(whole) if whole else Fraction(0)
    bottom, top = Fraction(100) if below == "百" else _size(below), _size(above)
    return None if top is None or more is None or not bottom else more + top / bottom


def _size(text: str) -> Fraction | None:
    return Fraction(text) if _FIGURES.fullmatch(text) else _chinese(text)


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
        elif char in "十百千":
            if _SIZES[char] >= last or before in "零〇万亿":
                return None  # in 二十千克 and 三万千克 the 千 belongs to the unit
            last = unit = _SIZES[char]
            section += (digit or 1) * last
            digit = 0
        else:
            size = unit = _SIZES[char]
            whole = total if total >= size else 0  # 三亿五千万: 万 does not multiply the 亿
            total = whole + (total - whole + section + digit) * size
            section, digit, last = 0, 0, 10**4
    if digit and unit > 10 and text[-1] in _DIGITS:
        digit *= unit // 10  # 一万二 is 12,000
    return Fraction(total + section + digit)


def _english(text: str) -> Fraction | None:
    for between in (" out of ", " in ", " of "):
        if between in text:  # six out of ten, half of a million
            one, other = map(_english, text.split(between, 1))
            if one is None or other is None or one >= (1 if between == " of " else other):
                return None
            return one * other if between == " of " else one / other
    words = [w for w in text.replace("-", " ").split() if w not in ("a", "an")]
    if "point" in words:
        at = words.index("point")
        whole = _cardinal(words[:at]) if at else Fraction(0)
        digits = [_VALUES.get(word, 10) for word in words[at + 1 :]]
        if whole is None or max(digits, default=10) > 9:
            return None
        return whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits))
    if words[:1] == ["half"] and len(words) > 1:  # half a dozen
        of = _cardinal(words[1:])
        return of and of / 2
    if words and 10 <= (century := _VALUES.get(words[0], 0)) <= 20:  # nineteen eighty-four
        year = _cardinal(words[1:])
        if year and 10 <= year < 100:
            return century * 100 + year
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
            if group % (100 if _VALUES[word] > 9 or group % 100 < 20 else 10):
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


# --- numbers within a text ------------------------------------------------------------------------


class Numeral(NamedTuple):
    """A number in a text: ``place`` is the size of its last decimal, ``rough`` for 六十多."""

    start: int
    end: int
    value: Fraction
    place: Fraction | None = None
    rough: bool = False
    in_words: bool = False


_HAN: Final = (
    r"(?:[零〇一二三四五六七八九十百万亿点半]|千(?!(?<=[十百千万亿]千)[米克瓦帕焦牛伏赫安])"
    r"|(?<![零〇一二三四五六七八九十百千])两|两(?=[百千万亿]))+"
)
"""A number in characters; 两 after a number is a unit of mass, 千 in 三万千米 a part of one."""
_SIZED: Final = "(?:[十百千]?[万亿]|[百千])"
_NUMERAL = re.compile(
    r"(?P<sign>(?:(?<![\w)])|(?<=[为是于到至约达]))-|\A\+|负|零下|minus )?"
    rf"(?:(?P<mixed>(?<![\d.])\d\d?{_SIZED}(?:零?\d\d?(?:{_SIZED}|十))+(?:零?\d(?![\d.]))?)"
    r"|(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|(?:\A|(?<=[\s=(,$]))\.\d+)"
    r"(?:(?:\s?[×x*·]\s?10(?:\^|(?!0))\{?|e(?=[-+\d]))(?P<power>[+-]?\d{1,9})\}?"
    r"|(?P<over>[¼-¾⅐-⅞]|\s*\\frac\{\d{1,99}\}\{\d{1,99}\}| \d{1,99} ?/ ?\d{1,99}(?![\d/])"
    r"|\s?/\s?\d{1,99}(?![\d/]|\.\d))"
    r"|\s?(?P<han>[十百千]?(?:万亿|[万亿])|百(?!帕)|千(?![克米瓦帕焦牛伏赫安卡]))"
    rf"|(?P<scale>(?:[\s-]?(?:hundred|{'|'.join(SCALES)})\b)+))?(?P<half> and a half\b)?"
    rf"|(?P<words>{_HAN}(?:又{_HAN})?分之(?:[\d.]+|{_HAN})|{_HAN}))(?P<more>[多余来几][万亿]?)?",
    re.IGNORECASE,
)
_RUN = re.compile(
    rf"\b(?<![a-z]-)(?!point)(?:an? |minus |negative )?(?:(?:{_NAME})(?:th)?s?)"
    rf"(?:(?:\s+|-)(?:(?:and|in|out|of|an?)\s+){{0,2}}(?:{_NAME})(?:th)?s?){{0,11}}\b(?!-[a-z])",
    re.IGNORECASE,
)
"""Words that may together be a number."""
_FORMS: Final = {name + end for name in _NAMES for end in ("", "s", "th", "ths")}
"""Every run has one of these words, which are cheaper to look for."""
_SIGNS = re.compile(r"[\d¼-¾⅐-⅞零〇一二两三四五六七八九十百千万亿半点]")
_NOT_ALONE: Final = (
    "second", "seconds", "minute", "score", "point", "third", "fourth", "fifth", "one", "quarter",
    "half", "zero", "hundred", "thousand",
)  # fmt: skip
"""Words that are a number only together with others, or before a unit: half a kilo."""
_MOST_POWER: Final = 400


def numeral(text: str) -> Numeral | None:
    """The number in figures with which the text begins."""
    found = _NUMERAL.match(text)
    return _read(found) if found and (found["digits"] or found["mixed"]) else None


def numerals(text: str) -> Iterator[Numeral]:
    """The numbers of a running text, those in figures or characters first."""
    for found in _NUMERAL.finditer(text) if _SIGNS.search(text) else ():
        if (made := _read(found)) is not None:
            yield made
    at = 0
    spelled_out = not _FORMS.isdisjoint(re.findall("[a-z]+", text.lower()))
    while run := _RUN.search(text, at) if spelled_out else None:
        start, words = run.start(), [*re.finditer(r"[a-z]+(?:-[a-z]+)*", run[0], re.IGNORECASE)]
        at = start + words[0].end()
        ends = (start + word.end() for word in words[::-1])
        read = ((end, spelled(text[start:end])) for end in ends)
        end, value = next(((end, value) for end, value in read if value is not None), (at, None))
        if value is not None:
            at = end
            yield Numeral(start, end, value, in_words=True)


def needs_a_unit(words: str) -> bool:
    """Whether words such as one, half or second are a number only before a unit."""
    return words.lower() in _NOT_ALONE


def _read(found: re.Match[str]) -> Numeral | None:
    digits, words, more = (found["digits"] or "").replace(",", ""), found["words"], found["more"]
    size, power = Fraction(_scale((more or "")[1:])), int(found["power"] or 0)
    words = words or re.sub(r"\d\d?", _in_characters, found["mixed"] or "")  # 1千2百
    if words:
        half = len(words) > 1 and words[-1] == "半" and words != "一半"
        value = spelled(words[:-1] if half else words)
        value = value + Fraction(1, 2) if half and value is not None else value
    elif len(digits) > _MOST_POWER or abs(power) > _MOST_POWER:
        return None
    else:
        size *= Fraction(10) ** power * _scale(found["han"] or "")
        for word in (found["scale"] or "").lower().replace("-", " ").split():
            size *= {"hundred": 100, **SCALES}[word]
        over = re.findall(r"\d+", unicodedata.normalize("NFKC", found["over"] or ""))
        value = _over(Fraction(digits) + Fraction(1, 2) * bool(found["half"]), *map(int, over))
    if value is None:
        return None
    sign = -1 if found["sign"] and found["sign"][0] != "+" else 1
    decimals = len(digits.partition(".")[2])
    place = size / 10**decimals if decimals else None
    return Numeral(*found.span(), sign * value * size, place, bool(more))


def _in_characters(figures: re.Match[str]) -> str:
    tens, ones = divmod(int(figures[0]), 10)
    return f"{HAN_DIGITS[tens]}十" * bool(tens) + HAN_DIGITS[ones] * bool(ones or not tens)


def _over(figures: Fraction, *below: int) -> Fraction | None:
    """With what follows the figures: the bottom of a fraction, or top and bottom after a whole."""
    if not below:
        return figures
    *top, bottom = below
    if not bottom:
        return None
    return figures + Fraction(top[0], bottom) if top else figures / bottom
