"""Makers of problems on figures and solids."""

from __future__ import annotations

import random

from data_gen.makers import Drawn
from data_gen.makers.notation import coefficient, polynomial
from data_gen.makers.ways import formula, number, parts, verdicts
from data_gen.makers.words import tell

_TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29))


def triangle_area(rng: random.Random, zh: bool) -> Drawn:
    """The area of a triangle, or of a trapezium."""
    a, h, b = rng.randint(3, 24), 2 * rng.randint(2, 12), rng.randint(3, 20)
    if rng.random() < 0.5:
        told, value = (
            tell("triangle_area", rng, zh, a=a, h=h, whole=a * h, value=a * h // 2),
            a * h // 2,
        )
        wrong = [a * h, a + h, 2 * (a + h), value + a, value - 1]
    else:
        b += a == b
        value = (a + b) * h // 2
        told = tell("trapezium_area", rng, zh, a=a, b=b, h=h, s=a + b, value=value)
        wrong = [(a + b) * h, a * b * h, a * h, a + b + h, value + h]
    return number(rng, zh, told, value, wrong, unit="cm^2")


def right_triangle(rng: random.Random, zh: bool) -> Drawn:
    """A side of a right triangle by the theorem of Pythagoras."""
    a, b, c = (n * k for k in [rng.randint(1, 6)] for n in rng.choice(_TRIPLES))
    a, b = rng.sample((a, b), 2)
    if rng.random() < 0.5:
        told = tell("hypotenuse", rng, zh, a=a, b=b, s=a * a + b * b, c=c)
        return number(rng, zh, told, c, [a + b, c + 1, abs(a - b), c * c, a * b // 2], unit="cm")
    told = tell("leg", rng, zh, a=a, c=c, s=b * b, b=b)
    return number(rng, zh, told, b, [c - a, c + a, b + 1, b * b, a * b // 2], unit="cm")


def circle_parts(rng: random.Random, zh: bool) -> Drawn:
    """Circumference and area of a circle in terms of pi, in two parts."""
    r = rng.randint(2, 25)
    given_diameter = rng.random() < 0.5
    told = tell(
        "circle_diameter" if given_diameter else "circle_radius", rng, zh, r=r, d=2 * r, s=r * r
    )
    numbers = [
        (2 * r, r * r),
        (r * r, 2 * r),
        (4 * r, 4 * r * r),
        (r, r * r),
        (2 * r, 2 * r * r),
        (2 * r, r * r + r),
    ]
    texts = [
        tuple(f"{coefficient(n)}\\pi" for n in pair)
        for pair in numbers
        if pair != numbers[0] or pair is numbers[0]
    ]
    return parts(rng, zh, told, texts[0], texts[1:])


def rectangle_parts(rng: random.Random, zh: bool) -> Drawn:
    """Perimeter and area of a rectangle, in two parts."""
    a, b = rng.sample(range(3, 30), 2)
    told = tell("rectangle", rng, zh, a=a, b=b, s=a + b, p=2 * (a + b), area=a * b)
    p, area = 2 * (a + b), a * b
    wrong = [(area, p), (a + b, area), (p, area + a), (p, 2 * area), (p + 2, area), (p, p)]
    return parts(rng, zh, told, (p, area), wrong)


def solid_volume(rng: random.Random, zh: bool) -> Drawn:
    """The exact volume of a cylinder or a cone."""
    r, h, cone = rng.randint(2, 9), 3 * rng.randint(1, 6), rng.random() < 0.5
    whole = r * r * h
    value = whole // 3 if cone else whole
    told = tell(
        "solid_volume",
        rng,
        zh,
        r=r,
        h=h,
        base=r * r,
        kind=(("圆柱", "cylinder"), ("圆锥", "cone"))[cone],
        factor=("", "\\frac{1}{3}\\times ")[cone],
        value=value,
    )
    numbers = [
        whole if cone else whole // 3,
        2 * r * h,
        r * h,
        4 * whole if not cone else whole // 2,
        value * r,
    ]
    wrong = [f"{coefficient(n)}\\pi" for n in numbers if n != value]
    return number(rng, zh, told, f"{value}\\pi", wrong, unit="cm^3")


def angle_sum(rng: random.Random, zh: bool) -> Drawn:
    """The sum of the angles of a polygon, or one angle of a regular one."""
    n = rng.randint(5, 24)
    if rng.random() < 0.5:
        told = tell("angle_sum", rng, zh, n=n, m=n - 2, value=(n - 2) * 180)
        wrong = [n * 180, (n - 1) * 180, 360, (n - 2) * 90, (n - 3) * 180]
        return number(rng, zh, told, (n - 2) * 180, wrong, unit="°")
    n = rng.choice([5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36])
    value = 180 - 360 // n
    told = tell("regular_angle", rng, zh, n=n, outer=360 // n, value=value)
    return number(rng, zh, told, value, [360 // n, (n - 2) * 180, value + 10, 180 // n], unit="°")


def third_angle(rng: random.Random, zh: bool) -> Drawn:
    """The third angle of a triangle."""
    a, b = rng.randint(20, 80), rng.randint(20, 80)
    told = tell("third_angle", rng, zh, a=a, b=b, s=a + b)
    value = 180 - a - b
    return number(
        rng, zh, told, value, [a + b, 180 - a, 180 - b, 360 - a - b, value + 10], unit="°"
    )


def triangle_exists(rng: random.Random, zh: bool) -> Drawn:
    """Whether three lengths make a triangle."""
    a, b = rng.randint(2, 20), rng.randint(2, 20)
    c = a + b + rng.choice((-3, -2, -1, 0, 1, 2))
    sides = rng.sample((a, b, c), 3)
    sides = [max(1, s) for s in sides]
    *low, top = sorted(sides)
    told = tell("triangle_exists", rng, zh, a=sides[0], b=sides[1], c=sides[2], s=sum(low), top=top,
                sign=">" if sum(low) > top else "=" if sum(low) == top else "<")  # fmt: skip
    return verdicts(rng, zh, told, sum(low) > top)


def area_expression(rng: random.Random, zh: bool) -> Drawn:
    """The area of a rectangle or frame as an expression in x."""
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    told = tell("area_expression", rng, zh, a=a, b=b)
    texts = [
        polynomial(c)
        for c in ((a, a * b), (2 * a, b), (2, 2 * a + 2 * b), (a, b), (a + b, 0), (a, -a * b))
    ]
    return formula(rng, told, texts[0], texts[1:])
