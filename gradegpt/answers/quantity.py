"""A number with its unit, as a whole answer: 5 m/s, 五千克, 50%, 3:4, twelve apples, 2.5×10^3."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from gradegpt.answers import algebra
from gradegpt.answers.formula import read_formula
from gradegpt.answers.number import may_begin, numeral, roman, spelled
from gradegpt.answers.text import fold
from gradegpt.answers.types import Magnitude, Quantity
from gradegpt.answers.units import CURRENCY, TIGHT, known, named, unit_at

SHARES: Final = r"%|‰|per ?cent\b|per ?mille\b|pct\b"
"""The names of hundredths and thousandths."""
_SHARE = re.compile(SHARES, re.IGNORECASE)
_MONEY = re.compile(rf"\A(?:{CURRENCY}|US|HK|AU|CA|NT)\s?(?=\d)|(?<=\A-){CURRENCY}(?=\d)")
_SHORT_SCALE = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn?)", re.IGNORECASE)
_SCALES: Final = {"k": "thousand", "m": "million", "b": "billion"}
_NUMERIC = re.compile(r"[\dπ√\\]|\bpi\b")
"""A number longer than three characters has one of these, unless it is in words."""
_SHORT: Final = 3
_COUNTED = re.compile(
    r"[个只人本支张棵岁次块名条页辆件套种倍元角枚头匹座间台盒箱袋瓶杯包组排行列堆批篇首道题步层级户家位朵片粒颗根把"
    r"双对副串顶架艘艇门]{1,2}(?:(?![不没也])[\u3400-\u9fff]){0,3}"
)
"""Chinese measure words, with the short noun that may follow: 个, 本, 个苹果."""
_COUNT_WORD = re.compile("[元角分时天年月个只人本支张棵岁次块名条页辆件套度种倍]")
_FRACTION = re.compile(r"(?<![\d\s])(?<!\d )\\frac\{(\d+)\}\{(\d+)\}")
_THING = re.compile(
    r"(?!(?:sin|cos|tan|log|ln|lg|exp|pi|mod|times|plus|minus|less|tens"
    r"|are|was|were|has|have|had|for|but|from|with|than|that|which|who|over|or|and|to"
    r"|dozens?|half|halves|thirds?|quarters?|\w*(?:ths?|hundreds?|thousands?|illions?))\b)"
    r"(?:(?:square|cubic) )?[A-Za-z]{3,12}"
)
_WORDS_ONLY = re.compile(r"(?:\.?[\s(][^\d+*/^=<>\\:{}]*)?", re.DOTALL)
_UNIT_TAIL = re.compile(
    r"(?P<unit>(?:[\u3400-\u9fff]+|°\s*[CF]?|℃|(?<=[\d)}\s])[A-Za-zμµΩ]+(?:\s*\^?\s*\{?-?[1-3]\}?)?)"
    r"(?:(?:\s*[/·*]\s*\(?|-|\s+)[A-Za-zμµΩ\u3400-\u9fff]+(?:\s*\^?\s*\{?-?[1-3]\}?)?\)?)*)\s*$"
)
_HAN_NUMBER = re.compile(r"[负零〇一二两三四五六七八九十百千万亿点分之又半]+")
_MAX_BITS: Final = 1_000
_LONGEST: Final = 300


def quantity(text: str) -> Quantity | None:
    """The number with its unit in the folded ``text``; None if it is none, or exceeds a float."""
    made = _quantity(text) if len(text) <= _LONGEST else None
    return made if made and _has_float(made.value) and _has_float(made.place) else None


def _has_float(value: Magnitude | None) -> bool:
    if not isinstance(value, Fraction) or not value:
        return True
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return abs(bits) < _MAX_BITS


def number(text: str) -> tuple[Fraction, str] | None:
    """The exact number in figures and the unit after it, or ""; None for any other text."""
    made = _in_figures(text)
    return (made.value, made.unit) if made and isinstance(made.value, Fraction) else None


def _quantity(text: str) -> Quantity | None:
    text, money = _MONEY.subn("", text.strip())
    if money and (short := _SHORT_SCALE.fullmatch(text)):
        text = f"{short['number']} {_SCALES[short['scale'][0].lower()]}"  # £50m
    said = spelled(text)
    if said is None and (made := _in_figures(text)) is not None:
        return made
    words = roman(text) if said is None else said
    if words is not None or (len(text) > _SHORT and not _NUMERIC.search(text)):
        return _counted_in_words(text) if words is None else Quantity(Fraction(words))
    if (made := _constant(text)) is not None:
        return made
    top, colon, bottom = text.replace("∶", ":").partition(":")
    if colon and (above := _constant(top)) and (below := _constant(bottom)) and below.value:
        return Quantity(above.value / below.value)
    return _before_a_unit(text) or _counted_in_words(text)


def _in_figures(text: str) -> Quantity | None:
    """A number in figures, its unit, and words that may follow: 8 tablespoons in total."""
    text = _FRACTION.sub(r"\1/\2", fold(text).strip(" ,;*=≈").rstrip(" .,;*=≈"))
    if text[:1] in ("+", "-"):
        text = text[0] + text[1:].lstrip()
    found = numeral(text)
    if found is None or found.rough or len(text) > 60 or (unit := _unit(text[found.end :])) is None:
        return None
    return _with_unit(found.value, unit, found.place)


def _with_unit(value: Fraction, unit: str, place: Fraction | None = None) -> Quantity:
    if not _SHARE.fullmatch(unit):
        return Quantity(value, unit, place=place)
    share = 1000 if unit.endswith(("‰", "e")) else 100
    return Quantity(value / share, "", True, place and place / share)


def _unit(rest: str) -> str | None:
    """The unit that follows a number: "" where nothing does, None where it is no unit."""
    unit = rest.strip()
    if not unit or _measures(unit, rest) or _SHARE.fullmatch(unit):
        return unit
    if unit[0] == "-" and _measures(unit[1:], ""):
        return unit[1:]
    if (unit[0], unit[-1]) == ("(", ")") and _measures(unit[1:-1], ""):
        return unit[1:-1]  # 64(dm^3)
    if rest[0].isspace() and _THING.fullmatch(unit):
        return unit
    at = unit_at(rest)
    head = rest[: at[1]].strip() if at else ""
    if not head or not _measures(head, ""):
        word = _SHARE.match(unit) or _COUNT_WORD.match(unit) or _THING.match(unit)
        head = word[0] if word and (word.re is not _THING or word[0][-1] == "s") else ""
    more = rest[rest.find(head) + len(head) :] if head else rest.lstrip()
    said = _WORDS_ONLY.fullmatch(more) and (head or more[0] == "(")
    return head if said else None


def _measures(unit: str, rest: str) -> bool:
    """Whether ``rest``, which follows a number, begins with a unit or a measure word."""
    if len(unit) == 1 and unit.isascii():
        # a single letter is a unit only in its own case, and mostly after a space
        return unit in TIGHT + "M" or (rest[:1].isspace() and unit in "shtlACFH")
    if unit[:1] in ("", "(") or unit.count("(") != unit.count(")"):
        return False
    return known(unit) or named(unit) is not None or _COUNTED.fullmatch(unit) is not None


def _counts(unit: str) -> bool:
    """Whether it is a unit, a measure word or the name of a thing."""
    return bool(_measures(unit, " ") or _THING.fullmatch(unit) or _SHARE.fullmatch(unit))


def _before_a_unit(text: str) -> Quantity | None:
    """A constant and its unit: 2π cm, √3米."""
    tail = _UNIT_TAIL.search(text)
    rest = text[: tail.start()].strip() if tail else ""
    after = text[len(rest) :]
    unit = after.strip()
    if not rest or not _measures(unit, after) or not (_NUMERIC.search(rest) or len(rest) < _SHORT):
        return None
    return _constant(rest, unit)


def _counted_in_words(text: str) -> Quantity | None:
    """五千克, 两小时, twelve apples, fifty square metres."""
    if text[:1] <= "\u3000":
        words = text.split(" ")
        if not may_begin(words[0]):
            return None
        ends = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(len(words) - 1, 0, -1)]
    else:
        start = _HAN_NUMBER.match(text)
        ends = [(text[:n], text[n:]) for n in range(start.end() if start else 0, 0, -1)]
    for rest, unit in ends:
        if (value := spelled(rest)) is not None and _counts(unit):
            return _with_unit(value, unit)
    return None


def _constant(text: str, unit: str = "") -> Quantity | None:
    """The value of a formula without unknowns."""
    tree = read_formula(text)
    value = None if tree is None else algebra.constant(tree)
    found = numeral(text)
    return None if value is None else Quantity(value, unit, place=found and found.place)
