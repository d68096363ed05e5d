"""Generators of problems on figures and solids."""

from __future__ import annotations

import random

from . import GeneratedProblem
from .builders import number, parts, polynomials, verdicts
from .notation import coefficient, order
from .words import render

_TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29))


def triangle_area(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The area of a triangle, or of a trapezium."""
    a, h, b = rng.randint(3, 24), 2 * rng.randint(2, 12), rng.randint(3, 20)
    if rng.random() < 0.5:
        value = a * h // 2
        statement = render("triangle_area", rng, zh, a=a, h=h, whole=a * h, value=value)
        wrong = [a * h, a + h, 2 * (a + h), value + a, value - 1]
    else:
        b += a == b
        value = (a + b) * h // 2
        statement = render("trapezium_area", rng, zh, a=a, b=b, h=h, s=a + b, value=value)
        wrong = [(a + b) * h, a * b * h, a * h, a + b + h, value + h]
    return number(statement, value, wrong, unit="cm^2")


def right_triangle(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A side of a right triangle by the theorem of Pythagoras."""
    a, b, c = (n * k for k in [rng.randint(1, 6)] for n in rng.choice(_TRIPLES))
    a, b = rng.sample((a, b), 2)
    if rng.random() < 0.5:
        statement = render("hypotenuse", rng, zh, a=a, b=b, s=a * a + b * b, c=c)
        return number(statement, c, [a + b, c + 1, abs(a - b), c * c, a * b // 2], unit="cm")
    statement = render("leg", rng, zh, a=a, c=c, s=b * b, b=b)
    return number(statement, b, [c - a, c + a, b + 1, b * b, a * b // 2], unit="cm")


def circle_parts(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Circumference and area of a circle in terms of pi, in two parts."""
    r = rng.randint(2, 25)
    name = rng.choice(("circle_diameter", "circle_radius"))
    statement = render(name, rng, zh, r=r, d=2 * r, s=r * r)
    d, s = 2 * r, r * r
    sizes = [(d, s), (2 * d, 4 * s), (r, s), (d, 2 * s), (d, s + r)]
    value, *wrong = [tuple(f"{coefficient(n)}\\pi" for n in pair) for pair in sizes]
    return parts(statement, value, wrong)


def rectangle_parts(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Perimeter and area of a rectangle, in two parts."""
    a, b = rng.sample(range(3, 30), 2)
    p, area = 2 * (a + b), a * b
    statement = render("rectangle", rng, zh, a=a, b=b, s=a + b, p=p, area=area)
    return parts(statement, (p, area), [(a + b, area), (p, area + a), (p, 2 * area), (p + 2, area)])


def solid_volume(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The exact volume of a cylinder or a cone."""
    r, h, cone = rng.randint(2, 9), 3 * rng.randint(1, 6), rng.random() < 0.5
    whole = r * r * h
    value, other, odd = (whole // 3, whole, whole // 2) if cone else (whole, whole // 3, 4 * whole)
    kind = (("圆柱", "cylinder"), ("圆锥", "cone"))[cone]
    factor = "\\frac{1}{3}\\times " if cone else ""
    statement = render(
        "solid_volume", rng, zh, r=r, h=h, base=r * r, kind=kind, factor=factor, value=value
    )
    sizes = [value, other, 2 * r * h, r * h, odd, value * r]
    right, *wrong = (f"{coefficient(n)}\\pi" for n in sizes)
    return number(statement, right, wrong, unit="cm^3")


def angle_sum(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The sum of the angles of a polygon, or one angle of a regular polygon."""
    n = rng.randint(5, 24)
    if rng.random() < 0.5:
        statement = render("angle_sum", rng, zh, n=n, m=n - 2, value=(n - 2) * 180)
        wrong = [n * 180, (n - 1) * 180, 360, (n - 2) * 90, (n - 3) * 180]
        return number(statement, (n - 2) * 180, wrong, unit="°")
    n = rng.choice([5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36])
    value = 180 - 360 // n
    statement = render("regular_angle", rng, zh, n=n, outer=360 // n, value=value)
    return number(statement, value, [360 // n, (n - 2) * 180, value + 10, 180 // n], unit="°")


def third_angle(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The third angle of a triangle."""
    a, b = rng.randint(20, 80), rng.randint(20, 80)
    statement = render("third_angle", rng, zh, a=a, b=b, s=a + b)
    value = 180 - a - b
    wrong = [a + b, 180 - a, 180 - b, 360 - a - b, value + 10]
    return number(statement, value, wrong, unit="°")


def triangle_exists(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether three lengths can be the sides of a triangle."""
    a, b = rng.randint(2, 20), rng.randint(2, 20)
    a, b, c = rng.sample((a, b, max(1, a + b + rng.choice((-3, -2, -1, 0, 1, 2)))), 3)
    *low, top = sorted((a, b, c))
    s = sum(low)
    statement = render("triangle_exists", rng, zh, a=a, b=b, c=c, s=s, top=top, sign=order(s, top))
    return verdicts(statement, s > top)


def area_expression(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The area of a rectangle or frame as an expression in x."""
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    statement = render("area_expression", rng, zh, a=a, b=b)
    wrong = [(2 * a, b), (2, 2 * a + 2 * b), (a, b), (a + b, 0)]
    return polynomials(statement, (a, a * b), wrong)
