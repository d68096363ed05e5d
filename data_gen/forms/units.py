"""Units of measurement in both languages, their sizes, and the unit that a question asks for."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A unit: what it measures, its size in the smallest terms, symbols, and names."""

    measures: str
    size: Fraction
    symbol: str
    chinese: tuple[str, ...]
    english: tuple[str, ...]


_TABLE: Final = """
length 1000000 km 千米,公里 kilometres,kilometers
length 1000 m 米 metres,meters
length 100 dm 分米 decimetres
length 10 cm 厘米 centimetres,centimeters
length 1 mm 毫米 millimetres,millimeters
area 1000000 m² 平方米 m^2,square metres,square meters
area 10000 dm² 平方分米 dm^2
area 100 cm² 平方厘米 cm^2,square centimetres,square centimeters
volume 1000000 m³ 立方米 m^3,cubic metres,cubic meters
volume 1000 dm³ 立方分米 dm^3
volume 1 cm³ 立方厘米 cm^3,cubic centimetres,cubic centimeters
liquid 1000 L 升 litres,liters
liquid 1 mL 毫升 ml,millilitres,milliliters
mass 1000000 t 吨 tonnes
mass 1000 kg 千克,公斤 kilograms
mass 1 g 克 grams
time 86400 - 天 days
time 3600 h 小时,个小时 hours
time 60 min 分钟 minutes
time 1 s 秒 seconds
speed 10/36 km/h 千米/时,千米每小时 kilometres per hour,kilometers per hour
speed 1 m/s 米/秒,米每秒 metres per second,meters per second
acceleration 1 m/s² 米/秒² m/s^2
yuan 1 - 元 yuan
dollar 100 - 美元 dollars
dollar 1 - 美分 cents
angle 1 ° 度 degrees
energy 1000 kJ 千焦 kilojoules
energy 1 J 焦耳,焦 joules
power 1000 kW 千瓦 kilowatts
power 1 W 瓦特,瓦 watts
force 1 N 牛顿,牛 newtons
pressure 1000 kPa 千帕 kilopascals
pressure 1 Pa 帕斯卡,帕 pascals
current 1000 A 安培,安 amperes
current 1 mA 毫安 milliamperes
voltage 1 V 伏特,伏 volts
resistance 1 Ω 欧姆,欧 ohms
amount 1 mol 摩尔 moles
"""
_COUNTERS: Final = "个只人本支张棵岁次块名条页辆件套种倍角台盒箱袋瓶杯组排头枚题篇层户"


def _unit(line: str) -> Unit:
    measures, size, symbol, chinese, english = line.split(maxsplit=4)
    size_, symbol = Fraction(size), "" if symbol == "-" else symbol
    return Unit(measures, size_, symbol, tuple(chinese.split(",")), tuple(english.split(",")))


UNITS: Final = tuple(_unit(line) for line in _TABLE.strip().splitlines())
_NAMED: Final = {
    name: unit for unit in UNITS for name in (unit.symbol, *unit.chinese, *unit.english) if name
}
_NAMES: Final = "|".join(re.escape(name) for name in sorted(_NAMED, key=len, reverse=True))
_TAIL: Final = re.compile(
    rf"(?P<number>.*[\d)}}π%一二三四五六七八九十百千零])"
    rf"(?P<gap>\s*|\\[,; ]\s*|~)"
    rf"(?:\\(?:text|mathrm)\s*\{{[\s~]*)?(?P<unit>{_NAMES}|[{_COUNTERS}])\}}?",
    re.DOTALL,
)
_THING: Final = re.compile(
    r"(?P<number>-?[\d,]+(?:\.\d+)?)(?:(?P<gap>\s+)(?P<unit>(?!(?:percent|times|half|and|or|to)\b)[a-z]{3,12})"
    r"|(?P<han>(?![年月日号点时分千百十万亿半成折比和或至到到第])[\u4e00-\u9fff]{1,4}))"
)
"""A count of things that are no unit: 12 cards, 18个苹果."""
_ASKED_ZH: Final = re.compile(
    rf"(?:多少|几)(?P<unit>{_NAMES}|[{_COUNTERS}])(?![\u3400-\u9fff]?分之)"
)
_ASKED_EN: Final = re.compile(
    r"\b[Hh]ow (?:many|much) (?P<unit>(?!(?:less|times|plus|this|is|was|does|has|its)\b)"
    r"[a-z]{2,12}s)\b"
    rf"|\bin (?P<symbol>(?=[a-z/²³]{{2}}|[mLgs°][.?])(?:{_NAMES}))(?=[.?,;)\s])"
)


def split_unit(text: str) -> tuple[str, str, str]:
    """A quantity as number, gap and unit; the latter two empty where there is no known unit."""
    found = _TAIL.fullmatch(text)
    if found is None:
        found = _THING.fullmatch(text)
        if found is not None and found["han"]:
            return found["number"], "", found["han"]
    if found is None:
        return text, "", ""
    return found["number"], " " if "\\" in found["gap"] else found["gap"], found["unit"]


def named(name: str) -> Unit | None:
    """The unit of that name, none for counters and names of things."""
    return _NAMED.get(name)


def asked_unit(question: str) -> str:
    """The unit that the question asks for, or nothing where it asks for several or none."""
    asked = [m["unit"] for m in _ASKED_ZH.finditer(question)]
    asked += [m["unit"] or m["symbol"] for m in _ASKED_EN.finditer(question)]
    return asked[0] if len({*asked}) == 1 else ""


def spellings(name: str) -> list[tuple[str, str]]:
    """Other names of a unit, each with the gap before it."""
    unit = named(name)
    if unit is None:
        return [("" if name[0] > "\u3000" else " ", name)]
    symbol = [("" if unit.symbol == "°" else " ", unit.symbol), ("", unit.symbol)]
    words = [(" ", word) for word in unit.english] + [("", word) for word in unit.chinese]
    return [(gap, word) for gap, word in [*symbol, *words] if word]


def alike(unit: Unit) -> list[Unit]:
    """Other units for the same thing."""
    return [u for u in UNITS if u.measures == unit.measures and u is not unit]


def sister(name: str, other: Unit) -> str:
    """The name of ``other`` in the style of ``name``: a symbol, a Chinese word, an English one."""
    unit = _NAMED[name]
    if name == unit.symbol and other.symbol:
        return other.symbol
    if name in unit.chinese:
        return other.chinese[0]
    return (
        other.english[min(unit.english.index(name), len(other.english) - 1)]
        if (name in unit.english)
        else other.english[0]
    )
