"""Generators of problems on points, lines, circles and vectors in coordinates."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from operator import add, mul, neg, sub

from . import GeneratedProblem
from .algebra import nonzero
from .builders import equations, number, point
from .notation import coefficient, polynomial
from .words import Statement, render, section

Line = tuple[int | Fraction, int | Fraction]
"""Slope and shift."""


def midpoint(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The midpoint of a segment."""
    x, y, dx, dy = (nonzero(rng, 9) for _ in range(4))
    ends = {"a": x - dx, "b": y - dy, "c": x + dx, "d": y + dy}
    statement = render("midpoint", rng, zh, **ends, x=x, y=y, sx=2 * x, sy=2 * y)
    return point(statement, (x, y), [(dx, dy), (2 * x, 2 * y), (x + 1, y)])


def reflection(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A point mirrored in an axis, the origin or the line y = x."""
    a, b = nonzero(rng, 12), nonzero(rng, 12)
    images = {"x": (a, -b), "y": (-a, b), "origin": (-a, -b), "diagonal": (b, a)}
    name, zh_name, en_name, zh_why, en_why = rng.choice(section("reflection").rows)
    statement = render(
        "reflection", rng, zh, a=a, b=b, mirror=(zh_name, en_name), why=(zh_why, en_why)
    )
    return point(statement, images[name], [*images.values(), (a, b), (-b, -a)])


def vectors(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A combination of two vectors in the plane or in space."""
    n = rng.choice((2, 2, 3))
    u, v = (tuple(rng.randint(-6, 6) for _ in range(n)) for _ in range(2))
    k, m = rng.randint(2, 4), nonzero(rng, 3)
    sign = ("+" if m > 0 else "-") + coefficient(abs(m))
    ku, mv = tuple(k * x for x in u), tuple(m * x for x in v)
    statement = render(
        "vectors", rng, zh, u=_row(u), v=_row(v), k=k, sign=sign, ku=_row(ku), mv=_row(mv)
    )
    value, *wrong = (
        tuple(map(join, x, y))
        for join, x, y in ((add, ku, mv), (sub, ku, mv), (add, u, mv), (add, ku, v))
    )
    return point(statement, value, [*wrong, (value[0] + 1, *value[1:]), tuple(map(neg, value))])


def cross_product(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The cross product of two vectors in space."""
    a, b = (tuple(rng.randint(-4, 5) for _ in range(3)) for _ in range(2))
    value = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    statement = render("cross_product", rng, zh, a=_row(a), b=_row(b), first=value[0])
    wrong = [tuple(map(neg, value)), tuple(map(mul, a, b)), tuple(map(add, a, b))]
    return point(statement, value, [*wrong, (*value[:2], value[2] + 1)])


def dot_product(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The dot product of two vectors."""
    n = rng.choice((2, 3))
    a, b = (tuple(rng.randint(-6, 8) for _ in range(n)) for _ in range(2))
    first, *rest = terms = [*map(mul, a, b)]
    shown = "+".join(f"({t})" for t in terms)
    statement = render("dot_product", rng, zh, a=_row(a), b=_row(b), terms=shown)
    value = sum(terms)
    wrong = [first - sum(rest), -value, sum(map(abs, terms)), sum(a) * sum(b), sum(rest)]
    return number(statement, value, wrong)


def determinant(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The determinant of a 2 by 2 matrix."""
    a, b, c, d = (rng.randint(-7, 9) for _ in range(4))
    statement = render("determinant", rng, zh, a=a, b=b, c=c, d=d, ad=a * d, bc=b * c)
    value = a * d - b * c
    return number(statement, value, [a * d + b * c, -value, a * c - b * d, a * b - c * d, a + d])


def distance(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The distance of two points, a whole number or a root in simplest form."""
    x, y, dx, dy = rng.randint(-9, 9), rng.randint(-9, 9), nonzero(rng, 12), nonzero(rng, 12)
    s = dx * dx + dy * dy
    statement = render(
        "distance", rng, zh, a=x, b=y, c=x + dx, d=y + dy, dx=abs(dx), dy=abs(dy), s=s
    )
    sums = [abs(dx) + abs(dy), s, root(abs(dx * dx - dy * dy)), root(s + 1), root(2 * s)]
    return number(statement, root(s), [w for w in sums if w != 0])


def root(n: int) -> int | str:
    """The square root of ``n`` in simplest form."""
    k = max(k for k in range(1, math.isqrt(n) + 1) if n % (k * k) == 0) if n else 0
    rest = n // (k * k) if k else 1
    return k if rest == 1 else f"{coefficient(k)}\\sqrt{{{rest}}}"


def circle_equation(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The equation of a circle by its centre and radius."""
    a, b, r = nonzero(rng, 6), nonzero(rng, 6), rng.randint(2, 9)
    s = r * r
    statement = render("circle_equation", rng, zh, a=a, b=b, r=r, s=s)
    wrong = [(-a, -b, s), (a, b, r), (a, b, 2 * r), (b, a, s), (a, b, s + 1), (a, -b, s)]
    return equations(statement, (a, b, s), wrong, [_centre_form, _expanded_form])


def line_through(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The line through two points."""
    k, b, x, run = nonzero(rng, 5), rng.randint(-9, 9), rng.randint(-4, 3), rng.randint(1, 4)
    y, z, rise = k * x + b, x + run, k * run
    statement = render("line_through", rng, zh, x=x, y=y, z=z, w=y + rise, k=k, rise=rise, run=run)
    wrong = [(-k, b), (k, -b), (k, b + k), (-k, b + 2 * k * x), (k + 1, b - x), (k, b - 1)]
    return line(statement, (k, b), wrong)


def perpendicular(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The line through a point, parallel or at right angles to a given one."""
    k, x, b = rng.choice((2, 3, 4, -2, -3)), rng.randint(-4, 4), rng.randint(-9, 9)
    slope, other, how = Fraction(-1, k), Fraction(k), ("垂直", "perpendicular")
    if rng.random() < 0.5:
        slope, other, how = other, slope, ("平行", "parallel")
    x, y = x * slope.denominator, rng.randint(-9, 9)
    statement = render("perpendicular", rng, zh, x=x, y=y, f=(k, b), k=k, slope=slope, how=how)
    shift, far = y - slope * x, y - other * x
    given: list[Line] = [(other, far), (slope, b), (slope, y)]
    wrong = [*given, (-slope, y + slope * x), (slope, shift + 1)]
    return line(statement, (slope, shift), wrong)


def line(statement: Statement, value: Line, wrong: Sequence[Line]) -> GeneratedProblem:
    """A line by its slope and its shift, in slope or general form."""
    right, *others = ((Fraction(slope), Fraction(shift)) for slope, shift in (value, *wrong))
    return equations(statement, right, others, [lambda v: f"y={polynomial(v)}", _general_form])


def _general_form(line: tuple[Fraction, Fraction]) -> str:
    k = math.lcm(*(number.denominator for number in line))
    a, c = (int(number * k) for number in line)
    return f"{coefficient(a) + 'x' if a else ''}-{coefficient(k)}y{f'{c:+d}' if c else ''}=0"


def _centre_form(circle: tuple[int, int, int]) -> str:
    a, b, s = circle
    return f"({polynomial((1, -a))})^2+({polynomial((1, -b), 'y')})^2={s}"


def _expanded_form(circle: tuple[int, int, int]) -> str:
    a, b, s = circle
    text = f"x^2+y^2{-2 * a:+d}x{-2 * b:+d}y{a * a + b * b - s:+d}=0"
    return text.replace("+0=", "=")


def _row(vector: tuple[int, ...]) -> str:
    return f"({','.join(map(str, vector))})"
