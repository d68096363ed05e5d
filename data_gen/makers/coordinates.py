"""Makers of problems on points, lines, circles and vectors in coordinates."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.algebra import nonzero
from data_gen.makers.notation import coefficient, polynomial, tex
from data_gen.makers.ways import equations, number, point
from data_gen.makers.words import tell

_TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29))


def midpoint(rng: random.Random, zh: bool) -> Drawn:
    """The midpoint of a segment."""
    x, y, dx, dy = (nonzero(rng, 9) for _ in range(4))
    told = tell(
        "midpoint", rng, zh, a=x - dx, b=y - dy, c=x + dx, d=y + dy, x=x, y=y, sx=2 * x, sy=2 * y
    )
    wrong = [(y, x), (x, -y), (dx, dy), (2 * x, 2 * y), (x + 1, y), (-x, y)]
    return point(rng, zh, told, (x, y), wrong)


def reflection(rng: random.Random, zh: bool) -> Drawn:
    """A point mirrored in an axis, the origin or the line y = x."""
    a, b = nonzero(rng, 12), nonzero(rng, 12)
    images = {
        "x": (
            a,
            -b,
            "x 轴",
            "the x-axis",
            "横坐标不变，纵坐标变号",
            "The first coordinate stays, the second changes sign",
        ),
        "y": (
            -a,
            b,
            "y 轴",
            "the y-axis",
            "纵坐标不变，横坐标变号",
            "The second coordinate stays, the first changes sign",
        ),
        "o": (-a, -b, "原点", "the origin", "两个坐标都变号", "Both coordinates change sign"),
        "d": (
            b,
            a,
            "直线 $y=x$",
            "the line $y = x$",
            "两个坐标互换",
            "The coordinates change places",
        ),
    }
    x, y, zh_name, en_name, zh_why, en_why = images[rng.choice("xyod")]
    told = tell("reflection", rng, zh, a=a, b=b, mirror=(zh_name, en_name), why=(zh_why, en_why))
    wrong = [*((i[0], i[1]) for i in images.values()), (a, b), (-b, -a)]
    return point(rng, zh, told, (x, y), wrong)


def vectors(rng: random.Random, zh: bool) -> Drawn:
    """A combination of two vectors in the plane or in space."""
    n = rng.choice((2, 2, 3))
    u, v = (tuple(rng.randint(-6, 6) for _ in range(n)) for _ in range(2))
    k, m = rng.randint(2, 4), nonzero(rng, 3)
    sign = ("+" if m > 0 else "-") + coefficient(abs(m))
    ku, mv = tuple(k * x for x in u), tuple(m * x for x in v)
    told = tell("vectors", rng, zh, u=_row(u), v=_row(v), k=k, sign=sign, ku=_row(ku), mv=_row(mv))
    value = tuple(x + y for x, y in zip(ku, mv, strict=True))
    wrong = [
        tuple(x - y for x, y in zip(ku, mv, strict=True)),
        tuple(x + m * y for x, y in zip(u, v, strict=True)),
        tuple(x + y for x, y in zip(ku, v, strict=True)),
        (value[0] + 1, *value[1:]),
        tuple(-x for x in value),
    ]
    return point(rng, zh, told, value, wrong)


def cross_product(rng: random.Random, zh: bool) -> Drawn:
    """The cross product of two vectors in space."""
    a, b = (tuple(rng.randint(-4, 5) for _ in range(3)) for _ in range(2))
    value = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    told = tell("cross_product", rng, zh, a=_row(a), b=_row(b), first=value[0])
    wrong = [
        tuple(-x for x in value),
        (value[0], -value[1], value[2]),
        tuple(x * y for x, y in zip(a, b, strict=True)),
        tuple(x + y for x, y in zip(a, b, strict=True)),
        (value[0], value[1], value[2] + 1),
    ]
    return point(rng, zh, told, value, wrong)


def dot_product(rng: random.Random, zh: bool) -> Drawn:
    """The dot product of two vectors."""
    n = rng.choice((2, 3))
    a, b = (tuple(rng.randint(-6, 8) for _ in range(n)) for _ in range(2))
    terms = [x * y for x, y in zip(a, b, strict=True)]
    value = sum(terms)
    told = tell(
        "dot_product", rng, zh, a=_row(a), b=_row(b), terms="+".join(f"({t})" for t in terms)
    )
    wrong = [
        terms[0] - sum(terms[1:]),
        -value,
        sum(map(abs, terms)),
        sum(a) * sum(b),
        value + 1,
        value - terms[0],
    ]
    return number(rng, zh, told, value, wrong)


def determinant(rng: random.Random, zh: bool) -> Drawn:
    """The determinant of a 2 by 2 matrix."""
    a, b, c, d = (rng.randint(-7, 9) for _ in range(4))
    told = tell("determinant", rng, zh, a=a, b=b, c=c, d=d, ad=a * d, bc=b * c)
    value = a * d - b * c
    return number(
        rng,
        zh,
        told,
        value,
        [a * d + b * c, -value, a * c - b * d, a * b - c * d, value + 1, a + d],
    )


def distance(rng: random.Random, zh: bool) -> Drawn:
    """The distance of two points, a whole number or a root in simplest form."""
    x, y, dx, dy = rng.randint(-9, 9), rng.randint(-9, 9), nonzero(rng, 12), nonzero(rng, 12)
    s = dx * dx + dy * dy
    told = tell("distance", rng, zh, a=x, b=y, c=x + dx, d=y + dy, dx=abs(dx), dy=abs(dy), s=s)
    sums = [abs(dx) + abs(dy), s, root(abs(dx * dx - dy * dy)), root(s + 1), root(2 * s)]
    return number(rng, zh, told, root(s), [w for w in sums if w != 0])


def root(n: int) -> int | str:
    """The square root of ``n`` in simplest form."""
    k = max(k for k in range(1, math.isqrt(n) + 1) if n % (k * k) == 0) if n else 0
    rest = n // (k * k) if k else 1
    return k if rest == 1 else f"{coefficient(k)}\\sqrt{{{rest}}}"


def circle_equation(rng: random.Random, zh: bool) -> Drawn:
    """The equation of a circle by its centre and radius."""
    a, b, r = nonzero(rng, 6), nonzero(rng, 6), rng.randint(2, 9)
    told = tell("circle_equation", rng, zh, a=a, b=b, r=r, s=r * r)
    wrong = [
        (-a, -b, r * r),
        (a, b, r),
        (a, b, 2 * r),
        (b, a, r * r),
        (a, b, r * r + 1),
        (a, -b, r * r),
    ]
    forms = [
        lambda v: f"({polynomial((1, -v[0]))})^2+({polynomial((1, -v[1]), 'y')})^2={v[2]}",
        lambda v: (
            f"x^2+y^2{-2 * v[0]:+d}x{-2 * v[1]:+d}y{v[0] ** 2 + v[1] ** 2 - v[2]:+d}=0".replace(
                "+0=", "="
            )
        ),
    ]
    return equations(rng, told, (a, b, r * r), wrong, forms)


def line_through(rng: random.Random, zh: bool) -> Drawn:
    """The line through two points."""
    k, b, x = nonzero(rng, 5), rng.randint(-9, 9), rng.randint(-4, 3)
    z = x + rng.randint(1, 4)
    told = tell(
        "line_through",
        rng,
        zh,
        x=x,
        y=k * x + b,
        z=z,
        w=k * z + b,
        k=k,
        rise=k * (z - x),
        run=z - x,
    )
    forms = [lambda v: f"y={polynomial(v)}", lambda v: f"{polynomial(v)}-y=0"]
    wrong = [(-k, b), (k, -b), (k, b + k), (-k, b + 2 * k * x), (k + 1, b - x), (k, b - 1)]
    return equations(rng, told, (k, b), wrong, forms)


def perpendicular(rng: random.Random, zh: bool) -> Drawn:
    """The line through a point, parallel or at right angles to a given one."""
    k, x, b = rng.choice((2, 3, 4, -2, -3)), rng.randint(-4, 4), rng.randint(-9, 9)
    parallel = rng.random() < 0.5
    point_x = x if parallel else x * k
    y = rng.randint(-9, 9)
    slope = Fraction(k) if parallel else Fraction(-1, k)
    shift = y - slope * point_x
    told = tell(
        "perpendicular",
        rng,
        zh,
        x=point_x,
        y=y,
        f=polynomial((k, b)),
        k=k,
        slope=tex(slope),
        how=(("垂直", "perpendicular"), ("平行", "parallel"))[parallel],
    )
    other = Fraction(-1, k) if parallel else Fraction(k)
    value = (slope, shift)
    wrong = [
        (-slope, y + slope * point_x),
        (other, y - other * point_x),
        (slope, Fraction(b)),
        (slope, Fraction(y)),
        (slope, shift + 1),
    ]
    return equations(rng, told, value, wrong, [_slope_form, _general_form])


def _slope_form(line: tuple[Fraction, Fraction]) -> str:
    slope, shift = line
    lead = {1: "", -1: "-"}.get(slope.numerator if slope.denominator == 1 else 0, tex(slope))
    tail = f"{'+' if shift > 0 else ''}{tex(shift)}" if shift else ""
    return f"y={lead}x{tail}"


def _general_form(line: tuple[Fraction, Fraction]) -> str:
    slope, shift = line
    k = math.lcm(slope.denominator, shift.denominator)
    a, c = int(slope * k), int(shift * k)
    return f"{coefficient(a)}x-{coefficient(k)}y{f'{c:+d}' if c else ''}=0"


def _row(vector: tuple[int, ...]) -> str:
    return f"({','.join(map(str, vector))})"
