"""Dates, clock times, centuries, decades, ranks, multiples and discounts: 七折, 七点半, the 1890s.

Both languages are read into one ``Quantity``. Each kind has a unit of its own, under which only
numbers of the same kind are compared: a date is year, month and day in digits, a time its minutes,
a discount the share that is paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Final

from gradegpt.answers.number import spelled
from gradegpt.answers.options import ORDINALS
from gradegpt.answers.types import Quantity

DATE, TIME, PAID, MULTIPLE, ORDINAL = (
    "date", "time", "discount", "multiple", "ordinal",
)  # fmt: skip
_MULTIPLES: Final = {
    "doubled": 2, "twofold": 2, "tripled": 3, "trebled": 3, "threefold": 3, "quadrupled": 4,
    "翻倍": 2, "翻番": 2, "翻一番": 2, "翻了一番": 2, "翻两番": 4, "翻了两番": 4, "加倍": 2,
}  # fmt: skip
_TIMES: Final = _MULTIPLES | {"twice": 2, "double": 2, "triple": 3, "thrice": 3, "quadruple": 4}
_ORDINALS: Final = (
    *ORDINALS, "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first",
)  # fmt: skip
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_MINUTES: Final = {"half": 30, "半": 30, "quarter": 15, "一刻": 15, "三刻": 45}
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
_PARTS: Final = {
    "{HAN}": r"(?:\d+|[〇零一二两三四五六七八九十]+)",
    "{DAY}": r"(?P<day>\d{1,2}(?!\d))(?:st|nd|rd|th)?",
    "{MONTH}": rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?", "{YEAR}": r"(?P<year>\d{4})",
    "{PERCENT}": r"\d{1,2}(?:\.\d)?", "{ORDINAL}": "|".join(_ORDINALS),
}  # fmt: skip
"""What stands for the names in braces of times.tsv."""
_FORMS_IN_TEXT: Final[list[tuple[str, re.Pattern[str]]]] = []
_FORMS: Final[list[tuple[str, re.Pattern[str]]]] = []
_LATIN_FORMS: Final[list[tuple[str, re.Pattern[str]]]] = []
for _line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
    if _line[0] != "#":
        _unit, _form = _line.split("\t")
        _made = re.sub(r"\{[A-Z]+\}", lambda name: _PARTS[name[0]], _form)
        _read = (_unit.strip("+"), re.compile(_made, re.IGNORECASE))
        _FORMS_IN_TEXT.append(_read)
        if _unit[0] != "+":
            _FORMS.append(_read)
        if "{HAN}" not in _form:
            _LATIN_FORMS.append(_read)
_INSIDE: Final = re.compile(r"[\d.]\d|[a-z]{2}|点[零〇一二三四五六七八九]", re.IGNORECASE)
_MULTIPLE_IN_TEXT: Final = re.compile(
    "|".join(rf"\b{w}\b" if w.isascii() else w for w in _TIMES), re.IGNORECASE
)


@lru_cache(maxsize=4096)
def spoken(text: str) -> Quantity | None:
    """The date, time, century, decade, discount or multiple that the whole ``text`` gives."""
    if len(text) > _LONGEST or not _HINT.search(text):
        return None
    text = _LEAD.sub("", text.strip(" .。"))
    if len(text) < 2:
        return None
    if (times := _MULTIPLES.get(text.lower().removeprefix("了"))) is not None:
        return Quantity(Fraction(times), MULTIPLE)
    for unit, pattern in _FORMS:
        if (match := pattern.fullmatch(text)) and (value := _value(match)) is not None:
            return Quantity(value, unit)
    return None


def spoken_in(text: str) -> Iterator[tuple[int, int, Quantity]]:
    """Each date, time, century, decade, discount, multiple or ordinal in a running text."""
    lowered = text.lower()
    for word in _MULTIPLE_IN_TEXT.finditer(text) if any(w in lowered for w in _TIMES) else ():
        yield *word.span(), Quantity(Fraction(_TIMES[word[0].lower()]), MULTIPLE)
    if _HINT.search(text):
        for unit, pattern in _LATIN_FORMS if text.isascii() else _FORMS_IN_TEXT:
            for match in pattern.finditer(text):
                start, end = match.span()
                left, right = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
                cuts = _INSIDE.match(left) or _INSIDE.match(right)  # a number or a word
                if not cuts and (value := _value(match)) is not None:
                    yield start, end, Quantity(value, unit)


def same_kind(wanted: Quantity, given: Quantity) -> bool | None:
    """Whether two of one unit are the same; None for dates of which one is less exact."""
    if wanted.unit != DATE:
        return wanted.value == given.value
    one, other = (int(complex(date.value).real) for date in (wanted, given))
    parts = ((one // n % m, other // n % m) for n, m in ((10_000, 10_000), (100, 100), (1, 100)))
    return all(a == b for a, b in parts if a and b) and (one == other or None)


def _value(match: re.Match[str]) -> Fraction | None:
    """The number of a form, by its named groups."""
    said = match.groupdict()
    if "month" in said or "hour" in said:
        return _date(said) if "month" in said else _time(said)
    ((name, words), *ten) = said.items()
    rank = _ORDINALS.index(words.lower()) + 1 if words and words.lower() in _ORDINALS else None
    number = Fraction(rank) if rank else _number(words)
    tens = _number(ten[0][1]) if ten else Fraction(0)
    if number is None or tens is None:
        return None
    if ten:
        return 100 * (number - 1) + tens
    tenths = number / (10 if number < 10 else 100)  # 七折 is 0.7, 七五折 0.75
    made = {"off": 1 - number / 100, "paid": number / 100, "tenths": tenths, "more": number + 1}
    return made.get(name, number)


def _number(text: str | None) -> Fraction | None:
    if not text:
        return None
    return Fraction(text) if text.replace(".", "", 1).isdecimal() else spelled(text)


def _date(said: dict[str, str | None]) -> Fraction | None:
    name = (said["month"] or "").lower()
    month = _MONTHS.index(name[:3]) + 1 if name[:3] in _MONTHS else _number(name)
    year, day = _number(said.get("year") or said.get("only")) or 0, _number(said.get("day")) or 0
    if month not in range(1, 13) or day > 31:
        return None
    return 10_000 * year + 100 * Fraction(month or 0) + day


def _time(said: dict[str, str | None]) -> Fraction | None:
    """The minutes since noon or midnight, whichever is later."""
    hour, words = _number(said["hour"]), (said.get("words") or "").lower()
    past = _MINUTES.get(words) or _number(words or said.get("minutes"))
    if hour is None or hour > 24 or (words and past is None):
        return None
    before = said.get("before") in ("to", "before", "差")
    return Fraction(60 * hour + (-1 if before else 1) * (past or 0)) % 720
