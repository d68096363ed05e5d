"""Units as they are named in running text, with what they measure and their exact sizes.

Sizes are those of the definitions: 斤 is 500 g, an acre 4046.8564224 m². The base unit of a speed
is ten metres a second, so that km/h has a short fraction.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

COUNT, SHARE, YEAR, MONTHS, DURATION = "count", "share", "year", "months", "duration"
DEGREES, CELSIUS, FAHRENHEIT, KELVIN = "degrees", "temperature", "fahrenheit", "kelvin"
PIECE, POINTS, LENGTH, SPEED = "piece", "points", "length", "speed"
DOLLARS: Final = ("dollar", "HK dollar", "AU dollar", "CA dollar", "TW dollar", "SG dollar")
MONEY: Final = (*DOLLARS, "yuan", "euro", "pound", "yen", "won", "franc", "rupee", "rouble")


class Measure(NamedTuple):
    """A unit: its name, what it measures, and its size in the base unit of that."""

    name: str
    measures: str
    size: Fraction


_TABLE: Final = """
length|1000|千米,公里,km,kms,kilometre,kilometer,kilometres,kilometers
length|1|米,m,metre,meter,metres,meters
length|1/10|分米,dm
length|1/100|厘米,公分,cm,centimetre,centimeter,centimetres,centimeters
length|1/1000|毫米,mm,millimetre,millimeter,millimetres,millimeters
length|1/1000000|微米,μm,µm,micrometre,micrometer,micrometres,micrometers,micron,microns
length|1/1000000000|纳米,nm,nanometre,nanometer,nanometres,nanometers
length|500|里,里地,里路,华里,市里,li
length|10/3|丈,zhang
length|1/3|尺,市尺,chi
length|1/30|寸,cun
length|1609344/1000|英里,mile,miles
length|1852|海里,nautical mile,nautical miles
length|3048/10000|英尺,foot,feet,ft
length|254/10000|英寸,inch,inches
length|9144/10000|码,yard,yards
length|9460730472580800|光年,light-year,light-years,light year,light years
area|1000000|平方公里,平方千米,km²,km2,km^2,square kilometre,square kilometer,square kilometres
area|1000000|square kilometers,sq km
area|1|平方米,平米,m²,m2,m^2,square metre,square meter,square metres,square meters,sq m
area|1/10000|平方厘米,cm²,cm2,cm^2,square centimetre,square centimeter,square centimetres
area|1/10000|square centimeters
area|10000|公顷,ha,hectare,hectares
area|2000/3|亩,亩地,mu
area|40468564224/10000000|英亩,acre,acres
area|2589988110336/1000000|平方英里,square mile,square miles,sq mi
volume|1000000000000|立方千米,立方公里,km³,cubic kilometre,cubic kilometres,cubic kilometer
volume|1000000000000|cubic kilometers
volume|1000|立方米,m³,m3,m^3,cubic metre,cubic meter,cubic metres,cubic meters
volume|1/1000|立方厘米,毫升,cm³,cm3,cm^3,ml,mL,cubic centimetre,cubic centimetres
volume|1/1000|cubic centimeters
volume|1/1000|millilitre,milliliter,millilitres,milliliters
volume|1|升,公升,L,litre,liter,litres,liters,立方分米,dm³
volume|3785411784/1000000000|加仑,gallon,gallons
mass|1000000|吨,公吨,tonne,tonnes,ton,tons,metric tons,metric ton
mass|1000|公斤,千克,kg,kgs,kilogram,kilograms,kilogramme,kilogrammes,kilo,kilos
mass|1|克,g,gram,grams,gramme,grammes
mass|1/1000|毫克,mg,milligram,milligrams
mass|500|斤,市斤,jin,catty,catties
mass|50|两,市两,liang,taels,tael
mass|45359237/100000|磅,lb,lbs,pound,pounds
mass|28349523125/1000000000|盎司,oz,ounce,ounces
duration|1/1000|毫秒,ms,millisecond,milliseconds
duration|1|秒,秒钟,s,sec,second,seconds
points|1|分
duration|60|分钟,min,mins,minute,minutes
duration|900|刻钟
duration|3600|小时,钟头,个小时,个钟头,h,hr,hrs,hour,hours
duration|86400|天,日,day,days
duration|604800|周,星期,个星期,礼拜,个礼拜,week,weeks
duration|1209600|fortnight,fortnights
months|1|个月,月,month,months
months|12|年,周年,岁,周岁,年头,year,years,yr,yrs
months|120|decade,decades
months|1200|个世纪,century,centuries
speed|1/36|公里/小时,千米/小时,公里/时,千米/时,公里每小时,千米每小时,km/h,kph
speed|1/36|kilometres per hour,kilometers per hour
speed|1/36|kilometres an hour,kilometers an hour
speed|1609344/36000000|英里/小时,英里每小时,mph,miles per hour,miles an hour
speed|1/10|米/秒,米每秒,m/s,metres per second,meters per second,metres a second,meters a second
speed|100|公里/秒,千米/秒,公里每秒,千米每秒,km/s,kilometres per second,kilometers per second
speed|100|kilometres a second,kilometers a second
speed|1852/36000|节,knot,knots
speed|3048/100000|feet per second
yuan|1|元,元钱,元人民币,人民币,圆,yuan,RMB,CNY,¥,￥,renminbi
yuan|1/10|角,毛,毛钱,jiao
piece|1|块,块钱
dollar|1|美元,美金,dollar,dollars,US dollars,USD,US$,$,bucks
dollar|1/100|美分,cent,cents,¢
HK dollar|1|港元,港币,HKD,HK$,Hong Kong dollars
AU dollar|1|澳元,AUD,A$,AU$,Australian dollars
CA dollar|1|加元,CAD,C$,CA$,Canadian dollars
TW dollar|1|台币,新台币,TWD,NT$
SG dollar|1|新加坡元,SGD,S$,Singapore dollars
euro|1|欧元,euro,euros,EUR,€
pound|1|英镑,£,GBP,pounds sterling
yen|1|日元,日圆,yen,JPY
won|1|韩元,韩圆,KRW,₩
franc|1|瑞士法郎,法郎,franc,francs,CHF
rupee|1|卢比,rupee,rupees,INR,₹
rouble|1|卢布,rouble,roubles,ruble,rubles,RUB,₽
temperature|1|℃,°C,摄氏度,degrees Celsius,degree Celsius,degrees C,degrees centigrade
fahrenheit|1|℉,°F,华氏度,degrees Fahrenheit,degrees F
kelvin|1|开尔文,kelvin,kelvins,K
degrees|1|度,°,degree,degrees
share|1/100|%,percent,per cent,percentage points,个百分点
share|1/1000|‰,per mille,permille,per thousand,parts per thousand
share|1/10|成
multiple|1|倍,times,fold,-fold
volt|1|伏,伏特,V,volt,volts
volt|1000|千伏,kV,kilovolt,kilovolts
ampere|1|安,安培,A,amp,amps,ampere,amperes
watt|1|瓦,瓦特,W,watt,watts
watt|1000|千瓦,kW,kilowatt,kilowatts
watt|1000000|兆瓦,MW,megawatt,megawatts
joule|1|焦,焦耳,J,joule,joules
joule|1000|千焦,kJ,kilojoule,kilojoules
kilowatt hour|1|千瓦时,度电,kWh,kilowatt-hour,kilowatt-hours,kilowatt hours
newton|1|牛,牛顿,N,newton,newtons
pascal|1|帕,帕斯卡,Pa,pascal,pascals
pascal|1000|千帕,kPa,kilopascals
ohm|1|欧,欧姆,Ω,ohm,ohms
mole|1|摩尔,mol,mole,moles
hertz|1|赫兹,赫,Hz,hertz
count|12|打,dozen,dozens
count|20|score
count|2|双,对,pair,pairs,couple
"""


def _measures() -> dict[str, Measure]:
    rows = (line.split("|") for line in _TABLE.strip().splitlines())
    return {
        name: Measure(name, measures, Fraction(size))
        for measures, size, names in rows
        for name in names.split(",")
    }


NAMED: Final = _measures()
_LONGEST_FIRST: Final = sorted(NAMED, key=len, reverse=True)
_MONEY: Final = [name for name in _LONGEST_FIRST if NAMED[name].measures in MONEY]
_BEFORE = "|".join(
    re.escape(n) for n in _MONEY if re.fullmatch(r"[A-Z]*[^a-z\u3400-\u9fff]|.+币", n)
)
CURRENCY: Final = rf"(?:(?<![A-Za-z])(?:{_BEFORE}))"
"""The signs and codes that may stand before a number: $, US$, £, EUR, 人民币."""
_AFTER = "|".join(re.escape(n) for n in _MONEY if n not in ("$", "元", "圆", "角", "毛", "毛钱"))
MONEY_AFTER: Final = rf"(?:\s?(?:{_AFTER}|[元圆])(?![A-Za-z]))"
_CURRENCIES: Final = re.compile(
    r"(?<!\$)\\\$|^\s*\$(?=\s*\d[^$]*\Z)"  # no $ of a formula
    rf"|(?<=\d)\s*[万亿]?(?P<yuan>[元圆])(?!素)|(?<![A-Za-z])(?P<name>{_AFTER})(?![A-Za-z])",
    re.IGNORECASE,
)
_LOWERED: Final = {name.lower(): NAMED[name] for name in _MONEY}


def currencies(text: str) -> frozenset[tuple[str, Fraction]]:
    """The currencies that a short text names, each with its unit: a dollar, a cent; ¥ is two."""
    named = {(m["name"] or m["yuan"] or "$").lower() for m in _CURRENCIES.finditer(text)}
    named |= {"yen"} if named & {"¥", "￥"} else set()
    named = named - {"元", "圆"} or named  # 港币85元
    return frozenset((_LOWERED[name].measures, _LOWERED[name].size) for name in named)


_HAN = "|".join(name for name in _LONGEST_FIRST if re.match(r"[\u3400-\u9fff]", name))
_LATIN = "|".join(re.escape(name) for name in _LONGEST_FIRST if name not in _HAN.split("|"))
_UNIT = re.compile(rf"[\s-]?(?P<name>(?:{_LATIN})(?![A-Za-z0-9²³/])|(?:{_HAN})(?!形))")


def unit_at(text: str, at: int = 0) -> tuple[Measure, int] | None:
    """The unit that is named there, after a space at most, and the end of its name."""
    found = _UNIT.match(text, at)
    return (NAMED[found["name"]], found.end()) if found else None
