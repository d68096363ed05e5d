"""Units in both languages, each with those that are taken for it by mistake."""

from __future__ import annotations

from typing import Final, NamedTuple


class Unit(NamedTuple):
    """Its sign, its Chinese and English names, and signs of units of other sizes."""

    sign: str
    zh: str
    en: str
    slips: tuple[str, ...] = ()

    def behind(self, number: str) -> str:
        """The plain number with the sign."""
        return f"{number}{'' if self.sign == '°' else ' '}{self.sign}"

    def latex(self, number: str) -> str:
        """The number, in LaTeX, with the sign."""
        raised = self.sign.replace("°", "^\\circ ").strip()
        return f"{number}{raised}" if "circ" in raised else f"{number}\\ \\mathrm{{{self.sign}}}"


def _units(*rows: str) -> dict[str, Unit]:
    split = [[cell.strip() for cell in row.split("|")] for row in rows]
    return {sign: Unit(sign, zh, en, tuple(slips.split())) for sign, zh, en, slips in split}


UNITS: Final = _units(
    "cm|厘米|centimetres|m mm",
    "m|米|metres|cm km",
    "km|千米|kilometres|m",
    "cm^2|平方厘米|square centimetres|m^2",
    "m^2|平方米|square metres|cm^2",
    "cm^3|立方厘米|cubic centimetres|m^3",
    "km/h|千米/小时|kilometres per hour|m/s",
    "m/s|米/秒|metres per second|km/h",
    "m/s^2|米/秒²|metres per second squared|",
    "kg|千克|kilograms|g",
    "g|克|grams|kg mg",
    "mL|毫升|millilitres|L",
    "h|小时|hours|min",
    "min|分钟|minutes|h",
    "N|牛|newtons|kN",
    "J|焦|joules|kJ",
    "W|瓦|watts|kW",
    "V|伏|volts|mV",
    "A|安|amperes|mA",
    "Ω|欧|ohms|",
    "Pa|帕|pascals|kPa",
    "mol|摩尔|moles|",
    "g/mol|克/摩尔|grams per mole|",
    "mol/L|摩尔/升|moles per litre|",
    "°|度|degrees|",
    "°C|摄氏度|degrees Celsius|",
    "g/cm^3|克/立方厘米|grams per cubic centimetre|",
    "元|元|元|",
    "dollars|美元|dollars|",
)
MONEY: Final = (UNITS["dollars"], UNITS["元"])
"""What people pay with, in English and in Chinese problems."""
