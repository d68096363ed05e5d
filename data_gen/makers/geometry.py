"""Makers of problems on figures, solids, coordinates and vectors."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.algebra import nonzero
from data_gen.makers.notation import coefficient, polynomial, tex
from data_gen.makers.units import UNITS
from data_gen.makers.ways import equations, formula, number, parts, point, verdicts
from data_gen.makers.words import tell

_TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29))


def triangle_area(rng: random.Random, zh: bool) -> Drawn:
    """The area of a triangle, or of a trapezium."""
    a, h, b = rng.randint(3, 24), 2 * rng.randint(2, 12), rng.randint(3, 20)
    if rng.random() < 0.5:
        told, value = tell("triangle_area", rng, zh, a=a, h=h, whole=a * h, value=a * h // 2), a * h // 2
        wrong = [a * h, a + h, 2 * (a + h), value + a, value - 1]
    else:
        b += a == b
        value = (a + b) * h // 2
        told = tell("trapezium_area", rng, zh, a=a, b=b, h=h, s=a + b, value=value)
        wrong = [(a + b) * h, a * b * h, a * h, a + b + h, value + h]
    return number(rng, zh, told, value, wrong, unit=UNITS["cm^2"])


def right_triangle(rng: random.Random, zh: bool) -> Drawn:
    """A side of a right triangle by the theorem of Pythagoras."""
    a, b, c = (n * k for k in [rng.randint(1, 6)] for n in rng.choice(_TRIPLES))
    a, b = rng.sample((a, b), 2)
    if rng.random() < 0.5:
        told = tell("hypotenuse", rng, zh, a=a, b=b, s=a * a + b * b, c=c)
        return number(rng, zh, told, c, [a + b, c + 1, abs(a - b), c * c, a * b // 2], unit=UNITS["cm"])
    told = tell("leg", rng, zh, a=a, c=c, s=b * b, b=b)
    return number(rng, zh, told, b, [c - a, c + a, b + 1, b * b, a * b // 2], unit=UNITS["cm"])


def circle_parts(rng: random.Random, zh: bool) -> Drawn:
    """Circumference and area of a circle in terms of pi, in two parts."""
    r = rng.randint(2, 25)
    given_diameter = rng.random() < 0.5
    told = tell("circle_diameter" if given_diameter else "circle_radius", rng, zh, r=r, d=2 * r, s=r * r)
    numbers = [(2 * r, r * r), (r * r, 2 * r), (4 * r, 4 * r * r), (r, r * r), (2 * r, 2 * r * r), (2 * r, r * r + r)]
    texts = [tuple(f"{coefficient(n)}\\pi" for n in pair) for pair in numbers if pair != numbers[0] or pair is numbers[0]]
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
    told = tell("solid_volume", rng, zh, r=r, h=h, base=r * r, kind=(("圆柱", "cylinder"), ("圆锥", "cone"))[cone],
                factor=("", "\\frac{1}{3}\\times ")[cone], value=value)  # fmt: skip
    numbers = [whole if cone else whole // 3, 2 * r * h, r * h, 4 * whole if not cone else whole // 2, value + r]
    wrong = [f"{coefficient(n)}\\pi" for n in numbers if n != value]
    return number(rng, zh, told, f"{value}\\pi", wrong, unit=UNITS["cm^3"])


def angle_sum(rng: random.Random, zh: bool) -> Drawn:
    """The sum of the angles of a polygon, or one angle of a regular one."""
    n = rng.randint(5, 24)
    if rng.random() < 0.5:
        told = tell("angle_sum", rng, zh, n=n, m=n - 2, value=(n - 2) * 180)
        wrong = [n * 180, (n - 1) * 180, 360, (n - 2) * 90, (n - 3) * 180]
        return number(rng, zh, told, (n - 2) * 180, wrong, unit=UNITS["°"])
    n = rng.choice([5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36])
    value = 180 - 360 // n
    told = tell("regular_angle", rng, zh, n=n, outer=360 // n, value=value)
    return number(rng, zh, told, value, [360 // n, (n - 2) * 180, value + 10, 180 // n], unit=UNITS["°"])


def third_angle(rng: random.Random, zh: bool) -> Drawn:
    """The third angle of a triangle."""
    a, b = rng.randint(20, 80), rng.randint(20, 80)
    told = tell("third_angle", rng, zh, a=a, b=b, s=a + b)
    value = 180 - a - b
    return number(rng, zh, told, value, [a + b, 180 - a, 180 - b, 360 - a - b, value + 10], unit=UNITS["°"])


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


def midpoint(rng: random.Random, zh: bool) -> Drawn:
    """The midpoint of a segment."""
    x, y, dx, dy = (nonzero(rng, 9) for _ in range(4))
    told = tell("midpoint", rng, zh, a=x - dx, b=y - dy, c=x + dx, d=y + dy, x=x, y=y, sx=2 * x, sy=2 * y)
    wrong = [(y, x), (x, -y), (dx, dy), (2 * x, 2 * y), (x + 1, y), (-x, y)]
    return point(rng, zh, told, (x, y), wrong)


def reflection(rng: random.Random, zh: bool) -> Drawn:
    """A point mirrored in an axis, the origin or the line y = x."""
    a, b = nonzero(rng, 12), nonzero(rng, 12)
    images = {
        "x": (a, -b, "$x$ 轴", "the x-axis", "横坐标不变，纵坐标变号", "The first coordinate stays, the second changes sign"),
        "y": (-a, b, "$y$ 轴", "the y-axis", "纵坐标不变，横坐标变号", "The second coordinate stays, the first changes sign"),
        "o": (-a, -b, "原点", "the origin", "两个坐标都变号", "Both coordinates change sign"),
        "d": (b, a, "直线 $y=x$", "the line $y = x$", "两个坐标互换", "The coordinates change places"),
    }  # fmt: skip
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
        tuple(x - y for x, y in zip(ku, mv, strict=True)), tuple(x + m * y for x, y in zip(u, v, strict=True)),
        tuple(x + y for x, y in zip(ku, v, strict=True)), (value[0] + 1, *value[1:]), tuple(-x for x in value),
    ]  # fmt: skip
    return point(rng, zh, told, value, wrong)


def cross_product(rng: random.Random, zh: bool) -> Drawn:
    """The cross product of two vectors in space."""
    a, b = (tuple(rng.randint(-4, 5) for _ in range(3)) for _ in range(2))
    value = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    told = tell("cross_product", rng, zh, a=_row(a), b=_row(b), first=value[0])
    wrong = [
        tuple(-x for x in value), (value[0], -value[1], value[2]), tuple(x * y for x, y in zip(a, b, strict=True)),
        tuple(x + y for x, y in zip(a, b, strict=True)), (value[0], value[1], value[2] + 1),
    ]  # fmt: skip
    return point(rng, zh, told, value, wrong)


def dot_product(rng: random.Random, zh: bool) -> Drawn:
    """The dot product of two vectors."""
    n = rng.choice((2, 3))
    a, b = (tuple(rng.randint(-6, 8) for _ in range(n)) for _ in range(2))
    terms = [x * y for x, y in zip(a, b, strict=True)]
    value = sum(terms)
    told = tell("dot_product", rng, zh, a=_row(a), b=_row(b), terms="+".join(f"({t})" for t in terms))
    wrong = [terms[0] - sum(terms[1:]), -value, sum(map(abs, terms)), sum(a) * sum(b), value + 1, value - terms[0]]
    return number(rng, zh, told, value, wrong)


def determinant(rng: random.Random, zh: bool) -> Drawn:
    """The determinant of a 2 by 2 matrix."""
    a, b, c, d = (rng.randint(-7, 9) for _ in range(4))
    told = tell("determinant", rng, zh, a=a, b=b, c=c, d=d, ad=a * d, bc=b * c)
    value = a * d - b * c
    return number(rng, zh, told, value, [a * d + b * c, -value, a * c - b * d, a * b - c * d, value + 1, a + d])


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
    wrong = [(-a, -b, r * r), (a, b, r), (a, b, 2 * r), (b, a, r * r), (a, b, r * r + 1), (a, -b, r * r)]
    forms = [
        lambda v: f"({polynomial((1, -v[0]))})^2+({polynomial((1, -v[1]), 'y')})^2={v[2]}",
        lambda v: f"x^2+y^2{-2 * v[0]:+d}x{-2 * v[1]:+d}y{v[0] ** 2 + v[1] ** 2 - v[2]:+d}=0".replace("+0=", "="),
    ]
    return equations(rng, told, (a, b, r * r), wrong, forms)


def line_through(rng: random.Random, zh: bool) -> Drawn:
    """The line through two points."""
    k, b, x = nonzero(rng, 5), rng.randint(-9, 9), rng.randint(-4, 3)
    z = x + rng.randint(1, 4)
    told = tell("line_through", rng, zh, x=x, y=k * x + b, z=z, w=k * z + b, k=k, rise=k * (z - x), run=z - x)
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
    told = tell("perpendicular", rng, zh, x=point_x, y=y, f=polynomial((k, b)), k=k, slope=tex(slope),
                how=(("垂直", "perpendicular"), ("平行", "parallel"))[parallel])  # fmt: skip
    other = Fraction(-1, k) if parallel else Fraction(k)
    value = (slope, shift)
    wrong = [(-slope, y + slope * point_x), (other, y - other * point_x), (slope, Fraction(b)), (slope, Fraction(y)), (slope, shift + 1)]
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


def area_expression(rng: random.Random, zh: bool) -> Drawn:
    """The area of a rectangle or frame as an expression in x."""
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    told = tell("area_expression", rng, zh, a=a, b=b)
    texts = [polynomial(c) for c in ((a, a * b), (2 * a, b), (2, 2 * a + 2 * b), (a, b), (a + b, 0), (a, -a * b))]
    return formula(rng, told, texts[0], texts[1:])


def _row(vector: tuple[int, ...]) -> str:
    return f"({','.join(map(str, vector))})"
