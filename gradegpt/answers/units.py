"""Units in both languages: what they measure, their exact sizes and names, read from units.tsv.

Compound units (m/s, kg·m/s², J/(mol·K)) are products of powers of the table's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

COUNT, SHARE, YEAR, DURATION = "count", "share", "year", "duration"
DEGREES, CELSIUS, FAHRENHEIT, KELVIN = "angle", "temperature", "fahrenheit", "kelvin"
PIECE, POINTS = "piece", "points"
DOLLARS: Final = ("dollar", "HK dollar", "AU dollar", "CA dollar", "TW dollar", "SG dollar")
MONEY: Final = (*DOLLARS, "yuan", "euro", "pound", "yen", "won", "franc", "rupee", "rouble")
TIGHT: Final = "°mgVNJWKL"
"""The only single signs that are units directly after a number: 5h is a product."""
_DIMENSIONS: Final[dict[str, str]] = {}
"""What can be measured, as powers of the base quantities."""
_PREFIXES: Final[dict[str, tuple[str, ...]]] = {}
"""The power of ten of each prefix, and its names in Chinese and English."""
_ZEROS: Final = {
    CELSIUS: Fraction(5463, 20), FAHRENHEIT: Fraction(45967, 180), KELVIN: Fraction(0)
}  # fmt: skip
"""The zero of each scale of temperature, in kelvins."""


class Unit(NamedTuple):
    """A unit: what it measures, its size, and the symbols and names by which it is written."""

    measures: str
    size: Fraction
    symbols: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    english: tuple[str, ...] = ()


def _forms(name: str) -> Iterator[str]:
    """An English name in both spellings, as a plural and a singular."""
    one = re.sub(r"(?<=[a-z]{2})s\b", "", name, count=1) if name[-2:] != "us" else name
    for form in (name, one):
        yield form
        yield form.replace("metre", "meter").replace("litre", "liter")


_WRITTEN: Final[list[Unit]] = []
_EXACT: Final[dict[str, Unit]] = {}
"""The units of measurement by their names, in which the case of a letter counts."""
_IN_TEXT: Final[dict[str, Unit]] = {}
_PREFIXED: Final[dict[str, Unit]] = {}


def _add(line: str) -> None:
    """Read a line of the table."""
    used, measures, size, *cells, prefixes = line.split("\t")
    if used == "dimension":
        _DIMENSIONS[measures] = size
        return
    if used == "prefix":
        _PREFIXES[measures] = (size, *cells)
        return
    shown = [[n for n in cell.partition(";")[0].split(",") if n and n[0] != "~"] for cell in cells]
    unit = Unit(measures, Fraction(size), *map(tuple, shown[:3]))
    cut = [[n for n in cell.replace(";", ",").split(",") if n] for cell in cells]
    symbols, chinese, english, other = cut
    kinds = (symbols, chinese, [form for name in english for form in _forms(name)])
    names = [name for cell in kinds for name in cell]
    if "w" in used:
        _WRITTEN.append(unit)
    if "t" in used:
        read = unit._replace(measures="volume") if measures == "liquid" else unit
        _IN_TEXT.update((name, read) for name in (*names, *other) if name[0] != "~")
    if measures in _DIMENSIONS:
        _EXACT.update((name.strip("~"), unit) for name in names)
        for prefix in prefixes:
            power, *prefixed = _PREFIXES[prefix]
            larger = Unit(measures, unit.size * Fraction(10) ** int(power))
            for first, cell in zip((prefix, *prefixed), kinds, strict=True):
                for name in cell:
                    _PREFIXED.setdefault(first + name.strip("~"), larger)


for _line in (files("gradegpt.answers") / "units.tsv").read_text(encoding="utf-8").splitlines():
    if not _line.startswith("#"):
        _add(_line)
_EXACT.update({name: unit for name, unit in _PREFIXED.items() if name not in _EXACT})
_ANY_CASE: Final = {name.casefold(): unit for name, unit in reversed(_EXACT.items())}
"""The same in small letters; where two differ only in case, the one that comes first."""
UNITS: Final = tuple(_WRITTEN)
"""The units that can be written."""
NAMED: Final = {name: unit for unit in UNITS for names in unit[2:] for name in names}


def named(name: str) -> Unit | None:
    """The unit that is written so; None for counters, names of things and other units."""
    return NAMED.get(name)


Dimension = tuple[tuple[str, int], ...]
_PART = re.compile(
    r"(?P<word>square ?|cubic ?|平方|立方)?(?P<name>[^\d^*-]+?)\s*(?:\^?\{?(?P<power>-?[1-4])\}?)?"
)
_TIMES = re.compile(r"(?<!square)(?<!cubic)[·*\s]+|(?<=[A-Za-z0-9])-(?=[A-Za-z])", re.IGNORECASE)
_POWERS: Final = {"square": 2, "cubic": 3, "平方": 2, "立方": 3}
_BRACES: Final = str.maketrans("", "", "{}^")
_BASES = re.compile(r"([A-Za-z]+)(-?\d*)")


@lru_cache(maxsize=4096)
def _measured(unit: str) -> tuple[Fraction, Dimension] | None:
    """The size and the dimension of a unit of measurement; None for an unknown one."""
    text = unit.strip().replace("²", "^2").replace("³", "^3").replace("µ", "μ")
    if (found := _lookup(text)) is not None:
        return _powers(found, 1)
    text = text.replace(" squared", "^2").replace(" cubed", "^3")
    text = re.sub(r"\s*(?:\bper\b|每)\s*", "/", text)
    text = re.sub(r"/\s*\(([^()]*)\)", lambda m: "/" + _TIMES.sub("/", m[1].strip()), text)
    size, total = Fraction(1), dict[str, int]()
    for below, part in enumerate(text.strip("()").split("/")):
        pieces = [piece for piece in _TIMES.split(part) if piece]
        if not pieces:
            return None
        for piece in pieces:
            if piece == "1" and not below and "/" in text:
                continue
            match = _PART.fullmatch(piece)
            base = _lookup(match["name"].strip()) if match else None
            if match is None or base is None:
                return None
            power = int(match["power"] or 1) * _POWERS.get((match["word"] or "").strip(), 1)
            one, dimension = _powers(base, -power if below else power)
            size *= one
            for name, exponent in dimension:
                total[name] = total.get(name, 0) + exponent
    return size, tuple(sorted((name, power) for name, power in total.items() if power))


def _lookup(name: str) -> Unit | None:
    lowered = name.casefold()
    found = _EXACT.get(name) or _ANY_CASE.get(lowered)
    return found or (_ANY_CASE.get(lowered[:-1]) if len(name) > 3 and lowered[-1] == "s" else None)


def _powers(unit: Unit, power: int) -> tuple[Fraction, Dimension]:
    bases = _BASES.findall(_DIMENSIONS[unit.measures])
    return unit.size**power, tuple(sorted((name, int(n or 1) * power) for name, n in bases))


@lru_cache(maxsize=1024)
def factor(given: str, wanted: str) -> Fraction | None:
    """The factor that converts a number in ``given`` to one in ``wanted``.

    None if one of them is unknown, or if they differ in dimension or in their zero (°C and K).
    """
    one, other = named(given), named(wanted)
    if one and other and one.measures == other.measures:
        return one.size / other.size
    left, right = _measured(given), _measured(wanted)
    if left is None or right is None:
        return Fraction(1) if plural(given) == plural(wanted) else None
    shifted = left[1] == (("K", 1),) and _zero(given) != _zero(wanted)
    return None if shifted or left[1] != right[1] else left[0] / right[0]


def _zero(unit: str) -> tuple[Fraction, Fraction] | None:
    """The size of a degree of a scale of temperature, and the zero of the scale."""
    found = _lookup(unit.strip())
    return (found.size, _ZEROS[found.measures]) if found and found.measures in _ZEROS else None


def in_scale(value: Fraction, given: str, wanted: str) -> Fraction | None:
    """A temperature in another scale (°C, °F, K); None for units that are not both of one."""
    one, other = _zero(given), _zero(wanted)
    return (value * one[0] + one[1] - other[1]) / other[0] if one and other else None


def known(unit: str) -> bool:
    """Whether it is a unit of measurement rather than a name or a letter."""
    return _measured(unit) is not None


def plural(unit: str) -> str:
    """The unit without spaces, braces and a final plural s."""
    unit = "".join(unit.casefold().translate(_BRACES).split()).replace("per", "/")
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


# --- units in a running text ----------------------------------------------------------------------

_LONGEST: Final = max(map(len, _IN_TEXT))
_FIRST: Final = frozenset(name[0] for name in _IN_TEXT)
_MONEY: Final = sorted((n for n, u in _IN_TEXT.items() if u.measures in MONEY), key=len)[::-1]
_BEFORE = "|".join(
    re.escape(n) for n in _MONEY if re.fullmatch(r"[A-Z]*[^a-z\u3400-\u9fff]|.+币", n)
)
CURRENCY: Final = rf"(?:(?<![A-Za-z])(?:{_BEFORE}))"
"""The signs and codes that may stand before a number: $, US$, £, EUR, 人民币."""
_AFTER = "|".join(re.escape(n) for n in _MONEY if n not in ("$", "元", "圆", "角", "毛", "毛钱"))
_CURRENCIES: Final = re.compile(
    r"(?<!\$)\\\$|^\s*\$(?=\s*\d[^$]*\Z)"  # no $ of a formula
    rf"|(?<=\d)\s*[万亿]?(?P<yuan>[元圆])(?!素)|(?<![A-Za-z])(?P<name>{_AFTER})(?![A-Za-z])",
    re.IGNORECASE,
)
_LOWERED: Final = {name.lower(): _IN_TEXT[name] for name in _MONEY}


@lru_cache(maxsize=4096)
def currencies(text: str) -> frozenset[tuple[str, Fraction]]:
    """The currencies that a short text names, each with its unit: a dollar, a cent; ¥ is two."""
    found = {(m["name"] or m["yuan"] or "$").lower() for m in _CURRENCIES.finditer(text)}
    found |= {"yen"} if found & {"¥", "￥"} else set()
    found = found - {"元", "圆"} or found  # 港币85元
    return frozenset((_LOWERED[name].measures, _LOWERED[name].size) for name in found)


def unit_called(name: str) -> Unit:
    """The unit of a running text with exactly this name."""
    return _IN_TEXT[name]


def unit_at(text: str, at: int = 0) -> tuple[Unit, int] | None:
    """The unit that is named there, after a space at most, and the end of its name."""
    at += text[at : at + 1] in (" ", "-", "\n", "\t") and text[at : at + 1] != ""
    if text[at : at + 1] not in _FIRST:
        return None
    for end in range(min(len(text), at + _LONGEST), at, -1):
        found = _IN_TEXT.get(text[at:end])
        if found is not None:
            after = text[end : end + 1]
            joined = (after.isascii() and after.isalnum()) or after in ("²", "³", "/")
            han = "\u3400" <= text[at] <= "\u9fff"
            if (after != "形") if han else not (after and joined):
                return found, end
    return None
