"""Generators of problems on functions, logarithms and angles."""

from __future__ import annotations

import random
from fractions import Fraction

from . import GeneratedProblem
from .algebra import nonzero
from .builders import (
    equations,
    formula,
    number,
    parts,
    point,
    polynomials,
    several,
    verdicts,
)
from .notation import polynomial, tex
from .words import render


def logarithm(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The sum or difference of two logarithms, which is a whole number."""
    base, m = rng.choice([(2, 5), (2, 3), (3, 2), (3, 4), (10, 3), (5, 2), (2, 7), (10, 2), (6, 2)])
    n = rng.randint(2, 12)
    plus = rng.random() < 0.5
    total = base**m
    if plus and total % n:
        n = next(d for d in range(2, total + 1) if total % d == 0)
    a = total // n if plus else total * n
    statement = render(
        "logarithm", rng, zh, base=base, a=a, n=n, m=m, total=total,
        sign="+" if plus else "-", made=f"{a}\\times {n}" if plus else f"\\frac{{{a}}}{{{n}}}",
    )  # fmt: skip
    return number(statement, m, [total, m + 1, m - 1, -m, m * base, Fraction(1, m)])


def trigonometry(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A sine, cosine or tangent of a special angle, exact."""
    half, two, three = "\\frac{1}{2}", "\\frac{\\sqrt{2}}{2}", "\\frac{\\sqrt{3}}{2}"
    sines = {30: half, 45: two, 60: three}
    tangents = {30: "\\frac{\\sqrt{3}}{3}", 45: "1", 60: "\\sqrt{3}"}
    angle = rng.choice(
        [x + y for x in (0, 180, 360) for y in (30, 45, 60, -30, -45, -60) if x + y > 0]
    )
    acute = min(angle % 180, 180 - angle % 180)
    name = rng.choice(("sin", "cos", "tan"))
    size = {"sin": sines[acute], "cos": sines[90 - acute], "tan": tangents[acute]}[name]
    quadrant = angle % 360 // 90
    negative = quadrant in {"sin": (2, 3), "cos": (1, 2), "tan": (1, 3)}[name]
    value = f"-{size}" if negative else size
    statement = render(
        "trigonometry", rng, zh, name=name, angle=angle, acute=acute, quadrant=quadrant + 1
    )
    every = [*sines.values(), *tangents.values()]
    wrong = [size if negative else f"-{size}", *rng.sample([x for x in every if x != size], 3)]
    return number(statement, value, [*wrong, f"-{rng.choice(every[:3])}"])


def sine_equation(rng: random.Random, zh: bool) -> GeneratedProblem:
    """All angles of a full turn whose sine or cosine has a special value, in degrees."""
    name, value, found = rng.choice([
        ("sin", "\\frac{1}{2}", (30, 150)), ("sin", "\\frac{\\sqrt{2}}{2}", (45, 135)),
        ("sin", "\\frac{\\sqrt{3}}{2}", (60, 120)), ("sin", "-\\frac{1}{2}", (210, 330)),
        ("sin", "-\\frac{\\sqrt{2}}{2}", (225, 315)), ("sin", "-\\frac{\\sqrt{3}}{2}", (240, 300)),
        ("cos", "\\frac{1}{2}", (60, 300)), ("cos", "\\frac{\\sqrt{2}}{2}", (45, 315)),
        ("cos", "\\frac{\\sqrt{3}}{2}", (30, 330)), ("cos", "-\\frac{1}{2}", (120, 240)),
        ("cos", "-\\frac{\\sqrt{2}}{2}", (135, 225)), ("cos", "-\\frac{\\sqrt{3}}{2}", (150, 210)),
    ])  # fmt: skip
    a, b = found
    statement = render("sine_equation", rng, zh, name=name, value=value, a=a, b=b)
    across = (a + 180) % 360, (b + 180) % 360
    every = (found, across, (a, across[0]), (a, b + 15), (a - 10, b))
    right, *wrong = [tuple(f"{x}^\\circ" for x in angles) for angles in every]
    return several(statement, right, wrong, name="x")


def vertex(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The vertex of a parabola."""
    a, h, k = nonzero(rng, 4), nonzero(rng, 7), nonzero(rng, 12)
    statement = render("vertex", rng, zh, f=(a, -2 * a * h, a * h * h + k), h=h, k=k)
    return point(statement, (h, k), [(2 * h, k), (h, a * h * h + k), (h + 1, k)])


def quadratic_parts(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The position and the size of the extreme value of a quadratic, in two parts."""
    a, h, k = nonzero(rng, 3), nonzero(rng, 6), nonzero(rng, 15)
    which, cut = (("最小值", "least"), ("最大值", "greatest"))[a < 0], a * h * h + k
    statement = render("quadratic_parts", rng, zh, f=(a, -2 * a * h, cut), which=which, a=a, h=h)
    return parts(statement, (h, k), [(-h, k), (h, -k), (h, cut), (h, k + 1), (2 * h, k)])


def axis(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The axis of symmetry of a parabola."""
    a, b, c = nonzero(rng, 4), nonzero(rng, 12), rng.randint(-9, 9)
    x = Fraction(-b, 2 * a)
    statement = render("axis", rng, zh, f=(a, b, c), a=a, b=b)
    wrong = [-x, x * 2, x + 1, Fraction(-a, 2 * b), Fraction(c)]
    return equations(statement, x, wrong, [lambda v: f"x={tex(v)}"])


def inverse(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The inverse of a linear function."""
    a, b = rng.randint(2, 9), nonzero(rng, 12)
    statement = render("inverse", rng, zh, f=(a, b), a=a, b=b, minus=(1, -b))
    quotients = [(1, -b, a), (1, b, a), (1, -b - 1, a), (-1, b, a), (1, -a, abs(b))]
    right, *wrong = (
        f"\\frac{{{polynomial((p, q))}}}{{{below}}}" if below > 1 else polynomial((p, q))
        for p, q, below in quotients
    )
    return formula(statement, right, [*wrong, polynomial((a, -b))], name="f^{-1}(x)")


def composition(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The composition of two functions."""
    a, b, c = rng.randint(2, 6), nonzero(rng, 7), nonzero(rng, 9)
    statement = render("composition", rng, zh, f=(1, 0, c), g=(a, b), c=f"{c:+d}")
    s, m, t = a * a, 2 * a * b, b * b + c
    wrong = [(a, 0, a * c + b), (s, 0, t), (s, m, t - 2 * c), (a, m, t), (s, a * b, t)]
    return polynomials(statement, (s, m, t), wrong, name="f(g(x))")


def parity(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether a claim that a function is odd or even is true."""
    a, m, n = nonzero(rng, 9), rng.randint(1, 4), nonzero(rng, 9)
    kind, claimed = rng.randrange(3), rng.randrange(2)  # even, odd, neither
    power, low = [(2 * m, 0), (2 * m + 1, 1), (2 * m, 1)][kind]
    f = (a, *[0] * (power - low - 1), n, *[0] * low)
    claim = (("偶函数", "even"), ("奇函数", "odd"))[claimed]
    which = (("偶数", "even"), ("奇数", "odd"))[power % 2]
    statement = render("parity", rng, zh, f=f, claim=claim, m=power, which=which)
    return verdicts(statement, kind == claimed)


def increasing(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether a claim that a linear or exponential function increases or decreases is true."""
    base, b, up = rng.randint(2, 9), rng.randint(-9, 9), rng.random() < 0.5
    f = polynomial((base if up else -base, b))
    if rng.random() < 0.4:
        f = f"{base}^{{{'' if up else '-'}x}}{f'{b:+d}' if b else ''}"
    claimed = rng.random() < 0.5
    claim = (("减", "decreasing"), ("增", "increasing"))[claimed]
    fact = (("减小", "falls"), ("增大", "rises"))[up]
    statement = render("increasing", rng, zh, f=f, claim=claim, fact=fact)
    return verdicts(statement, up == claimed)
