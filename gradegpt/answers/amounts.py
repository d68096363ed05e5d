"""Quantities anywhere in a running text of either language, in base units.

"Adding the halves, it took in 360 million yuan" and 3.6亿元 have the same amount, 360,000,000 yuan.
Units convert by their definitions (``measures``); dates, times, discounts and multiples are read by
``spoken``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest
from typing import Final, NamedTuple

from gradegpt.answers.number import ONES, PARTS, SCALES, TENS, scale, spelled
from gradegpt.answers.text import fold
from gradegpt.answers.times import MULTIPLE, ORDINAL, TIME, spoken_in
from gradegpt.answers.units import (
    CELSIUS,
    COUNT,
    CURRENCY,
    DEGREES,
    DURATION,
    FAHRENHEIT,
    KELVIN,
    LENGTH,
    POINTS,
    SHARE,
    SPEED,
    YEAR,
    Measure,
    in_scale,
    unit_at,
    unit_called,
)


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


class _Number(NamedTuple):
    """A number without its unit; ``part`` for a fraction in words: half (of) a kilo."""

    start: int
    end: int
    value: Fraction
    rough: bool = False
    place: Fraction | None = None
    currency: str = ""
    part: bool = False


_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SIZES: Final = "hundred|thousand|million|billion|trillion"
_HAN: Final = (
    r"(?:[零〇一二三四五六七八九十百万亿点半]|千(?!(?<=[十百千万亿]千)[米克瓦帕焦牛伏赫安])"
    r"|(?<![零〇一二三四五六七八九十百千])两(?!倍数)|两(?=[百千万亿]))+"
)
"""A number in characters; 两 after a number is a unit of mass, 千 in 三万千米 a part of one."""
_NUMBER = re.compile(
    rf"(?P<currency>{CURRENCY}\s?)?"
    r"(?P<sign>(?:(?<![\w)])|(?<=[为是于到至约达]))[-−]|负|零下|minus )?"
    rf"(?:(?P<digits>{_DIGITS})(?:(?:\s?[×x*·]\s?10\^?\{{?|e\+?)(?P<power>[-−]?\d+)\}}?"
    rf"|(?P<mixed>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]| \d/\d\d?(?![\d/]))"
    rf"|\s?/\s?(?P<below>\d+)(?!\d)|(?P<han>[十百千]?(?:万亿|[万亿]))|(?:[\s-]?(?:{_SIZES})\b)+)?"
    r"(?P<fraction> and (?:a half|three[- ]quarters|a quarter))?"
    rf"|(?P<words>{_HAN}(?:又{_HAN})?分之(?:[\d.]+|{_HAN})|{_HAN}))(?P<more>[多余来几][万亿]?)?",
    re.IGNORECASE,
)
_SHORT_SIZE = re.compile(r"\s?(?P<size>[kmb])n?\b", re.IGNORECASE)
"""Thousands, millions or billions of a currency: £50m."""
_SUPERSCRIPTS: Final = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_IN_A_NAME = re.compile(
    r"(?:[A-Za-z_.]|[A-Za-z]-|[氢氦锂硼碳氮氧氟钠磷硫氯钾钙铁钴锶碘铯镭铀钚]-)\Z"
)
_IN_A_NOUN = re.compile(
    r"角[形板洲]|角函|边形|棱[锥柱台]|面体|次[函方多根]|元[一二三]次|维|国(?=[演志时鼎])"
)
"""What follows a numeral that is part of a noun: 三角形, 二次函数."""
_ORDINARY_ONE = re.compile(
    r"[第统专单唯同万]\Z|(?:[每这那某另任].?|其中|之)\Z|\b(?:each|every|per|no|any) \Z",
    re.IGNORECASE,
)
_NOT_ONE = re.compile(r"[些样起直般切定旦共致同面边方再位种点来者则度]|\S{0,3}[也都][不没]")
"""What follows 一 where it counts nothing: 一些, 一个也不剩."""
_DIGITS_ZH: Final = "一二三四五六七八九"
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*", re.IGNORECASE)
_NAMES: Final = "|".join(
    sorted({*ONES, *TENS[1:], *SCALES, *PARTS, "hundred", "point"}, key=len, reverse=True)
)
_RUN = re.compile(
    rf"\b(?<![a-z]-)(?!point)(?:an? |minus |negative )?(?:(?:{_NAMES})(?:th)?s?)"
    rf"(?:(?:\s+|-)(?:(?:and|of|an?)\s+){{0,2}}(?:{_NAMES})(?:th)?s?)*\b(?!-[a-z])",
    re.IGNORECASE,
)
"""Words that may together be a number."""
_SMALL = re.compile(rf"(?P<top>.+)[ -](?P<size>{_SIZES})ths?")
_HALF_OF = re.compile(
    r"(?P<part>half|(?:an?|one) quarter|three[- ]quarters)(?: of)?(?: an?)? (?P<of>.+)"
)
_NO_NUMBERS: Final = (
    "second", "seconds", "score", "point", "minute", "third", "fourth", "fifth",
)  # fmt: skip
_ALONE: Final = ("one", "quarter", "half", "zero", "hundred", "thousand", "dozen")
"""Words that are a number only before a unit: half a kilo, one in seven."""
_OF = re.compile(r"\s?(?:of )?(?:an? )?(?=[a-z])", re.IGNORECASE)
_IN = re.compile(r"\s?(?:in|out of(?: every)?) (?P<whole>\d+|[a-z]+(?:-[a-z]+)?)", re.IGNORECASE)
_OR = re.compile(r" or (?P<next>[a-z]+)", re.IGNORECASE)
_PART_OF = re.compile(r"\b(?:an?|one) \Z", re.IGNORECASE)
_TENTHS: Final = ("成", "块", "米", "斤", "尺", "亩")
_TENTH = re.compile(
    rf"(?P<tenth>[{_DIGITS_ZH}])(?:(?![\u3400-\u9fff])|(?=[高左的长宽重以钱]))"
    r"|(?P<half>半| and a half\b)"
)
"""What follows a unit and counts its tenths or half of it: 三成五, 一米八, 两斤半."""
_RATE = re.compile(r"(?:(?P<hour>每小时|时速)|每秒|秒速)[^\d，。,]{0,4}\Z")
_EACH = re.compile(r"\s(?:every|each|a|per) (?:second|(?P<hour>hour))")
_YEAR_AFTER = re.compile(r"\s?(?:(?P<bc>BCE?|B\.C\.)|(?:AD|CE)\b)")
_YEAR_BEFORE = re.compile(
    r"\b(?:AD|in|of|since|years?|from|until|during|by|late|early|[A-Z]\w+ber|[A-Z]\w+ary"
    r"|March|April|May|June|July|August) \Z"
)
_TO = re.compile(r"\s*(?:[-–—~～到至]|to|through|and|or)\s*")
_GREW = re.compile(r"(?:增长|增加|提高|扩大|多|高|大|长)了?\Z")
_ROUGH_BEFORE = re.compile(
    r"(?:\b(?:about|around|roughly|some|approximately|approx\.?|circa|ca?\.|estimated|somewhere"
    r"|just (?:over|under))(?: an?)?|约为?|大约|大概|差不多|[~≈])\s*(?:是|有)?\s*\Z",
    re.IGNORECASE,
)
_ROUGH_AFTER = re.compile(r"\s*(?:左右|上下|or so\b|-ish\b)", re.IGNORECASE)
_MORE = re.compile(
    r"(?:\bover|\b(?:more|higher|greater) than|\bat least|超过|逾|至少|高达|多达)(?: an?)?\s*\Z",
    re.IGNORECASE,
)
_MORE_AFTER = re.compile(r"\s*(?:多|余|以上|出头|odd\b|or more\b|plus\b)")
_LESS = re.compile(
    r"(?:\b(?:under|(?:less|fewer|lower) than|nearly|almost|at most|up to|close to|approaching)"
    r"|不到|不足|将近|接近|近|未满|没满|最多)(?: an?)?\s*\Z",
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


def amounts(text: str) -> list[Amount]:
    """The quantities of a text, in order; compound ones (一斤八两, 5 feet 3 inches) as one."""
    text = _folded(text)
    found = list(_spoken(text))
    for number in (*_in_figures(text), *_in_words(text)):
        if not any(a.start < number.end and number.start < a.end for a in found):
            found.append(_measured(text, number))
    joined = _joined(sorted(found), text)
    pairs = zip_longest(joined, joined[1:])
    return [_in_context(text, _begins_range(text, *pair)) for pair in pairs]


def _begins_range(text: str, amount: Amount, then: Amount | None) -> Amount:
    """The first number of a range with the unit after the second: 18 to 25 years."""
    if then is None or amount.measures != COUNT or not _TO.fullmatch(text, amount.end, then.start):
        return amount
    value = amount.value * then.unit
    return amount._replace(measures=then.measures, value=value, unit=then.unit)


def _folded(text: str) -> str:
    """``fold`` character by character, so that places stay."""
    if text.isascii():
        return text
    made = "".join(
        f if not c.isascii() and c != "，" and len(f := fold(c)) == 1 else c for c in text
    )
    made = re.sub(r"(?<![\w)])[¹²³⁴-⁹⁰]+(?=[A-Z])", lambda m: "_" * len(m[0]), made)  # ²H
    return re.sub(r"[⁻⁰¹²³⁴-⁹]+", lambda m: m[0].translate(_SUPERSCRIPTS), made)


def _spoken(text: str) -> Iterator[Amount]:
    for start, end, quantity in spoken_in(text):
        fraction = quantity.unit == ORDINAL and _PART_OF.search(text, max(0, start - 5), start)
        assert isinstance(quantity.value, Fraction)
        if not fraction:
            yield Amount(start, end, quantity.unit, quantity.value)


def _in_figures(text: str) -> Iterator[_Number]:
    """Numbers in digits or Chinese characters."""
    for match in _NUMBER.finditer(text):
        words, value = match["words"] or "", _value(match)
        if value is None or _is_within_a_word(text, match):
            continue
        more = match["more"] or ""
        value *= scale(more[1:]) if more[1:] else 1
        rough = bool(more) or _between(words) is not None
        currency = (match["currency"] or "").strip()
        yield _Number(*match.span(), value, rough, _place(match, value), currency)


def _is_within_a_word(text: str, match: re.Match[str]) -> bool:
    """Whether the digits belong to a name, or the character to a word: CO2, 统一, 一些."""
    before = text[max(0, match.start() - 3) : match.start()]
    if match["digits"]:
        return bool(_IN_A_NAME.search(before)) and not match["currency"]
    if match["words"] != "一":
        noun = len(match["words"]) == 1 and _IN_A_NOUN.match(text, match.end())
        return before.endswith("第") or match["words"] == "万一" or bool(noun)
    return bool(_ORDINARY_ONE.search(before) or _NOT_ONE.match(text, match.end()))


def _value(match: re.Match[str]) -> Fraction | None:
    value = _in_characters(match["words"]) if match["words"] else _from_digits(match)
    return None if value is None else -value if match["sign"] else value


def _in_characters(words: str) -> Fraction | None:
    value = _between(words) or spelled(words)
    if value is None and words.endswith("半") and (whole := spelled(words[:-1])) is not None:
        return whole + Fraction(1, 2)
    return value


def _between(words: str) -> Fraction | None:
    """两三 is between two and three: their mean."""
    at = _DIGITS_ZH.find(words[-1:]) if len(words) == 2 else 0
    pair = at > 0 and _DIGITS_ZH[at - 1] == words[0].replace("两", "二")
    return Fraction(2 * at + 1, 2) if pair else None


_MOST_DIGITS: Final = 400


def _from_digits(match: re.Match[str]) -> Fraction | None:
    if len(match["digits"]) > _MOST_DIGITS:
        return None
    value = Fraction(match["digits"].replace(",", ""))
    if match["power"]:
        value *= Fraction(10) ** max(-400, min(400, int(match["power"].replace("−", "-"))))
    elif match["mixed"]:
        value += Fraction(fold(match["mixed"]).strip())
    elif match["below"]:
        value = value / int(match["below"]) if int(match["below"]) else Fraction(0)
    elif match["han"]:
        value *= Fraction(scale(match["han"]))
    for word in re.findall(_SIZES, match[0], re.IGNORECASE):
        value *= spelled(word.lower()) or 1
    if match["fraction"]:
        said: str = match["fraction"].removeprefix(" and ")
        value += spelled(said.replace("-", " ")) or 0
    return value


def _place(match: re.Match[str], value: Fraction) -> Fraction | None:
    """The size of the last digit of a decimal number."""
    digits = (match["digits"] or "").replace(",", "")
    if "." not in digits or not value:
        return None
    return abs(value / Fraction(digits)) / Fraction(10 ** len(digits.partition(".")[2]))


def _in_words(text: str) -> Iterator[_Number]:
    """Numbers in English words: two and a half dozen, half a kilo, seven in ten."""
    at = 0
    while run := _RUN.search(text, at):
        start, words = run.start(), [*_WORD.finditer(text, *run.span())]
        said = ((word.end(), _of_words(text[start : word.end()].lower())) for word in words[::-1])
        end, value = next(((end, value) for end, value in said if value is not None), (start, None))
        at, number = words[0].end(), text[start:end].lower()
        whole, either = _IN.match(text, end), _OR.match(text, end)
        alone = number in _ALONE and unit_at(text, _unit_place(text, end)) is None
        if value is None or number in _NO_NUMBERS or (alone and not whole):
            continue
        at, below = end, whole and (_numeral(whole["whole"]) or 0)
        if either and spelled(either["next"].lower()) == value + 1:
            at = either.end()
            yield _Number(start, at, value + Fraction(1, 2), rough=True)
        elif whole and below and value < below:
            yield _Number(start, whole.end(), value / below, part=True)
        else:
            yield _Number(start, end, value, part=value < 1)


def _numeral(text: str) -> Fraction | None:
    return Fraction(text) if text.isdigit() else spelled(text.lower())


def _of_words(said: str) -> Fraction | None:
    if (small := _SMALL.fullmatch(said)) is not None:
        top = Fraction(1) if small["top"] in ("a", "an") else spelled(small["top"])
        return top and top / (spelled(small["size"]) or 1)
    if (part := _HALF_OF.fullmatch(said)) is not None:
        share, of = spelled(part["part"]), spelled(part["of"])
        return share * of if share and of else None
    return spelled(said)


def _unit_place(text: str, end: int) -> int:
    """The place of the unit after a fraction: a quarter *of a* kilo."""
    of = _OF.match(text, end)
    return of.end() - (of.end() > end) if of else end


def _measured(text: str, number: _Number) -> Amount:
    """The number as an amount of the unit after it, or before it: $5, 每小时5公里."""
    if number.currency:
        size = _SHORT_SIZE.match(text, number.end)
        power = {"k": 3, "m": 6, "b": 9}[size["size"].lower()] if size else 0
        money = unit_called(number.currency)
        stop = size.end() if size else number.end
        return _amount(number, money._replace(size=money.size * 10**power), stop)
    value, end = number.value, number.end
    if text.startswith("个半", end):
        value, end = value + Fraction(1, 2), end + 2
    unit = unit_at(text, _unit_place(text, end) if number.part else end)
    if unit is None and text[end : end + 1] in ("多", "余"):
        unit = unit_at(text, end + 1)
    if unit is None:
        return _bare(text, number)
    measure, stop = unit
    more = _TENTH.match(text, stop)
    if more and more["half"]:
        value, stop = value + Fraction(1, 2), more.end()
    elif more and measure.name in _TENTHS:
        value, stop = value + Fraction(_DIGITS_ZH.index(more["tenth"]) + 1, 10), more.end()
    return _of_unit(text, number._replace(value=value), measure, stop)


def _amount(number: _Number, measure: Measure, end: int) -> Amount:
    size = measure.size
    place = number.place and number.place * size
    value = number.value * size
    return Amount(number.start, end, measure.measures, value, size, number.rough, place)


def _of_unit(text: str, number: _Number, measure: Measure, stop: int) -> Amount:
    """The amount of a unit that also depends on the words around it."""
    before = text[max(0, number.start - 10) : number.start]
    made, value = _amount(number, measure, stop), number.value
    if measure.name == "年" and (1000 <= value < 2100 or before.endswith(("公元", "公元前"))):
        turned = -1 if before.endswith("前") else 1
        return Amount(number.start, stop, YEAR, turned * value)
    if measure.measures == LENGTH and (rate := _RATE.search(before) or _EACH.match(text, stop)):
        per = 3600 if rate["hour"] else 1
        return made._replace(measures=SPEED, value=made.value / per, unit=made.unit / per)
    if measure.measures == FAHRENHEIT or (measure.measures == DEGREES and "华氏" in before):
        celsius = in_scale(value, "°F", "°C") or Fraction(0)
        return made._replace(measures=CELSIUS, value=celsius, unit=Fraction(5, 9), place=None)
    if measure.measures == KELVIN:
        return made._replace(measures=CELSIUS, value=value - Fraction(27315, 100))
    if measure.measures == DEGREES and ("摄氏" in before or "零下" in text[number.start : stop]):
        return made._replace(measures=CELSIUS)
    if measure.measures == MULTIPLE and _GREW.search(before):
        return made._replace(value=value + 1)
    return made


def _bare(text: str, number: _Number) -> Amount:
    """A number without a unit: a year, a fraction, or a number of things."""
    before, after = text[max(0, number.start - 10) : number.start], None
    year = number.value.denominator == 1 and 0 < number.value < 2100
    after = _YEAR_AFTER.match(text, number.end) if year else None
    if after or (year and number.value >= 1000 and _YEAR_BEFORE.search(before)):
        end = after.end() if after else number.end
        return Amount(
            number.start, end, YEAR, -number.value if after and after["bc"] else number.value
        )
    fraction = 0 < number.value < 1 and not number.place
    measures = SHARE if fraction else COUNT
    return _amount(number, Measure("", measures, Fraction(1)), number.end)


def _joined(found: list[Amount], text: str) -> list[Amount]:
    """The longest of overlapping amounts, and those of one kind that follow directly added."""
    made = list[Amount]()
    for read in found:
        last = made[-1] if made else None
        amount = _minutes(read, last) if read.measures == POINTS else read
        if last is not None and last.measures == YEAR and _TO.fullmatch(text, last.end, read.start):
            amount = read._replace(measures=YEAR) if read.measures == COUNT else read
        if last is not None and amount.start < last.end:
            if amount.end - amount.start > last.end - last.start:
                made[-1] = amount
        elif last is not None and _adds(last, amount, text[last.end : amount.start]):
            made[-1] = last._replace(end=amount.end, value=last.value + amount.value)
        else:
            made.append(amount)
    return made


def _minutes(amount: Amount, last: Amount | None) -> Amount:
    """分 after hours are minutes, else points."""
    if last is not None and last.measures == DURATION and last.end == amount.start:
        return amount._replace(measures=DURATION, value=amount.value * 60, unit=Fraction(60))
    return amount._replace(measures=COUNT)


def _adds(last: Amount, amount: Amount, between: str) -> bool:
    return (
        between.strip(" 零又") in ("", "and", ",")
        and last.measures == amount.measures
        and last.measures not in (COUNT, SHARE)
        and amount.value < last.unit > amount.unit
    )


def _in_context(text: str, amount: Amount) -> Amount:
    """With what the words around it say: about, more than, in the morning."""
    start, end = amount.start, amount.end
    before, said = text[max(0, start - 16) : start], text[start:end]
    less, around = _LESS.search(before), text[max(0, start - 4) : end + 20]
    more = _MORE.search(before) or _MORE_AFTER.match(text, end) or re.search("[多余]", said)
    rough = less or more or _ROUGH_BEFORE.search(before) or _ROUGH_AFTER.match(text, end)
    half = "pm" if amount.measures == TIME and PAST_NOON.match(said) else ""
    if amount.measures == TIME and bool(_MORNING.search(around)) is not bool(
        _EVENING.search(around)
    ):
        half = "am" if _MORNING.search(around) else "pm"
    side = -1 if less else 1 if more else 0
    return amount._replace(rough=amount.rough or bool(rough), side=side, half=half)
