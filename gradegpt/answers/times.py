"""Numbers that are more than digits and a unit: 4.5 billion, 七折, tripled, 七点半, the 1890s.

Both languages are read into one ``Quantity``. Dates, times, centuries, decades, discounts and
multiples have a unit of their own, under which only numbers of the same kind are compared: a date
is year, month and day in digits, a time its minutes, a discount the share that is paid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from gradegpt.answers.options import ORDINALS
from gradegpt.answers.number import SCALES, scale, spelled
from gradegpt.answers.types import Quantity

DATE, TIME, CENTURY, DECADE, PAID, MULTIPLE, ORDINAL = (
    "date", "time", "century", "decade", "discount", "multiple", "ordinal",
)  # fmt: skip
Read = Callable[[re.Match[str]], "Fraction | int | None"]
_SCALES: Final = {"hundred": 100} | SCALES
_SCALED = re.compile(
    rf"(?P<number>-?\d[\d,]*(?:\.\d+)?)(?:[\s-]?(?P<scale>{'|'.join(_SCALES)})\b"
    rf"|\s*(?P<han>[十百千]?[万亿]))(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_MULTIPLES: Final = {
    "doubled": 2, "twofold": 2, "tripled": 3, "trebled": 3, "threefold": 3, "quadrupled": 4,
    "翻倍": 2, "翻番": 2, "翻一番": 2, "翻了一番": 2, "翻两番": 4, "翻了两番": 4, "加倍": 2,
}  # fmt: skip
_ORDINALS: Final = (
    *ORDINALS, "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first",
)  # fmt: skip
_LEAD: Final = re.compile(
    r"\A(?:it(?:'s| is| was| has)? |at |in |on |by |about |around |在|打|是|约|大约)*",
    re.IGNORECASE,
)
_LONGEST: Final = 60
_HINT: Final = re.compile(
    r"[\d〇零一二两三四五六七八九十半翻倍]|(?:st|nd|rd|th|[bp]led|fold|clock|century)\b"
    r"| (?:past|after|to|before) ",
    re.IGNORECASE,
)
"""Every such text has one of these."""
_HAN: Final = r"(?:\d+|[〇零一二两三四五六七八九十]+)"
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_MONTH: Final = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"


def scaled(text: str) -> tuple[Fraction, Fraction | None, str] | None:
    """The number, its last written place and what follows: ``4.5 billion years``, 3.6亿元."""
    match = _SCALED.match(text)
    if match is None:
        return None
    number, han = match["number"].replace(",", ""), match["han"]
    size = _SCALES[match["scale"].lower()] if not han else scale(han)
    decimals = len(number.partition(".")[2])
    place = Fraction(size, 10**decimals) if decimals else None
    return Fraction(number) * size, place, match["rest"].strip(" -")


def spoken(text: str) -> Quantity | None:
    """The date, time, century, decade, discount or multiple that the whole ``text`` gives."""
    if len(text) > _LONGEST or not _HINT.search(text):
        return None
    text = _LEAD.sub("", text.strip(" .。"))
    if len(text) < 2:
        return None
    if (times := _MULTIPLES.get(text.lower().removeprefix("了"))) is not None:
        return Quantity(Fraction(times), MULTIPLE)
    for unit, pattern, read in _FORMS:
        if (match := pattern.fullmatch(text)) and (value := read(match)) is not None:
            return Quantity(Fraction(value), unit)
    return None


def spoken_in(text: str) -> Iterator[tuple[int, int, Quantity]]:
    """Each date, time, century, decade, discount, multiple or ordinal in a running text."""
    for word in _MULTIPLE_IN_TEXT.finditer(text):
        yield *word.span(), Quantity(Fraction(_TIMES[word[0].lower()]), MULTIPLE)
    if _HINT.search(text):
        for unit, pattern, read in (*_FORMS, *_FORMS_IN_TEXT):
            for match in pattern.finditer(text):
                if not _cuts(text, *match.span()) and (value := read(match)) is not None:
                    yield *match.span(), Quantity(Fraction(value), unit)


def _cuts(text: str, start: int, end: int) -> bool:
    """Whether the span ends inside of a number or a word."""
    left, right = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
    return bool(_INSIDE.match(left) or _INSIDE.match(right))


def same_kind(wanted: Quantity, given: Quantity) -> bool | None:
    """Whether two of one unit are the same; None for dates of which one is less exact."""
    if wanted.unit != DATE:
        return wanted.value == given.value
    pairs = zip(_parts(wanted), _parts(given), strict=True)
    same = [one == other for one, other in pairs if one and other]
    return all(same) and (wanted.value == given.value or None)


def _parts(date: Quantity) -> tuple[int, int, int]:
    """Year, month and day; 0 for what is not said."""
    number = int(complex(date.value).real)
    return number // 10_000, number // 100 % 100, number % 100


def _number(text: str | None) -> Fraction | None:
    if not text:
        return None
    return Fraction(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else spelled(text)


def _date(match: re.Match[str]) -> int | None:
    said = match.groupdict()
    month = said["month"].lower()
    parts = (
        _number(said.get("year")),
        Fraction(_MONTHS.index(month[:3]) + 1) if month[:3] in _MONTHS else _number(month),
        _number(said.get("day")),
    )
    if parts[1] is None or not 1 <= parts[1] <= 12 or (parts[2] or 0) > 31:
        return None
    year, month_number, day = (int(part or 0) for part in parts)
    return 10_000 * year + 100 * month_number + day


def _time(match: re.Match[str]) -> Fraction | None:
    said = match.groupdict()
    hour, minutes = _number(said["hour"]), _number(said.get("minutes"))
    if hour is None or hour > 24:
        return None
    share = {"half": 30, "半": 30, "quarter": 15, "一刻": 15, "三刻": 45}
    words = (said.get("words") or "").lower()
    told = Fraction(share[words]) if words in share else _number(words)
    if words and told is None:
        return None
    past = told or minutes or Fraction(0)
    before = said.get("before") in ("to", "before", "差")
    return (60 * hour + (-past if before else past)) % 720  # without the half of the day


def _counted(match: re.Match[str]) -> Fraction | int | None:
    name = match["n"].lower()
    return _ORDINALS.index(name) + 1 if name in _ORDINALS else _number(name)


def _decade(match: re.Match[str]) -> Fraction | None:
    if "year" in match.groupdict():
        return _number(match["year"])
    century, ten = _number(match["n"]), _number(match["ten"])
    return None if century is None or ten is None else 100 * (century - 1) + ten


def _off(match: re.Match[str]) -> Fraction:
    return 1 - Fraction(match["n"]) / 100


def _paid(match: re.Match[str]) -> Fraction:
    return Fraction(match["n"]) / 100


def _zhe(match: re.Match[str]) -> Fraction | None:
    """七折 is 0.7, 七五折 and 7.5折 are 0.75."""
    tenths = _number(match["n"])
    return None if tenths is None else tenths / (10 if tenths < 10 else 100)


def _more(match: re.Match[str]) -> Fraction | None:
    added = _number(match["n"])
    return None if added is None else added + 1


def _forms(*forms: tuple[str, str, Read]) -> tuple[tuple[str, re.Pattern[str], Read], ...]:
    return tuple((unit, re.compile(text, re.IGNORECASE), read) for unit, text, read in forms)


_FORMS: Final = _forms(
    (DATE, rf"(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}}))?", _date),
    (DATE, rf"{_MONTH} {_DAY}(?:,? (?P<year>\d{{4}}))?", _date),
    (DATE, rf"{_MONTH},? (?P<year>\d{{4}})", _date),
    (DATE, r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})", _date),
    (DATE, rf"(?:(?P<year>\d{{4}}|[〇零一二三四五六七八九]{{4}})年)?(?P<month>{_HAN})月"
           rf"(?:(?P<day>{_HAN})[日号])?", _date),
    (CENTURY, r"(?:the )?(?P<n>[a-z-]+|\d{1,2}(?=st|nd|rd|th))(?:st|nd|rd|th)? century", _counted),
    (CENTURY, rf"(?:公元)?(?P<n>{_HAN})世纪", _counted),
    (ORDINAL, rf"(?:the )?(?P<n>{'|'.join(_ORDINALS)})", _counted),
    (ORDINAL, r"(?:the )?(?P<n>\d+)(?:st|nd|rd|th)", _counted),
    (ORDINAL, rf"第(?P<n>{_HAN})[名位个次]?", _counted),
    (DECADE, r"(?:the )?(?P<year>\d{3}0)'?s", _decade),
    (DECADE, rf"(?P<n>{_HAN})世纪(?P<ten>{_HAN})年代", _decade),
    (PAID, r"(?:a )?(?P<n>\d{1,2}(?:\.\d)?)\s?(?:%|percent) (?:off|discount)", _off),
    (PAID, rf"(?P<n>\d(?:\.\d)?|\d\d|{_HAN})折", _zhe),
    (TIME, r"(?:a )?(?P<words>half|quarter|[a-z-]+|\d{1,2})(?: minutes)? (?P<before>past|after|to"
           r"|before) (?P<hour>[a-z]+|\d{1,2})", _time),
    (TIME, r"(?P<hour>[a-z]+|\d{1,2}) o'?clock", _time),
    (TIME, rf"(?P<before>差)(?P<words>一刻|{_HAN}(?=分))分?钟?到?(?P<hour>{_HAN})点[钟整]?", _time),
    (TIME, rf"(?P<hour>{_HAN})点(?:钟|整|(?P<words>半|[一三]刻)|(?P<minutes>{_HAN})分)?", _time),
    (MULTIPLE, rf"(?:增长|增加|提高|扩大|多)了?(?P<n>{_HAN})倍", _more),
    (MULTIPLE, rf"(?:(?:增长|增加|提高|扩大)?[到为至是])?了?原来的(?P<n>{_HAN})倍", _counted),
)  # fmt: skip
_PERCENT: Final = r"(?P<n>\d{1,2}(?:\.\d)?)\s?(?:%|percent|per cent)"
_FORMS_IN_TEXT: Final = _forms(
    (TIME, r"(?<![\d:])(?P<hour>\d{1,2})(?::(?P<minutes>\d\d))? ?[ap]\.? ?m\b\.?", _time),
    (TIME, r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:：](?P<minutes>[0-5]\d)(?![\d:])", _time),
    (TIME, rf"(?<=上午|下午|中午|早上|晚上|凌晨|傍晚)(?P<hour>{_HAN})时"
           rf"(?:(?P<minutes>{_HAN})分)?", _time),
    (TIME, rf"(?P<hour>{_HAN})点(?P<minutes>[二三四五]?十[一二三四五六七八九]?)", _time),
    (CENTURY, r"(?:the )?(?P<n>\d{1,2})(?:st|nd|rd|th)[- ]century", _counted),
    (PAID, rf"{_PERCENT} (?:cheaper|less|reduction|saving)", _off),
    (PAID, rf"(?:reduced|cut|discounted|cheaper|discount|off)(?: \w+){{0,2}} {_PERCENT}", _off),
    (PAID, rf"(?:pay|paying|paid)(?: only| just)? {_PERCENT}", _paid),
)  # fmt: skip
"""Forms that are read in a running text only, where a sentence says what they are."""
_INSIDE: Final = re.compile(r"[\d.]\d|[a-z]{2}|点[零〇一二三四五六七八九]", re.IGNORECASE)
_TIMES: Final = _MULTIPLES | {"twice": 2, "double": 2, "triple": 3, "thrice": 3, "quadruple": 4}
_MULTIPLE_IN_TEXT: Final = re.compile(
    "|".join(rf"\b{w}\b" if w.isascii() else w for w in _TIMES), re.IGNORECASE
)
