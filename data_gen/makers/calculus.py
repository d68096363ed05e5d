"""Makers of problems on limits, derivatives and integrals."""

from __future__ import annotations

import random
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.algebra import nonzero
from data_gen.makers.notation import Num, coefficient, polynomial
from data_gen.makers.ways import (
    equations,
    formula,
    number,
    polynomials,
)
from data_gen.makers.words import tell


def derivative(rng: random.Random, zh: bool) -> Drawn:
    """The derivative of a cubic."""
    a, b, c, d = rng.randint(1, 6), nonzero(rng, 8), nonzero(rng, 9), nonzero(rng, 9)
    told = tell(
        "derivative",
        rng,
        zh,
        f=polynomial((a, b, c, d)),
        a=coefficient(a),
        three=3 * a,
        b=b,
        two=2 * b,
        c=c,
    )
    wrong = [
        (3 * a, 2 * b, c, d), (a, b, c), (3 * a, 2 * b, 0), (3 * a, -2 * b, c), (3 * a, b, c),
        (3 * a, 2 * b, c + d), (3 * a, 2 * b, -c),
    ]  # fmt: skip
    return polynomials(rng, told, (3 * a, 2 * b, c), wrong, name="f'(x)")


def product_rule(rng: random.Random, zh: bool) -> Drawn:
    """The derivative of x to a power times e^x, a sine or a logarithm."""
    n, k = rng.randint(2, 6), rng.randint(2, 9)
    power, lower = f"{k}x^{n}", f"{k * n}x" + (f"^{n - 1}" if n > 2 else "")
    outer, inner, sign = rng.choice(
        [("e^x", "e^x", "+"), ("\\sin x", "\\cos x", "+"), ("\\cos x", "\\sin x", "-")]
    )
    told = tell("product_rule", rng, zh, f=f"{power}{outer}", power=power, lower=lower, outer=outer)
    value = f"{lower}{outer}{sign}{power}{inner}"
    other = "-" if sign == "+" else "+"
    wrong = [
        f"{lower}{inner}", f"{lower}{outer}{other}{power}{inner}", f"{lower}{outer}",
        f"{power}{outer}{sign}{lower}{inner}" if outer != inner else f"{power}{outer}",
        f"{k}x^{n - 1}{outer}{sign}{power}{inner}",
    ]  # fmt: skip
    return formula(rng, told, value, wrong, name="f'(x)")


def antiderivative(rng: random.Random, zh: bool) -> Drawn:
    """An indefinite integral of a quadratic."""
    a, b, c = rng.randint(1, 5), nonzero(rng, 5), nonzero(rng, 9)
    told = tell("antiderivative", rng, zh, f=polynomial((3 * a, 2 * b, c)))
    wrong = [
        (6 * a, 2 * b),
        (3 * a, 2 * b, c, 0),
        (a, 2 * b, c, 0),
        (a, b, 0, 0),
        (a, -b, c, 0),
        (a, b, -c, 0),
    ]
    texts = [f"{polynomial(w)}+C" for w in [(a, b, c, 0), *wrong]]
    return formula(rng, told, texts[0], texts[1:])


def integral(rng: random.Random, zh: bool) -> Drawn:
    """The definite integral of a linear or quadratic function."""
    a, b, low = rng.randint(0, 2), nonzero(rng, 5), rng.randint(-2, 2)
    c, high = rng.randint(-9, 9), low + rng.randint(1, 4)
    coefficients = (3 * a, 2 * b, c)

    def primitive(x: int) -> int:
        return a * x**3 + b * x**2 + c * x

    value = primitive(high) - primitive(low)
    told = tell(
        "integral", rng, zh, f=polynomial(coefficients), primitive=polynomial((a, b, c, 0)),
        low=low, high=high, top=primitive(high), bottom=primitive(low), value=value,
    )  # fmt: skip
    wrong = [
        primitive(high) + primitive(low),
        -value,
        primitive(high),
        value + c,
        2 * value,
        value + 1,
    ]
    return number(rng, zh, told, value, wrong)


def limit(rng: random.Random, zh: bool) -> Drawn:
    """The limit of a quotient of quadratics at a common root, or at infinity."""
    r, p, q = nonzero(rng, 6), *rng.sample(range(-8, 9), 2)
    while r in (p, q):
        p, q = rng.sample(range(-8, 9), 2)
    value = Fraction(r - p, r - q)
    told = tell(
        "limit", rng, zh, top=polynomial((1, -r - p, r * p)), bottom=polynomial((1, -r - q, r * q)),
        r=r, f=polynomial((1, -p)), g=polynomial((1, -q)),
    )  # fmt: skip
    wrong: list[Num] = [0, 1, 1 / value, -value, Fraction(p, q) if q else 2, value + 1]
    return number(rng, zh, told, value, wrong)


def tangent(rng: random.Random, zh: bool) -> Drawn:
    """The tangent of a parabola at a point, in slope or general form."""
    a, b, c, t = rng.randint(1, 3), rng.randint(-5, 5), rng.randint(-9, 9), rng.randint(-3, 3)
    slope, y = 2 * a * t + b, a * t * t + b * t + c
    told = tell(
        "tangent",
        rng,
        zh,
        f=polynomial((a, b, c)),
        df=polynomial((2 * a, b)),
        t=t,
        y=y,
        slope=slope,
    )
    value = (slope, y - slope * t)
    wrong = [
        (slope, y),
        (slope, y + slope * t),
        (-slope, y + slope * t),
        (slope + 1, y - slope * t),
        (slope, 1 + value[1]),
    ]
    forms = [
        lambda v: f"y={polynomial(v)}",
        lambda v: f"{polynomial((v[0], v[1]))}-y=0" if any(v) else "y=0",
    ]
    return equations(rng, told, value, [w for w in wrong if w != value], forms)
