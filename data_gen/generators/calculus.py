"""Generators of problems on limits, derivatives and integrals."""

from __future__ import annotations

import random
from fractions import Fraction

from . import GeneratedProblem
from .algebra import nonzero
from .builders import formula, number, polynomials
from .coordinates import line
from .notation import coefficient, polynomial
from .words import render


def derivative(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The derivative of a cubic."""
    a, b, c, d = rng.randint(1, 6), nonzero(rng, 8), nonzero(rng, 9), nonzero(rng, 9)
    three, two = 3 * a, 2 * b
    factors = {"a": coefficient(a), "b": b, "c": c}
    statement = render("derivative", rng, zh, f=(a, b, c, d), three=three, two=two, **factors)
    wrong = [(three, two, c, d), (a, b, c), (three, two, 0), (three, b, c), (three, two, c + d)]
    return polynomials(statement, (three, two, c), wrong, name="f'(x)")


def product_rule(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The derivative of x to a power times e^x, a sine or a logarithm."""
    n, k = rng.randint(2, 6), rng.randint(2, 9)
    power, lower = f"{k}x^{n}", f"{k * n}x" + (f"^{n - 1}" if n > 2 else "")
    outer, inner, sign = rng.choice(
        [("e^x", "e^x", "+"), ("\\sin x", "\\cos x", "+"), ("\\cos x", "\\sin x", "-")]
    )
    statement = render(
        "product_rule", rng, zh, f=f"{power}{outer}", power=power, lower=lower, outer=outer
    )
    value = f"{lower}{outer}{sign}{power}{inner}"
    other = "-" if sign == "+" else "+"
    wrong = [
        f"{lower}{inner}", f"{lower}{outer}{other}{power}{inner}", f"{lower}{outer}",
        f"{power}{outer}{sign}{lower}{inner}" if outer != inner else f"{power}{outer}",
        f"{k}x^{n - 1}{outer}{sign}{power}{inner}",
    ]  # fmt: skip
    return formula(statement, value, wrong, name="f'(x)")


def antiderivative(rng: random.Random, zh: bool) -> GeneratedProblem:
    """An indefinite integral of a quadratic."""
    a, b, c = rng.randint(1, 5), nonzero(rng, 5), nonzero(rng, 9)
    statement = render("antiderivative", rng, zh, f=(3 * a, 2 * b, c))
    wrong = [(3 * a, 2 * b, c, 0), (a, 2 * b, c, 0), (a, b, 0, 0), (a, -b, c, 0), (a, b, -c, 0)]
    texts = [f"{polynomial(w)}+C" for w in ((a, b, c, 0), (6 * a, 2 * b), *wrong)]
    return formula(statement, texts[0], texts[1:])


def integral(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The definite integral of a linear or quadratic function."""
    a, b, low = rng.randint(0, 2), nonzero(rng, 5), rng.randint(-2, 2)
    c, high = rng.randint(-9, 9), low + rng.randint(1, 4)
    bottom, top = (a * x**3 + b * x**2 + c * x for x in (low, high))
    value = top - bottom
    statement = render(
        "integral", rng, zh, f=(3 * a, 2 * b, c), primitive=(a, b, c, 0),
        low=low, high=high, top=top, bottom=bottom, value=value,
    )  # fmt: skip
    return number(statement, value, [top + bottom, -value, top, value + c, 2 * value])


def limit(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The limit of a quotient of quadratics at a common root, or at infinity."""
    r = nonzero(rng, 6)
    p, q = rng.sample([n for n in range(-8, 9) if n != r], 2)
    value, top, bottom = Fraction(r - p, r - q), (1, -r - p, r * p), (1, -r - q, r * q)
    statement = render("limit", rng, zh, top=top, bottom=bottom, r=r, f=(1, -p), g=(1, -q))
    return number(statement, value, [0, 1, 1 / value, -value, Fraction(p, q) if q else 2])


def tangent(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The tangent of a parabola at a point, in slope or general form."""
    a, b, c, t = rng.randint(1, 3), rng.randint(-5, 5), rng.randint(-9, 9), rng.randint(-3, 3)
    slope, y = 2 * a * t + b, a * t * t + b * t + c
    statement = render("tangent", rng, zh, f=(a, b, c), df=(2 * a, b), t=t, y=y, slope=slope)
    shift, far = y - slope * t, y + slope * t
    wrong = [(slope, y), (slope, far), (-slope, far), (slope + 1, shift), (slope, shift + 1)]
    return line(statement, (slope, shift), wrong)
