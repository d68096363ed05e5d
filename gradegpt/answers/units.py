"""Units behind a number, in both languages, and their conversion by Pint."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final


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
    秒钟=second 分=minute 分钟=minute 时=hour 小时=hour 天=day 日=day 周=week
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
    mmhg=mmHg psi=psi
    angstrom=angstrom å=angstrom tesla=tesla gauss=gauss farad=farad μf=microfarad nf=nanofarad
    pf=picofarad henry=henry mh=millihenry weber=weber wb=weber kω=kiloohm ohm=ohm
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
    M=mol/liter mM=millimol/liter MW=megawatt mW=milliwatt MV=megavolt MΩ=megaohm mΩ=milliohm
    MJ=megajoule mJ=millijoule MHz=megahertz mHz=millihertz MPa=megapascal mPa=millipascal
    Mg=megagram MN=meganewton mN=millinewton Ms=megasecond Mm=megameter
    """
)
"""Where capitals and small letters tell two units apart."""
_POWER = re.compile(r"(?P<name>[^\d^*]+?)\s*(?:\^?\{?(?P<power>-?[1-3])\}?)?")

_TIMES = re.compile(r"(?<!square)(?<!cubic)[·*\s]+|(?<=[A-Za-z0-9])-(?=[A-Za-z])")


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


@lru_cache(maxsize=1024)
def factor(given: str, wanted: str) -> Fraction | float | None:
    """What a number of ``given`` is multiplied by to be one of ``wanted``.

    None where one of them is unknown, or where they measure different things or start from
    different zeros (°C and K).
    """
    if plural(given) == plural(wanted):
        return None if {given[:1], wanted[:1]} == {"m", "M"} else Fraction(1)  # milli and mega
    left, right = _pint(given), _pint(wanted)
    if left is None or right is None:
        return None
    registry = _registry()
    a, b = registry.parse_expression(left), registry.parse_expression(right)
    if "deg" in left + right and "C" in left + right:
        return None
    if a.dimensionality != b.dimensionality:
        return None
    ratio = float((a / b).to_base_units().magnitude)
    whole = Fraction(ratio).limit_denominator(10**7)
    return whole if abs(float(whole) - ratio) <= 1e-12 * ratio else ratio


def known(unit: str) -> bool:
    """Whether this is a unit of measurement rather than a name or a letter."""
    return _pint(unit) is not None


def plural(unit: str) -> str:
    """The unit without blanks, braces and a closing plural s."""
    unit = re.sub(r"[\s{}]|\^", "", unit.casefold()).replace("per", "/")
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


@lru_cache(maxsize=2048)
def _pint(unit: str) -> str | None:
    """Pint's name of a unit, made of known words only; none for an unknown one."""
    unit = re.sub(r"\s*(?:\bper\b|每)\s*", "/", unit.strip())
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
            name = unit.removeprefix(word).strip()
            base = _CHINESE.get(name) or _LATIN.get(name) or _LATIN.get(plural(name))
            return f"({base})**{power}" if base else None
    match = _POWER.fullmatch(unit)
    if match is None:
        return None
    name = match["name"].strip()
    base = _CHINESE.get(name) or _LATIN.get(name) or _LATIN.get(plural(name))
    return f"({base})**{match['power']}" if base and match["power"] else base
