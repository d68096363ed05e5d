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
    """
)
_PREFIXES: Final = _pairs("千=kilo 毫=milli 微=micro 兆=mega 厘=centi 分=deci 纳=nano") | {"": ""}
_CHINESE: Final = {
    f"{p}{u}": f"{q}{v}" for u, v in _BASES.items() for p, q in _PREFIXES.items()
} | _pairs(
    """
    公里=kilometer 里=0.5*kilometer 海里=nautical_mile 平方公里=kilometer**2 公顷=hectare
    公斤=kilogram 斤=0.5*kilogram 吨=metric_ton 度=degree 摄氏度=degC 千瓦时=kilowatt_hour
    岁=year 年=year 秒钟=second 分=minute 分钟=minute 时=hour 小时=hour 天=day 日=day 周=week
    """
)
_LATIN: Final = _pairs(
    """
    m=meter dm=decimeter cm=centimeter mm=millimeter μm=micrometer µm=micrometer nm=nanometer
    km=kilometer meter=meter metre=meter centimeter=centimeter millimeter=millimeter
    kilometer=kilometer ft=foot foot=foot feet=foot in=inch inch=inch inche=inch yd=yard yard=yard
    mi=mile mile=mile g=gram kg=kilogram mg=milligram t=metric_ton gram=gram kilogram=kilogram
    lb=pound lbs=pound pound=pound oz=ounce ounce=ounce l=liter ml=milliliter liter=liter
    litre=liter ms=millisecond s=second sec=second second=second min=minute minute=minute h=hour
    hr=hour hrs=hour hour=hour day=day week=week n=newton kn=kilonewton newton=newton j=joule
    mole=mole btu=Btu gal=gallon gallon=gallon quart=quart pint=pint acre=acre ton=ton
    mph=mile/hour rpm=revolution/minute amp=ampere μa=microampere bar=bar torr=torr
    mmhg=mmHg psi=psi tb=terabyte gb=gigabyte mb=megabyte kb=kilobyte
    angstrom=angstrom å=angstrom tesla=tesla gauss=gauss farad=farad μf=microfarad nf=nanofarad
    μc=microcoulomb nc=nanocoulomb pf=picofarad henry=henry mh=millihenry
    weber=weber wb=weber kω=kiloohm ohm=ohm
    kwh=kilowatt_hour kev=kiloelectron_volt mev=megaelectron_volt gev=gigaelectron_volt
    ghz=gigahertz μs=microsecond ns=nanosecond lbf=pound_force lbm=pound dyne=dyne
    erg=erg yr=year year=year month=month mmol=millimole db=decibel lumen=lumen
    kj=kilojoule mj=megajoule joule=joule ev=electron_volt w=watt kw=kilowatt watt=watt v=volt
    kv=kilovolt mv=millivolt volt=volt a=ampere ma=milliampere ampere=ampere ω=ohm c=coulomb
    pa=pascal kpa=kilopascal mpa=megapascal pascal=pascal atm=atm hz=hertz khz=kilohertz
    mhz=megahertz k=kelvin kelvin=kelvin mol=mole °=degree deg=degree degree=degree rad=radian
    radian=radian °c=degC ℃=degC °f=degF cal=calorie kcal=kilocalorie calorie=calorie hp=horsepower
    """
)
_CASED: Final = _pairs(
    """
    GB=gigabyte Gb=gigabit MB=megabyte Mb=megabit KB=kilobyte Kb=kilobit
    M=mol/liter mM=millimol/liter MW=megawatt mW=milliwatt MV=megavolt MΩ=megaohm mΩ=milliohm
    F=farad H=henry MJ=megajoule mJ=millijoule
    MHz=megahertz mHz=millihertz MPa=megapascal mPa=millipascal
    Mg=megagram MN=meganewton mN=millinewton Ms=megasecond Mm=megameter
    """
)
"""Units that differ from another only in the case of a letter."""
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


@lru_cache(maxsize=2048)
def _pint(unit: str) -> str | None:
    """Pint's name of a unit, composed of known words only; None for an unknown unit."""
    unit = unit.strip()
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
