"""Units after a number, in both languages: their names, and their conversion by Pint."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


_BASES: Final = _pairs(
    """
    米=meter 克=gram 升=liter 瓦=watt 瓦特=watt 伏=volt 伏特=volt 安=ampere 安培=ampere 赫兹=hertz
    焦=joule 焦耳=joule 帕=pascal 牛=newton 牛顿=newton 欧=ohm 欧姆=ohm 秒=second 摩尔=mole
    赫=hertz 库仑=coulomb 法拉=farad 亨利=henry 特斯拉=tesla 电子伏=electron_volt
    """
)
_HAN_PREFIXES: Final = _pairs("千=kilo 毫=milli 微=micro 兆=mega 厘=centi 分=deci 纳=nano 皮=pico")
_CHINESE: Final = {
    f"{p}{u}": f"{q}{v}" for u, v in _BASES.items() for p, q in (_HAN_PREFIXES | {"": ""}).items()
} | _pairs(
    """
    公里=kilometer 里=0.5*kilometer 海里=nautical_mile 平方公里=kilometer**2 公顷=hectare
    公斤=kilogram 斤=0.5*kilogram 两=50*gram 吨=metric_ton 度=degree 摄氏度=degC
    千瓦时=kilowatt_hour 岁=year 年=year 秒钟=second 分=minute 分钟=minute 时=hour 小时=hour
    天=day 日=day 周=week
    """
)
_PREFIXES: Final = _pairs(
    "T=tera G=giga M=mega k=kilo c=centi d=deci m=milli μ=micro n=nano p=pico"
)
_SYMBOLS: Final = """
    m=meter:kdcmμnM g=gram:kmμM L=liter:mμd l=liter:mμd s=second:mμnM W=watt:kmMG V=volt:kmMμ
    A=ampere:mμnk Hz=hertz:kMGmT J=joule:kMmG Pa=pascal:kMmG N=newton:kmM Ω=ohm:kMm mol=mole:mμk
    F=farad:μnpm H=henry:mμ C=coulomb:mμn eV=electron_volt:kMGm cal=calorie:k T=tesla:mμ Wb=weber:
    K=kelvin:
"""
"""Symbols with their names and prefixes; where two differ only in case, the usual one first."""


def _with_prefixes() -> dict[str, str]:
    made = dict[str, str]()
    for entry in _SYMBOLS.split():
        symbol, _, rest = entry.partition("=")
        name, _, prefixes = rest.partition(":")
        made[symbol] = name
        made |= {f"{prefix}{symbol}": f"{_PREFIXES[prefix]}{name}" for prefix in prefixes}
    return made


_CASED: Final = _with_prefixes() | _pairs(
    """
    M=mol/liter mM=millimol/liter Nm=newton*meter TB=terabyte GB=gigabyte Gb=gigabit MB=megabyte
    Mb=megabit KB=kilobyte kB=kilobyte Kb=kilobit
    """
)
"""Units by their symbols, in which the case of a letter counts."""
_WORDS: Final = """
    meter metre gram liter litre second minute hour day week month year newton joule watt volt
    ampere pascal hertz kelvin mole ohm coulomb farad henry tesla gauss weber calorie inch foot
    yard mile pound ounce gallon quart pint acre ton radian degree torr bar atm angstrom erg dyne
    lumen psi
