"""A number with its unit: 5 m/s, 五千克, 50%, 3:4, twelve apples, 1,234.5, 2.5×10^3."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from gradegpt.answers import algebra
from gradegpt.answers.formula import read_formula
from gradegpt.answers.number import may_begin, roman, scaled, spelled
from gradegpt.answers.text import fold
from gradegpt.answers.types import Magnitude, Quantity
from gradegpt.answers.units import CURRENCY, TIGHT, known, named

SHARES: Final = r"%|‰|per ?cent\b|per ?mille\b|pct\b"
"""The names of hundredths and thousandths."""
_UNIT = (
    rf"{SHARES}|"
    r"°C?|℃|元|角|分钟|分|小时|时|秒|天|年|月|米|厘米|分米|毫米|千米|公里|平方米|平方厘米|立方米|立方厘米|千克|克|吨|升|毫升|"
    r"个|只|人|本|支|张|棵|岁|次|块|名|条|页|辆|件|套|度|种|倍|dollars?|cents?|hours?|minutes?|seconds?|days?|weeks?|"
    r"years?|miles?|feet|foot|inch(?:es)?|meters?|metres?|km|cm|mm|m|kg|g|pounds?|ounces?|degrees?|units?|"
    r"square \w+|cubic \w+|cm\^?\{?[23]\}?|m\^?\{?[23]\}?|"
    # Any other plural, but for the words that change the value: "3 halves", "7 times n".
    r"(?!(?:times|plus|less|dozens|tens|hundreds|thousands|[mb]illions|halves|thirds|quarters|"
    r"fourths|fifths|sixths|sevenths|eighths|ninths|tenths|hundredths|thousandths)\b)[a-z]+s"
)
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<body>"
    rf"(?P<whole>\d+)?\s*\\frac\{{(?P<num>-?\d+)\}}\{{(?P<den>\d+)\}}|(?:(?P<of>\d+)\s+)?(?P<n>\d+)\s*/\s*(?P<d>\d+)|"
    rf"(?P<mantissa>\d[\d,]*\.?\d*|\.\d+)(?:\s*[×x*·]\s*10(?:\^|(?!0))\{{?(?P<power>[+-]?\d+)\}}?|e(?P<exp>[+-]?\d+))?)"
    rf"\s*(?P<unit>{_UNIT})?\.?",
    re.IGNORECASE,
)
_MONEY = re.compile(rf"\A(?:{CURRENCY}|US|HK|AU|CA|NT)\s?(?=\d)|(?<=\A-){CURRENCY}(?=\d)")
_IN_BRACKETS = re.compile(
    r"\A([^()]*[\dπ])\s*\(((?:[A-Za-zμµΩ]{2,5}|m)\^?\{?[23]\}?|[\u3400-\u9fff]{1,6})\)\Z"
)
"""A number with its unit in brackets: 64(dm^3)."""
_SHORT_SCALE = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn?)", re.IGNORECASE)
_SCALES: Final = {"k": "thousand", "m": "million", "b": "billion"}
_IN_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS_ONLY = re.compile(r"(?:[\s(][^\d+*/^=<>\\\\:{}]*)?", re.DOTALL)
_MAX_POWER: Final = 400
_MAX_BITS: Final = 1_000
_SHORT: Final = 3
_NUMERIC = re.compile(r"[\dπ√\\]|\bpi\b")
"""A number longer than three characters has one of these, unless it is in words."""
_UNIT_TAIL = re.compile(
    r"(?P<unit>(?:[\u3400-\u9fff]+|°\s*[CF]?|℃|(?<=[\d)}\s])[A-Za-zμµΩ]+(?:\s*\^?\s*\{?-?[1-3]\}?)?)"
    r"(?:(?:\s*[/·*]\s*\(?|-|\s+)[A-Za-zμµΩ\u3400-\u9fff]+(?:\s*\^?\s*\{?-?[1-3]\}?)?\)?)*)\s*$"
)
_COUNTED = re.compile(
    r"[个只人本支张棵岁次块名条页辆件套种倍元角枚头匹座间台盒箱袋瓶杯包组排行列堆批篇首道题步层级户家位朵片粒颗根把"
    r"双对副串顶架艘艇门]{1,2}(?:(?![不没也])[\u3400-\u9fff]){0,3}"
)
"""Chinese measure words, with the short noun that may follow: 个, 本, 个苹果."""
_THING = re.compile(
    r"(?!(?:sin|cos|tan|log|ln|lg|exp|pi|mod|times|plus|minus|less"
    r"|are|was|were|has|have|had|for|but|from|with|than|that|which|who|over|or|and|to"
    r"|dozens?|half|halves|thirds?|quarters?|\w*(?:ths?|hundreds?|thousands?|illions?))\b)"
    r"[A-Za-z]{3,12}"
)
_MEASURED_THING = re.compile(f"{_COUNTED.pattern}|{_THING.pattern}")
_WORD_UNIT = re.compile(rf"-?\d[\d,.]*\s+{_THING.pattern}")
"""A number before a word that is no known unit: 5.93 MiB, 12 cards."""
_HAN_NUMBER = re.compile(r"[负零〇一二两三四五六七八九十百千万亿点分之又半]+")
_PERCENT = re.compile(rf"[-+\d.,/\s]*\\?(?:{SHARES})", re.IGNORECASE)
_SHARE = re.compile(SHARES, re.IGNORECASE)
_RATIO = re.compile(r"([^:∶]{1,24})[:∶]([^:∶]{1,24})")


def quantity(text: str) -> Quantity | None:
    """The number with its unit in the folded ``text``; None if it is none, or exceeds a float."""
    made = _quantity(text)
    return made if made and _has_float(made.value) and _has_float(made.place) else None


def _has_float(value: Magnitude | None) -> bool:
    if not isinstance(value, Fraction) or not value:
        return True
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return abs(bits) < _MAX_BITS


def _quantity(text: str) -> Quantity | None:
    text, money = _MONEY.subn("", _IN_BRACKETS.sub(r"\1 \2", text.strip()))
    if money and (short := _SHORT_SCALE.fullmatch(text)):
        text = f"{short['number']} {_SCALES[short['scale'][0].lower()]}"  # £50m
    percent = bool(_PERCENT.match(text))
    if (large := scaled(text)) is not None:
        size, place, unit = large  # 4.5 billion years: the unit is known, a thing or none
        return Quantity(size, unit, place=place) if not unit or _counts(unit) else None
    if (" per " in text or "Celsius" in text) and (found := _measured(text)):
        return found
    if (plain_number := number(text)) is not None:
        return Quantity(*plain_number, percent, _place(text))
    words = roman(text) if (said := spelled(text)) is None else said
    if words is not None or (len(text) > _SHORT and not _NUMERIC.search(text)):
        return _counted_in_words(text) if words is None else Quantity(Fraction(words))
    if (value := _constant(text)) is not None:
        return Quantity(value, "", percent, _place(text))
    if ratio := _RATIO.fullmatch(text):
        top, bottom = _constant(ratio[1]), _constant(ratio[2])
        if top is not None and bottom:
            return Quantity(top / bottom)
    return _before_a_unit(text, percent) or _counted_in_words(text)


def _counts(unit: str) -> bool:
    """Whether it is a unit, a measure word or the name of a thing."""
    thing = _MEASURED_THING.fullmatch(unit) or _SHARE.fullmatch(unit)
    return known(unit) or named(unit) is not None or bool(thing)


def _before_a_unit(text: str, percent: bool) -> Quantity | None:
    tail = _UNIT_TAIL.search(text)
    rest, unit = (text[: tail.start()].strip(), tail["unit"].strip()) if tail else ("", "")
    if not rest:
        return None
    made: Magnitude | None = spelled(rest)
    if made is None and len(rest) > _SHORT and not _NUMERIC.search(rest):
        return None
    if len(unit) > 1 or not unit.isascii():
        measured = known(unit) or named(unit) is not None
    else:  # a single letter is a unit only in its own case, and mostly after a space
        measured = unit in TIGHT or (text[len(rest)].isspace() and unit in "shtlACFH")
    if not (measured or _COUNTED.fullmatch(unit) or _WORD_UNIT.fullmatch(text)):
        return None
    if made is None:
        made = found[0] if (found := number(rest)) and not found[1] else _constant(rest)
    return None if made is None else Quantity(made, unit, percent, _place(rest))


def _measured(text: str) -> Quantity | None:
    """A number before a unit of several words: 5 metres per second."""
    words = text.split(" ")
    for at in range(1, len(words)):
        if named(unit := " ".join(words[at:])) is not None:
            made = quantity(" ".join(words[:at]))
            return made._replace(unit=unit) if made else None
    return None


def _counted_in_words(text: str) -> Quantity | None:
    """五千克, 两小时, twelve apples, fifty square metres."""
    if text[:1] <= "\u3000":
        words = text.split(" ")
        if not may_begin(words[0]):
            return None
        ends = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(len(words) - 1, 0, -1)]
    else:
        start = _HAN_NUMBER.match(text)
        most = start.end() if start else 0
        ends = [(text[:n], text[n:]) for n in range(most, 0, -1)]
    for rest, unit in ends:
        if _counts(unit) and (value := spelled(rest)) is not None:
            share = _SHARE.fullmatch(unit)
            return (
                Quantity(value / _share(unit), "", percent=True) if share else Quantity(value, unit)
            )
    return None


def _constant(text: str) -> Magnitude | None:
    tree = read_formula(text)
    return None if tree is None else algebra.constant(tree)


_WRITTEN = re.compile(
    r"-?\s*\d[\d,]*\.(?P<decimals>\d+)(?:\s*(?:[×x*·]|\\times)\s*10\^\{?(?P<power>[+-]?\d{1,3})\}?|e(?P<exp>[+-]?\d{1,3}))?",
    re.IGNORECASE,
)


def _place(text: str) -> Fraction | None:
    match = _WRITTEN.match(text)
    if match is None:
        return None
    power = int(match["power"] or match["exp"] or 0) - len(match["decimals"])
    return Fraction(10) ** power / (_share(text.split()[-1]) if _PERCENT.match(text) else 1)


def number(text: str) -> tuple[Fraction, str] | None:
    r"""An exact rational number and the unit after it, or ""; None for any other text.

    It reads ``1,234.5``, ``3/4``, ``1\frac{1}{2}``, ``50%``, ``2.5×10^3``, ``$18``, ``18 dollars``.
    Words may follow (``8 tablespoons in total``); more mathematics may not.
    """
    text = fold(text).strip(" ,;*=≈").rstrip(" .,;*=≈")
    match = _NUMBER.match(text)
    if match is None or len(text) > 60 or not _WORDS_ONLY.fullmatch(text, match.end()):
        return None
    if (size := _in_digits(match)) is None:
        return None
    unit = match["unit"] or ""
    value = -size if match["sign"] == "-" else size
    return (value / _share(unit), "") if _SHARE.fullmatch(unit) else (value, unit)


def _share(unit: str) -> int:
    return 1000 if unit.endswith(("‰", "e")) else 100


def _in_digits(match: re.Match[str]) -> Fraction | None:
    if bottom := match["den"] or match["d"]:
        part = Fraction(int(match["num"] or match["n"]), int(bottom)) if int(bottom) else None
        return None if part is None else int(match["whole"] or match["of"] or 0) + part
    mantissa = match["mantissa"]
    if "," in mantissa and not _IN_GROUPS.fullmatch(mantissa):
        return None
    power = int(match["power"] or match["exp"] or 0)
    if abs(power) > _MAX_POWER:
        return None
    return Fraction(mantissa.replace(",", "").rstrip(".")) * Fraction(10) ** power
