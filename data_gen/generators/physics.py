"""Generators of problems from physics, with units."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

from . import GeneratedProblem
from .builders import number, parts, several
from .notation import Num
from .words import render


def speed(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A distance, a speed or a time from the other two."""
    v, t = rng.randint(4, 24) * 5, rng.randint(2, 9)
    statement = render("speed", rng, zh, s=v * t, t=t, v=v)
    return number(statement, v, [v * t * t, v + t, v * t - t, v - 5, v + 10], unit="km/h")


def acceleration_parts(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Speed and distance after a uniform acceleration, in two parts."""
    v0, a, t = rng.randint(0, 10), 2 * rng.randint(1, 4), rng.randint(2, 8)
    v, s = v0 + a * t, v0 * t + a * t * t // 2
    statement = render("acceleration_parts", rng, zh, v0=v0, a=a, t=t, v=v, s=s)
    wrong = [(a * t, s), (v, v0 * t + a * t * t), (v, v * t), (v + a, s), (v, s + t)]
    return parts(statement, (v, s), wrong)


def density(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The mass of a body by its density and volume."""
    tenths, volume = rng.choice((8, 9, 10, 27, 79, 89, 113, 25, 12)), rng.randint(2, 40) * 10
    rho = Decimal(tenths) / 10
    mass, quotient = rho * volume, (volume / rho).quantize(Decimal("0.1"))
    statement = render("density", rng, zh, rho=rho, volume=volume, mass=mass)
    return number(
        statement, mass, [quotient, mass * 10, mass + volume, mass / 10, mass + 10], unit="g"
    )


def newton(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The acceleration by a force with friction."""
    m, a, f = rng.randint(2, 20), rng.randint(1, 9), rng.randint(2, 30)
    force = m * a + f
    statement = render("newton", rng, zh, m=m, force=force, f=f, net=m * a, a=a)
    wrong: list[Num] = [Fraction(force, m), Fraction(force + f, m), m * a, m * a * m]
    return number(statement, a, wrong, unit="m/s^2", name="a")


def kinetic_energy(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The kinetic energy of a body."""
    m, v = 2 * rng.randint(1, 30), rng.randint(2, 20)
    value = m * v * v // 2
    statement = render("kinetic_energy", rng, zh, m=m, v=v, square=v * v, value=value)
    return number(
        statement, value, [m * v * v, m * v, m * v // 2, value + m, m * m * v // 2], unit="J"
    )


def work_and_power(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Work and power of a steady pull, in two parts."""
    force, d, t = rng.randint(2, 30) * 10, rng.randint(2, 12), rng.choice((2, 4, 5, 10))
    work = Decimal(force * d)
    power = work / t
    statement = render("work_and_power", rng, zh, force=force, d=d, t=t, work=work, power=power)
    wrong = [(work, work * t), (Decimal(force), power), (work + d, power), (work, power + 1)]
    return parts(statement, (work, power), wrong)


def ohm(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The current through two resistors in series or in parallel."""
    i = rng.randint(1, 6)
    if rng.random() < 0.5:
        r1, r2 = rng.randint(2, 12), rng.randint(2, 12)
        r = r1 + r2
        u = i * r
        statement = render("ohm_series", rng, zh, r1=r1, r2=r2, r=r, u=u, i=i)
        other = Fraction(u * r, r1 * r2)
    else:
        r1, r2, r = rng.choice(
            ((3, 6, 2), (4, 12, 3), (6, 12, 4), (10, 15, 6), (5, 20, 4), (20, 30, 12), (8, 8, 4))
        )
        u = i * r
        statement = render("ohm_parallel", rng, zh, r1=r1, r2=r2, r=r, u=u, i=i)
        other = Fraction(u, r1 + r2)
    wrong = [other, Fraction(u, r1), Fraction(u * (r1 + r2)), Fraction(u, r2)]
    return number(statement, i, wrong, unit="A", name="I")


def pressure(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The pressure of a liquid at a depth."""
    depth, rho = rng.randint(2, 60), rng.choice((1000, 800, 1200))
    value = rho * 10 * depth
    statement = render("pressure", rng, zh, depth=depth, rho=rho, value=value)
    wrong = [rho * depth, value * 10, rho * 10 + depth, value + 1000, value // 2]
    return number(statement, value, wrong, unit="Pa")


def heat(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The heat needed to warm water."""
    m, low, rise = rng.randint(1, 10), rng.randint(10, 40), rng.randint(2, 12) * 5
    value = 4200 * m * rise
    statement = render("heat", rng, zh, m=m, low=low, high=low + rise, rise=rise, value=value)
    wrong = [4200 * m * (low + rise), 4200 * rise + m, m * rise, value * 10, 4200 * m * low]
    return number(statement, value, wrong, unit="J")


def projectile_times(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Both times at which a ball thrown upwards passes a height."""
    t1, t2 = sorted(rng.sample(range(1, 8), 2))
    total, product = t1 + t2, t1 * t2
    statement = render("projectile_times", rng, zh, v=5 * total, h=5 * product, s=total, p=product)
    wrong = [(t1, t2 + 1), (total, product), (2 * t1, 2 * t2), (t1 - 1, t2)]
    return several(statement, (t1, t2), wrong, name="t")
