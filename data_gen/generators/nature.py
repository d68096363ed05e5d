"""Generators of problems from chemistry, biology and geography, with units."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

from gradegpt.answers.numbers import decimal

from . import GeneratedProblem
from .builders import number, parts
from .notation import Num
from .words import render, section


def moles(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The amount of a gas by its mass."""
    formula, zh_name, en_name, mass = rng.choice(section("moles").rows)
    n, molar, gas = Decimal(rng.randint(1, 40)) / 4, Decimal(mass), (zh_name, en_name)
    statement = render("moles", rng, zh, gas=gas, formula=formula, molar=molar, n=n, mass=n * molar)
    return number(statement, n, [n * 10, n * molar, n / 2, molar, n * 2], unit="mol", name="n")


def molar_mass(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The molar mass of a compound."""
    formula, terms, mass = rng.choice(section("molar_mass").rows)
    n, value = rng.randint(2, 9), Decimal(mass)
    whole = n * value
    statement = render(
        "molar_mass", rng, zh, formula=formula, terms=terms, value=value, n=n, mass=whole
    )
    return number(
        statement, whole, [value, n + value, whole + 2 * n, whole - n, whole * 10], unit="g"
    )


def dilution(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The water to be added to dilute a salt solution."""
    strong, factor = rng.choice((10, 12, 15, 16, 20, 24, 30)), rng.choice((2, 3, 4, 5))
    mass = rng.randint(2, 20) * 10
    total, salt = mass * factor, Decimal(mass * strong) / 100
    weak = decimal(Fraction(strong, factor)) or f"{strong}/{factor}"
    statement = render(
        "dilution", rng, zh, strong=strong, weak=weak, mass=mass, salt=salt, total=total
    )
    value = total - mass
    return number(statement, value, [total, mass, total + mass, value // 2, value + 10], unit="g")


def concentration_parts(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Amount and concentration of dissolved sodium hydroxide, in two parts."""
    tenths, volume = rng.randint(1, 20), rng.choice((200, 250, 400, 500, 1000, 2000))
    n, litres = Decimal(tenths) / 10, Decimal(volume) / 1000
    c, mass = n / litres, n * 40
    statement = render(
        "concentration_parts", rng, zh, mass=mass, n=n, volume=volume, litres=litres, c=c
    )
    return parts(
        statement, (n, c), [(n * 10, c), (n, n * litres), (n, c / 10), (mass, c), (n + 1, c)]
    )


def temperature(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The temperature on a mountain, by the usual lapse rate."""
    base, km = rng.randint(10, 32), Decimal(rng.randint(1, 9)) / 2
    fall = 6 * km
    value = base - fall
    statement = render("temperature", rng, zh, base=base, high=km * 1000, km=km, fall=fall)
    return number(statement, value, [base + fall, fall, base - km, value - 6], unit="°C")


def map_scale(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A distance by its length on a map and the scale."""
    scale, cm = rng.choice((100_000, 200_000, 500_000, 1_000_000, 2_000_000)), rng.randint(2, 30)
    value = cm * scale // 100_000
    statement = render("map_scale", rng, zh, scale=scale, cm=cm, total=cm * scale, value=value)
    wrong: list[Num] = [value * 10, value * 100, Decimal(value) / 10, cm + scale // 100_000]
    return number(statement, value, wrong, unit="km")


def genetics(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The number of offspring of a cross with the recessive or the dominant trait."""
    n, dominant = 4 * rng.randint(10, 200), rng.random() < 0.5
    value = n * 3 // 4 if dominant else n // 4
    which = (("显性", "dominant"), ("隐性", "recessive"))[not dominant]
    share = "\\frac{3}{4}" if dominant else "\\frac{1}{4}"
    statement = render("genetics", rng, zh, n=n, which=which, share=share, value=value)
    return number(statement, value, [n - value, n // 2, n, value + 4, n // 8])
