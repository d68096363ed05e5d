"""Makers of problems from chemistry, biology and geography, with units."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.ways import number, parts
from data_gen.makers.words import tell

_GASES = (
    ("H2", "氢气", "hydrogen", 2),
    ("O2", "氧气", "oxygen", 32),
    ("N2", "氮气", "nitrogen", 28),
    ("CO2", "二氧化碳", "carbon dioxide", 44),
    ("CH4", "甲烷", "methane", 16),
)
_COMPOUNDS = (
    ("H2O", "2×1+16", 18),
    ("CO2", "12+2×16", 44),
    ("NaCl", "23+35.5", Decimal("58.5")),
    ("CaCO3", "40+12+3×16", 100),
    ("H2SO4", "2×1+32+4×16", 98),
    ("NaOH", "23+16+1", 40),
    ("HNO3", "1+14+3×16", 63),
    ("NH3", "14+3×1", 17),
    ("CaO", "40+16", 56),
    ("Fe2O3", "2×56+3×16", 160),
    ("CuO", "64+16", 80),
    ("MgO", "24+16", 40),
    ("C2H5OH", "2×12+6×1+16", 46),
    ("C6H12O6", "6×12+12×1+6×16", 180),
    ("SO2", "32+2×16", 64),
    ("KOH", "39+16+1", 56),
)


def moles(rng: random.Random, zh: bool) -> Drawn:
    """The mass of an amount of gas, or the amount by its volume at standard conditions."""
    formula, zh_name, en_name, molar = rng.choice(_GASES)
    n = Decimal(rng.randint(1, 40)) / 4
    told = tell(
        "moles",
        rng,
        zh,
        gas=(zh_name, en_name),
        formula=formula,
        molar=molar,
        n=n,
        mass=n * molar,
    )
    wrong = [n * 10, n * molar, n / 2, n + 1, Decimal(molar), n * 2]
    return number(rng, zh, told, n, wrong, unit="mol", name="n")


def molar_mass(rng: random.Random, zh: bool) -> Drawn:
    """The molar mass of a compound."""
    formula, terms, value = rng.choice(_COMPOUNDS)
    n = rng.randint(2, 9)
    told = tell(
        "molar_mass", rng, zh, formula=formula, terms=terms, value=value, n=n, mass=n * value
    )
    return number(
        rng,
        zh,
        told,
        n * value,
        [value, n + value, n * value + 2 * n, n * value - n, n * value * 10],
        unit="g",
    )


def dilution(rng: random.Random, zh: bool) -> Drawn:
    """The water to be added to dilute a salt solution."""
    strong, factor, mass = (
        rng.choice((10, 12, 15, 16, 20, 24, 30)),
        rng.choice((2, 3, 4, 5)),
        rng.randint(2, 20) * 10,
    )
    weak = Fraction(strong, factor)
    total = mass * factor
    told = tell(
        "dilution",
        rng,
        zh,
        strong=strong,
        weak=f"{float(weak):.4g}" if weak.denominator in (1, 2, 4, 5) else f"{strong}/{factor}",
        mass=mass,
        salt=f"{mass * strong / 100:g}",
        total=total,
    )
    return number(
        rng,
        zh,
        told,
        total - mass,
        [total, mass, total + mass, mass * (factor - 1) // 2, total - mass + 10],
        unit="g",
    )


def concentration_parts(rng: random.Random, zh: bool) -> Drawn:
    """Amount and concentration of dissolved sodium hydroxide, in two parts."""
    tenths, volume = rng.randint(1, 20), rng.choice((200, 250, 400, 500, 1000, 2000))
    n = Decimal(tenths) / 10
    c = n * 1000 / volume
    told = tell(
        "concentration_parts",
        rng,
        zh,
        mass=n * 40,
        n=n,
        volume=volume,
        litres=Decimal(volume) / 1000,
        c=c,
    )
    wrong = [(c, n), (n * 10, c), (n, n * volume / 1000), (n, c / 10), (n * 40, c), (n + 1, c)]
    return parts(rng, zh, told, (n, c), [w for w in wrong if w != (n, c)])


def temperature(rng: random.Random, zh: bool) -> Drawn:
    """The temperature on a mountain, by the usual fall with height."""
    base, high = rng.randint(10, 32), rng.randint(1, 9) * 500
    value = base - Fraction(6 * high, 1000)
    told = tell(
        "temperature",
        rng,
        zh,
        base=base,
        high=high,
        km=Decimal(high) / 1000,
        fall=Decimal(6 * high) / 1000,
    )
    wrong = [
        base + Fraction(6 * high, 1000),
        Fraction(6 * high, 1000),
        value + 1,
        base - Fraction(high, 1000),
        value - 6,
    ]
    return number(rng, zh, told, *_decimals(value, wrong), unit="°C")


def _decimals(value: Fraction, wrong: list[Fraction]) -> tuple[Decimal, list[Decimal]]:
    first, *rest = (Decimal(x.numerator) / x.denominator for x in (value, *wrong))
    return first, rest


def map_scale(rng: random.Random, zh: bool) -> Drawn:
    """A real distance by a map and its scale."""
    scale, cm = rng.choice((100_000, 200_000, 500_000, 1_000_000, 2_000_000)), rng.randint(2, 30)
    value = cm * scale // 100_000
    told = tell("map_scale", rng, zh, scale=scale, cm=cm, total=cm * scale, value=value)
    return number(
        rng,
        zh,
        told,
        value,
        [value * 10, value * 100, Decimal(value) / 10, value + 1, cm + scale // 100_000],
        unit="km",
    )


def genetics(rng: random.Random, zh: bool) -> Drawn:
    """How many of a crossing's offspring show the recessive or the dominant trait."""
    n, dominant = 4 * rng.randint(10, 200), rng.random() < 0.5
    value = n * 3 // 4 if dominant else n // 4
    told = tell(
        "genetics",
        rng,
        zh,
        n=n,
        which=(("显性", "dominant"), ("隐性", "recessive"))[not dominant],
        share="\\frac{3}{4}" if dominant else "\\frac{1}{4}",
        value=value,
    )
    return number(rng, zh, told, value, [n - value, n // 2, n, value + 4, n // 8])
