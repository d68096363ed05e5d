"""Problems with numbers and formulas."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Final

from .builders import (
    DrawnProblem,
    elements,
    equations,
    formula,
    number,
    parts,
    polynomials,
    region,
    solutions,
    span,
    unknowns,
)
from .notation import Num, coefficient, polynomial
from .words import render, rows_of

_SIGNS: Final = {("<", False): "<", ("<", True): "\\le", (">", False): ">", (">", True): "\\ge"}


def nonzero(rng: random.Random, bound: int) -> int:
    """A whole number from ``-bound`` to ``bound`` that is not 0."""
    return rng.choice([n for n in range(-bound, bound + 1) if n])


# --- numbers --------------------------------------------------------------------------------------


def shopping(rng: random.Random, zh: bool) -> DrawnProblem:
    """The amount of money that is left after a purchase."""
    total, price, n = rng.randint(60, 900), rng.randint(2, 9), rng.randint(2, 6)
    spent = price * n
    left = total - spent
    statement = render("shopping", rng, zh, total=total, price=price, n=n, spent=spent, left=left)
    wrong = [spent, total - price, left + 10, left - 1, left + price, total - price - n]
    return number(statement, left, wrong, unit="元" if zh else "dollars")


def fraction(rng: random.Random, zh: bool) -> DrawnProblem:
    """The sum or difference of two fractions, in lowest terms."""
    p, q = (Fraction(rng.randint(1, 9), rng.randint(2, 12)) for _ in range(2))
    sign = rng.choice("+-")
    value = p + q if sign == "+" else p - q
    common = math.lcm(p.denominator, q.denominator)
    tops, top = f"{p * common}{sign}{q * common}", value * common
    statement = render("fraction", rng, zh, p=p, q=q, sign=sign, common=common, tops=tops, top=top)
    above, below = value.numerator, value.denominator
    naive = Fraction(p.numerator + q.numerator, p.denominator + q.denominator)
    wrong = [naive, Fraction(above + 1, below), Fraction(above, below + 1), -value, p * q]
    return number(statement, value, wrong)


def density(rng: random.Random, zh: bool) -> DrawnProblem:
    """The mass of a body by its density and volume."""
    tenths, volume = rng.choice((8, 9, 10, 27, 79, 89, 113, 25, 12)), rng.randint(2, 40) * 10
    rho = Decimal(tenths) / 10
    mass, quotient = rho * volume, (volume / rho).quantize(Decimal("0.1"))
    statement = render("density", rng, zh, rho=rho, volume=volume, mass=mass)
    wrong: list[Num] = [quotient, mass * 10, mass + volume, mass / 10, mass + 10]
    return number(statement, mass, wrong, unit="g")


# --- several numbers ------------------------------------------------------------------------------


def set_operation(rng: random.Random, zh: bool) -> DrawnProblem:
    """The intersection, union or difference of two small sets."""
    pool = rng.sample(range(-3, 15), 7)
    both, left, right = pool[:2], pool[2 : 2 + rng.randint(1, 3)], pool[5 : 5 + rng.randint(1, 2)]
    a, b, common = sorted(both + left), sorted(both + right), sorted(both)
    made = {"cap": both, "cup": both + left + right, "setminus": left}
    name, *meaning = rng.choice(rows_of("set_operation"))
    statement = render(
        "set_operation", rng, zh, a=a, b=b, op=f"\\{name}", meaning=tuple(meaning), common=common
    )
    value = tuple(sorted(made.pop(name)))
    return elements(statement, value, [*made.values(), right, (*value, max(a + b) + 1)])


def quadratic(rng: random.Random, zh: bool) -> DrawnProblem:
    """Both roots of a quadratic equation."""
    p, q = rng.sample(range(-9, 10), 2)
    statement = render(
        "quadratic", rng, zh, left=(1, -p - q, p * q), f=(1, -p), g=(1, -q), p=p, q=q
    )
    wrong = [(-p, -q), (p, -q), (p + 1, q), (p, q - 1), (p * q, p + q)]
    return solutions(statement, (p, q), wrong)


def system(rng: random.Random, zh: bool) -> DrawnProblem:
    """The solution of two linear equations."""
    x, y = nonzero(rng, 9), nonzero(rng, 9)
    a, c = rng.randint(1, 6), rng.randint(1, 6)
    b, d = rng.randint(1, 5), -rng.randint(1, 5)
    one = f"{coefficient(a)}x+{coefficient(b)}y={a * x + b * y}"
    two = f"{coefficient(c)}x{coefficient(d)}y={c * x + d * y}"
    statement = render("system", rng, zh, one=one, two=two, x=x, y=y)
    return unknowns(statement, (x, y), [(x + 1, y), (x, y - 1)])


def sequence(rng: random.Random, zh: bool) -> DrawnProblem:
    """A term and a sum of an arithmetic sequence, in two parts."""
    a, d, n = rng.randint(-5, 12), rng.randint(2, 7), rng.randint(5, 20)
    term, total = a + (n - 1) * d, n * a + n * (n - 1) * d // 2
    statement = render("sequence", rng, zh, a=a, d=d, n=n, m=n - 1, term=term, total=total)
    wrong = [(term + d, total), (term, total + d), (term, n * term), (a + n * d, total)]
    return parts(statement, (term, total), wrong)


def circle_parts(rng: random.Random, zh: bool) -> DrawnProblem:
    """Circumference and area of a circle in terms of pi, in two parts."""
    r = rng.randint(2, 25)
    name = rng.choice(("circle_diameter", "circle_radius"))
    statement = render(name, rng, zh, r=r, d=2 * r, s=r * r)
    d, s = 2 * r, r * r
    sizes = [(d, s), (2 * d, 4 * s), (r, s), (d, 2 * s), (d, s + r)]
    value, *wrong = [tuple(f"{coefficient(n)}\\pi" for n in pair) for pair in sizes]
    return parts(statement, value, wrong)


# --- intervals ------------------------------------------------------------------------------------


def inequality(rng: random.Random, zh: bool) -> DrawnProblem:
    """A quadratic inequality in factored or expanded form."""
    a, b = sorted(rng.sample(range(-9, 10), 2))
    inside, closed = rng.random() < 0.5, rng.random() < 0.5
    sign = _SIGNS["<" if inside else ">", closed]
    where = (("之外", "outside the roots"), ("之间", "between the roots"))[inside]
    product, f, g = (1, -a - b, a * b), (1, -a), (1, -b)
    statement = render(
        "inequality", rng, zh, f=f, g=g, a=a, b=b, all=product, sign=sign, where=where
    )
    ends = partial(span, low_in=closed, high_in=closed)
    between, outside = (ends(a, b),), (ends(None, a), ends(b, None))
    value, other = (between, outside) if inside else (outside, between)
    wrong = [other, ends(-b, -a), ends(a, b + 1), ends(a, None), ends(None, b)]
    return region(statement, value, wrong)


# --- formulas -------------------------------------------------------------------------------------


def expand(rng: random.Random, zh: bool) -> DrawnProblem:
    """The product of two binomials."""
    k, a, b = rng.randint(1, 4), nonzero(rng, 9), nonzero(rng, 9)
    second, last = k * b + a, a * b
    terms = {"first": (k, 0, 0), "second": (k * b, 0), "third": (a, 0)}
    statement = render("expand", rng, zh, f=(k, a), g=(1, b), **terms, last=last)
    wrong = [(k, k * b - a, last), (k, 0, last), (k, second, a + b), (k, second + 1, last)]
    return polynomials(statement, (k, second, last), [*wrong, (k, last, second)])


def product_rule(rng: random.Random, zh: bool) -> DrawnProblem:
    """The derivative of a power of x times e^x, a sine or a cosine."""
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


def circle_equation(rng: random.Random, zh: bool) -> DrawnProblem:
    """The equation of a circle by its centre and radius."""
    a, b, r = nonzero(rng, 6), nonzero(rng, 6), rng.randint(2, 9)
    s = r * r
    statement = render("circle_equation", rng, zh, a=a, b=b, r=r, s=s)
    wrong = [(-a, -b, s), (a, b, r), (a, b, 2 * r), (b, a, s), (a, b, s + 1), (a, -b, s)]
    return equations(statement, (a, b, s), wrong, [_centre_form, _expanded_form])


def _centre_form(circle: tuple[int, int, int]) -> str:
    a, b, s = circle
    return f"({polynomial((1, -a))})^2+({polynomial((1, -b), 'y')})^2={s}"


def _expanded_form(circle: tuple[int, int, int]) -> str:
    a, b, s = circle
    text = f"x^2+y^2{-2 * a:+d}x{-2 * b:+d}y{a * a + b * b - s:+d}=0"
    return text.replace("+0=", "=")