"""
_LATIN: Final = (
    {symbol.casefold(): name for symbol, name in reversed(_CASED.items())}
    | {f"{p}{word}": f"{p}{word}" for word in _WORDS.split() for p in ("", *_PREFIXES.values())}
    | _pairs(
        """
    ft=foot feet=foot in=inch inche=inch yd=yard mi=mile lb=pound lbs=pound oz=ounce sec=second
    min=minute h=hour hr=hour hrs=hour gal=gallon mph=mile/hour rpm=revolution/minute amp=ampere
    mmhg=mmHg btu=Btu kwh=kilowatt_hour lbf=pound_force lbm=pound yr=year db=decibel hp=horsepower
    °=degree deg=degree rad=radian °c=degC ℃=degC °f=degF t=metric_ton å=angstrom m=meter
    """
    )
)
"""Units by their symbols and names in small letters."""
_POWER = re.compile(r"(?P<name>[^\d^*]+?)\s*(?:\^?\{?(?P<power>-?[1-3])\}?)?")

_TIMES = re.compile(r"(?<!square)(?<!cubic)[·*\s]+|(?<=[A-Za-z0-9])-(?=[A-Za-z])")


class Unit(NamedTuple):
    """A unit that can be written: what it measures, its size, its symbols and its names."""

    measures: str
    size: Fraction
    symbols: tuple[str, ...]
    chinese: tuple[str, ...]
    english: tuple[str, ...]


TIGHT: Final = "°mgVNJWKL"
"""The only single signs that are units directly after a number: 5h is a product."""
_TABLE: Final = """
length|1000000|km|千米,公里|kilometres,kilometers
length|1000|m|米|metres,meters
length|100|dm|分米|decimetres
length|10|cm|厘米|centimetres,centimeters
length|1|mm|毫米|millimetres,millimeters
area|1000000|m²,m^2|平方米|square metres,square meters
area|10000|dm²,dm^2|平方分米|square decimetres
area|100|cm²,cm^2|平方厘米|square centimetres,square centimeters
volume|1000000|m³,m^3|立方米|cubic metres,cubic meters
volume|1000|dm³,dm^3|立方分米|cubic decimetres
volume|1|cm³,cm^3|立方厘米|cubic centimetres,cubic centimeters
liquid|1000|L|升|litres,liters
liquid|1|mL,ml|毫升|millilitres,milliliters
mass|1000000|t|吨|tonnes
mass|1000|kg|千克,公斤|kilograms
mass|1|g|克|grams
time|86400||天|days
time|3600|h|小时,个小时|hours
time|60|min|分钟|minutes
time|1|s|秒|seconds
speed|10/36|km/h|千米/小时,千米/时,千米每小时|kilometres per hour,kilometers per hour
speed|1|m/s|米/秒,米每秒|metres per second,meters per second
acceleration|1|m/s²,m/s^2|米/秒²|metres per second squared
yuan|1||元|yuan
dollar|100||美元|dollars
dollar|1||美分|cents
angle|1|°|度|degrees
temperature|1|°C|摄氏度|degrees Celsius
energy|1000|kJ|千焦|kilojoules
energy|1|J|焦,焦耳|joules
power|1000|kW|千瓦|kilowatts
power|1|W|瓦,瓦特|watts
force|1000|kN|千牛|kilonewtons
force|1|N|牛,牛顿|newtons
pressure|1000|kPa|千帕|kilopascals
pressure|1|Pa|帕,帕斯卡|pascals
current|1000|A|安,安培|amperes
current|1|mA|毫安|milliamperes
voltage|1000|V|伏,伏特|volts
voltage|1|mV|毫伏|millivolts
resistance|1|Ω|欧,欧姆|ohms
amount|1|mol|摩尔|moles
molar mass|1|g/mol|克/摩尔|grams per mole
concentration|1|mol/L|摩尔/升|moles per litre
density|1|g/cm³,g/cm^3|克/立方厘米|grams per cubic centimetre
"""


def _unit(line: str) -> Unit:
    measures, size, *names = line.split("|")
    symbols, chinese, english = (tuple(filter(None, cell.split(","))) for cell in names)
    return Unit(measures, Fraction(size), symbols, chinese, english)


UNITS: Final = tuple(_unit(line) for line in _TABLE.strip().splitlines())
NAMED: Final = {name: unit for unit in UNITS for names in unit[2:] for name in names}


def named(name: str) -> Unit | None:
    """The unit of that name; None for counters, names of things and units outside the table."""
    return NAMED.get(name)


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


@lru_cache(maxsize=1024)
def factor(given: str, wanted: str) -> Fraction | float | None:
    """The factor that converts a number in ``given`` to one in ``wanted``.

    None if one of them is unknown, or if they differ in dimension or in their zero (°C and K).
    """
    if plural(given) == plural(wanted):
        return None if {given[:1], wanted[:1]} == {"m", "M"} else Fraction(1)  # milli or mega
    one, other = named(given), named(wanted)
    if one is not None and other is not None and one.measures == other.measures:
        return one.size / other.size
    left, right = _pint(given), _pint(wanted)
    if left is None or right is None:
        return None
    registry = _registry()
    a, b = registry.parse_expression(left), registry.parse_expression(right)
    shifted = "deg" in left + right and "C" in left + right
    if shifted or a.dimensionality != b.dimensionality:
        return None
    ratio = float((a / b).to_base_units().magnitude)
    whole = Fraction(ratio).limit_denominator(10**7)
    return whole if abs(float(whole) - ratio) <= 1e-12 * ratio else ratio


def known(unit: str) -> bool:
    """Whether it is a unit of measurement rather than a name or a letter."""
    return _pint(unit) is not None


def plural(unit: str) -> str:
    """The unit without spaces, braces and a final plural s."""
    unit = re.sub(r"[\s{}]|\^", "", unit.casefold()).replace("per", "/")
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def _pint(unit: str) -> str | None:
    """Pint's name of a unit, composed of known words only; None for an unknown unit."""
    unit = unit.strip().replace("²", "^2").replace("³", "^3")
    if (found := named(unit)) is not None and found.symbols:
        unit = found.symbols[-1]
    unit = re.sub(r"\s*(?:\bper\b|每)\s*", "/", unit)
    unit = re.sub(r"\b(lb|pound)s?[\s-]force\b", "lbf", unit)
    made = []
    for place, part in enumerate(unit.split("/")):
        factors = [_simple(piece) for piece in _TIMES.split(part) if piece]
        if not factors or None in factors:
            return None
        made.append(("/" if place else "") + "(" + "*".join(map(str, factors)) + ")")
    return "".join(made)


def _simple(unit: str) -> str | None:
    if unit in _CASED:
        return f"({_CASED[unit]})"
    unit = unit.casefold()
    for word, power in (("平方", 2), ("立方", 3), ("square", 2), ("cubic", 3)):
        if unit.startswith(word):
            base = _word(unit.removeprefix(word))
            return base and f"({base})**{power}"
    match = _POWER.fullmatch(unit)
    base = _word(match["name"]) if match else None
    return f"({base})**{match['power']}" if match and base and match["power"] else base


def _word(name: str) -> str | None:
    name = name.strip()
    return _CHINESE.get(name) or _LATIN.get(name) or _LATIN.get(plural(name))
