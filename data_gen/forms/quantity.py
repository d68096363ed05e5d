"""A number as it stands in an answer: name or currency, value, unit."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from data_gen.forms import units
from gradegpt.answers.spelled import spelled

_LEAD: Final = re.compile(
    r"(?P<lead>(?:[A-Za-zΑ-ω][\w₀-₉']*\s*=\s*)?(?:\\?\$|[￥¥])?\s*)(?P<body>.+)", re.DOTALL
)
_SCIENTIFIC: Final = re.compile(
    r"(?P<m>-?\d+(?:\.\d+)?)\s*(?:(?:×|\\times|\*|·|\\cdot)\s*10\s*\^\s*\{?(?P<p>[+-]?\d{1,2})\}?"
    r"|[eE](?P<e>[+-]?\d{1,2}))"
)
_PLAIN: Final = re.compile(r"-?(?:\d{1,3}(?:(?:,|\{,\})\d{3})+|\d+)(?:\.\d+)?")
FRACTION: Final = re.compile(
    r"(?P<sign>-?)\s*(?:\\[dt]?frac\s*\{(?P<a>\d+)\}\s*\{(?P<b>\d+)\}|(?P<c>\d+)\s*/\s*(?P<d>\d+))"
)
_MIXED: Final = re.compile(
    r"(?P<sign>-?)(?P<w>\d+)(?:\s*\\[dt]?frac\{(?P<a>\d+)\}\{(?P<b>\d+)\}|\s+(?P<c>\d+)/(?P<d>\d+))"
)
_IRRATIONAL: Final = (
    r"(?P<n{0}>\d*)\s*\*?\s*(?:(?:√\(?|\\sqrt\s*\{{?|sqrt\()(?P<r{0}>\d+)[)}}]?)?"
    r"\s*\*?\s*(?P<p{0}>π|\\pi|pi)?"
)
_SURD: Final = re.compile(
    r"(?P<sign>-?)\s*(?:\\[dt]?frac\{"
    + _IRRATIONAL.format(1)
    + r"\}\{(?P<d1>\d+)\}|"
    + _IRRATIONAL.format(2)
    + r"(?:\s*/\s*(?P<d2>\d+))?)"
)


class Number(NamedTuple):
    """``factor`` times the root of ``radicand``, times π where ``pi``."""

    factor: Fraction
    radicand: int = 1
    pi: bool = False


class Read(NamedTuple):
    """A number as it stands in a text: lead, number, gap and unit."""

    lead: str
    number: Number
    gap: str
    unit: str
    body: str


def read(text: str) -> Read | None:
    """The number that the whole text is, or none."""
    match = _LEAD.fullmatch(text.strip())
    if match is None or len(text) > 60:
        return None
    for body, gap, unit in ((match["body"], "", ""), units.split_unit(match["body"])):
        number = value(body.strip())
        if number is not None:
            return Read(match["lead"], number, gap, unit, body.strip())
    counted = re.fullmatch(r"(?P<number>[a-z]+(?:[ -][a-z]+)*) (?P<unit>[a-z]+)", match["body"])
    number = in_words(counted["number"]) if counted else None
    if counted is None or number is None:
        return None
    return Read(match["lead"], number, " ", counted["unit"], counted["number"])


def value(text: str) -> Number | None:
    """The number without name and unit that the text is."""
    percent = re.fullmatch(r"(.+?)\s*(?:\\?%|percent)", text)
    if percent is not None:
        inner = value(percent[1])
        return None if inner is None else inner._replace(factor=inner.factor / 100)
    text = text.replace("−", "-")
    if _PLAIN.fullmatch(text):
        return Number(Fraction(text.replace("{,}", "").replace(",", "")))
    if found := _SCIENTIFIC.fullmatch(text):
        return Number(Fraction(found["m"]) * Fraction(10) ** int(found["p"] or found["e"]))
    for pattern in (FRACTION, _MIXED):
        if found := pattern.fullmatch(text):
            return _fraction(found)
    return _irrational(text) or in_words(text)


def _fraction(found: re.Match[str]) -> Number | None:
    top, bottom = int(found["a"] or found["c"]), int(found["b"] or found["d"])
    if not bottom:
        return None
    whole = int(found.groupdict().get("w") or 0)
    size = whole + Fraction(top, bottom)
    return Number(-size if found["sign"] else size)


def _irrational(text: str) -> Number | None:
    found = _SURD.fullmatch(text)
    if found is None:
        return None
    one = "1" if found["d1"] else "2"
    radicand, pi = int(found[f"r{one}"] or 1), bool(found[f"p{one}"])
    below = int(found[f"d{one}"] or 1)
    if (radicand == 1 and not pi) or not below or not radicand:
        return None
    factor = Fraction(int(found[f"n{one}"] or 1), below)
    return Number(-factor if found["sign"] else factor, radicand, pi)


def in_words(text: str) -> Number | None:
    """The number that the text spells in Chinese or English."""
    if text in ("一半", "half", "one half", "a half"):
        return Number(Fraction(1, 2))
    if not re.fullmatch(r"[a-z -]{3,}|[负零一二三四五六七八九十百千万点分之]+", text):
        return None
    size = spelled(text.removeprefix("minus "))
    return None if size is None else Number(-size if text.startswith("minus ") else size)
