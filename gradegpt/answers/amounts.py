"""Quantities anywhere in a running text of either language, in base units.

"Adding the halves, it took in 360 million yuan" and 3.6亿元 have the same amount, 360,000,000 yuan.
``numerals`` finds the numbers, ``units`` the units after them; dates, times, discounts and
multiples are read by ``spoken_in``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from gradegpt.answers import units
from gradegpt.answers.number import Numeral, needs_a_unit, numerals
from gradegpt.answers.text import fold
from gradegpt.answers.times import TIME, spoken_in
from gradegpt.answers.units import COUNT, CURRENCY, SHARE, YEAR, Unit, unit_at, unit_called


class Amount(NamedTuple):
    """A quantity in a text: what it measures, its size in the base unit, and how it is said.

    ``unit`` is the size of the unit in which it is written, ``place`` that of its last decimal.
    ``rough`` if a word such as about or 左右 is with it; ``side`` is 1 for more than the number, -1
    for less; ``half`` is the half of the day of a time, if that is said.
    """

    start: int
    end: int
    measures: str
    value: Fraction
    unit: Fraction = Fraction(1)
    rough: bool = False
    place: Fraction | None = None
    side: int = 0
    half: str = ""

    @property
    def number(self) -> Fraction:
        """The number before the unit."""
        return self.value / self.unit


_MONEY_BEFORE = re.compile(rf"{CURRENCY}\s?\Z")
_SUPERSCRIPTS: Final = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_IN_A_NAME = re.compile(
    r"(?:[A-Za-z_.]|[A-Za-z]-|[氢氦锂硼碳氮氧氟钠磷硫氯钾钙铁钴锶碘铯镭铀钚]-)\Z"
)
"""What stands before figures that belong to a name: CO2, 碳-14."""
_IN_A_WORD = re.compile(
    r".(?:角[形板洲]|角函|边形|棱[锥柱台]|面体|次[函方多根]|元[一二三]次|维|国(?=[演志时鼎]))"
    r"|一(?:[些样起直般切定旦共致同面边方再位种点来者则度]|\S{0,3}[也都][不没])"
)
"""A character that is part of a word: 三角形, 二次函数, 一些, 一个也不剩."""
_MORE_OF = re.compile(
    r"(?P<half>半| and a half\b)|(?:(?<=[成块米斤尺亩])(?P<tenth>[一二三四五六七八九])"
    r"|(?<=[块米斤尺元])(?P<figures>\d\d?)(?!\s?[.,/×*+^-]?\d))"
    r"(?:(?![\u3400-\u9fffA-Za-z])|(?=[的高长宽重左]))"
)
"""Half, tenths or hundredths of a unit, after it: 两斤半, 三成五, 一米八, 1米75."""
_HOURS = re.compile(r"时(?=\s?\d{1,2}\s?分)")
_YEAR_AFTER = re.compile(r"\s?(?:(?P<bc>BCE?|B\.C\.)|(?:AD|CE)\b)")
_YEAR_BEFORE = re.compile(
    r"\b(?:AD|in|of|since|years?|from|until|during|by|late|early|[A-Z]\w+ber|[A-Z]\w+ary"
    r"|March|April|May|June|July|August) \Z"
)
_TO = re.compile(r"\s*(?:[-–—~～到至]|to|through|and|or)\s*")
_BEFORE = re.compile(
    r"(?:(?P<more>\bover|\b(?:more|higher|greater) than|\bat least|超过|逾|至少|高达|多达)"
    r"|(?P<less>\b(?:under|(?:less|fewer|lower) than|nearly|almost|at most|up to|close to)"
    r"|不到|不足|将近|接近|近|未满|没满|最多)"
    r"|\b(?:about|around|roughly|some|approximately|approx\.?|circa|ca?\.|estimated|somewhere"
    r"|just (?:over|under))|约为?|大约|大概|差不多|[~≈])(?: an?)?\s*(?:是|有)?\s*\Z",
    re.IGNORECASE,
)
_MORNING = re.compile(
    r"[上早]午|早[上晨]|凌晨|清晨|(?:\b|\d)a\.? ?m\b|in the morning", re.IGNORECASE
)
_EVENING = re.compile(
    r"中午(?=十二|12)|下午|傍晚|[晚夜][上里间]|(?:\b|\d)p\.? ?m\b|in the afternoon|\bevening"
    r"|at night",
    re.IGNORECASE,
)
PAST_NOON: Final = re.compile(
    r"(?<!\d)(?:1[3-9]|2[0-3])\s?[:：点时]|(?:十[三四五六七八九]|二十[一二三]?)[点时]"
)
"""A clock time of the second half of the day, by its hour."""


@lru_cache(maxsize=8192)
def amounts(text: str) -> tuple[Amount, ...]:
    """The quantities of a text, in order; compound ones (一斤八两, 5 feet 3 inches) as one."""
    text = _folded(text)
    found = [
        Amount(start, end, said.unit, said.value)
        for start, end, said in spoken_in(text)
        if isinstance(said.value, Fraction)
    ]
    for number in numerals(text):
        if not any(a.start < number.end and number.start < a.end for a in found):
            found += _measured(text, number)
    joined = _joined(sorted(found), text)
    pairs = zip_longest(joined, joined[1:])
    return tuple(_in_context(text, _begins_range(text, *pair)) for pair in pairs)


def _folded(text: str) -> str:
    """``fold`` character by character, so that places stay."""
    if text.isascii():
        return text
    made = "".join(
        f if not c.isascii() and c != "，" and len(f := fold(c)) == 1 else c for c in text
    )
    return re.sub(r"[⁻⁰¹²³⁴-⁹]+", lambda m: m[0].translate(_SUPERSCRIPTS), made)


def _measured(text: str, number: Numeral) -> list[Amount]:
    """The number as an amount of the unit after it, or before it: $5; none inside of a word."""
    start, end, value = number.start, number.end, number.value
    said, before = text[start:end], text[max(0, start - 10) : start]
    money = _MONEY_BEFORE.search(before)
    if money:
        made = _amount(number, unit_called(money[0].strip()))
        return [made._replace(start=start - len(money[0]))]
    if said[0] > "\u3000":
        if len(said.rstrip("多余来几")) == 1 and _IN_A_WORD.match(text, start):
            return []
    elif not number.in_words and _IN_A_NAME.search(before):
        return []
    if text.startswith("个半", end):
        value, end = value + Fraction(1, 2), end + 2
        number = number._replace(value=value, end=end)
    hours = _HOURS.match(text, end)
    unit = (unit_called("小时"), end + 1) if hours else unit_at(text, end)
    if unit is None:
        alone = number.in_words and needs_a_unit(said)
        return [] if alone else [_bare(text, number)]
    measure, stop = unit
    if more := _MORE_OF.match(text, stop):
        figures = more["figures"] or str("半一二三四五六七八九".find(more["tenth"] or "半") or 5)
        part = Fraction(int(figures), 10 ** len(figures))
        number, stop = number._replace(value=value + part), more.end()
    return [_of_unit(text, number, measure, stop)]


def _amount(number: Numeral, measure: Unit) -> Amount:
    size = measure.size
    place = number.place and number.place * size
    return Amount(
        number.start, number.end, measure.measures, number.value * size, size, number.rough, place
    )


def _of_unit(text: str, number: Numeral, measure: Unit, stop: int) -> Amount:
    """The amount of a unit, which may be a year or a temperature."""
    before, value = text[max(0, number.start - 10) : number.start], number.value
    made = _amount(number, measure)._replace(end=stop)
    if text[stop - 1] == "年" and (1000 <= value < 2100 or before.endswith(("公元", "公元前"))):
        return Amount(number.start, stop, YEAR, -value if before.endswith("前") else value)
    return made


def _bare(text: str, number: Numeral) -> Amount:
    """A number without a unit: a year, a fraction, or a number of things."""
    before, value = text[max(0, number.start - 10) : number.start], number.value
    year = value.denominator == 1 and 0 < value < 2100
    after = _YEAR_AFTER.match(text, number.end) if year else None
    if after or (year and value >= 1000 and _YEAR_BEFORE.search(before)):
        end = after.end() if after else number.end
        return Amount(number.start, end, YEAR, -value if after and after["bc"] else value)
    fraction = 0 < value < 1 and not number.place
    return _amount(number, Unit(SHARE if fraction else COUNT, Fraction(1)))


def _joined(found: list[Amount], text: str) -> list[Amount]:
    """The longest of overlapping amounts, and those of one kind that follow directly added."""
    made = list[Amount]()
    for one in found:
        last = made[-1] if made else None
        amount = one
        if one.measures == units.POINTS:  # 分 after hours are minutes, else points
            clock = last is not None and (last.measures, last.end) == (units.DURATION, one.start)
            size = Fraction(60 if clock else 1)
            measures = units.DURATION if clock else COUNT
            amount = one._replace(measures=measures, value=one.value * size, unit=size)
        if last is None:
            made.append(amount)
        elif amount.start < last.end:
            if amount.end - amount.start > last.end - last.start:
                made[-1] = amount
        elif (
            text[last.end : amount.start].strip(" 零又") in ("", "and", ",")
            and last.measures == amount.measures not in (COUNT, SHARE)
            and amount.value < last.unit > amount.unit
        ):
            made[-1] = last._replace(end=amount.end, value=last.value + amount.value)
        else:
            made.append(amount)
    return made


def _begins_range(text: str, amount: Amount, then: Amount | None) -> Amount:
    """The first number of a range with the unit after the second: 18 to 25 years."""
    if then is None or amount.measures != COUNT or not _TO.fullmatch(text, amount.end, then.start):
        return amount
    value = amount.value * then.unit
    return amount._replace(measures=then.measures, value=value, unit=then.unit)


def _in_context(text: str, amount: Amount) -> Amount:
    """With what the words around it say: about, more than, in the morning."""
    start, end = amount.start, amount.end
    before = _BEFORE.search(text, max(0, start - 20), start)
    more = (before and before["more"]) or {*"多余"} & {*text[start:end]}
    side = -1 if before and before["less"] else 1 if more else 0
    half = ""
    if amount.measures == TIME:
        around = text[max(0, start - 4) : end + 20]
        morning, evening = bool(_MORNING.search(around)), bool(_EVENING.search(around))
        half = "pm" if PAST_NOON.match(text[start:end]) else ""
        if morning is not evening:
            half = "am" if morning else "pm"
    rough = amount.rough or bool(before or more)
    return amount._replace(rough=rough, side=side, half=half)
