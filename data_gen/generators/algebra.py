"""Generators of problems on equations, polynomials and sequences."""

from __future__ import annotations

import random
from fractions import Fraction

from . import GeneratedProblem
from .builders import (
    elements,
    equations,
    formula,
    number,
    parts,
    point,
    polynomials,
    several,
)
from .notation import Num, coefficient, polynomial, tex
from .words import render


def nonzero(rng: random.Random, bound: int) -> int:
    """A whole number from ``-bound`` to ``bound`` that is not 0."""
    return rng.choice([n for n in range(-bound, bound + 1) if n])


def linear(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The solution of a linear equation with the unknown on both sides, as x = …."""
    x, a, c, b = nonzero(rng, 12), rng.randint(3, 12), rng.randint(1, 9), nonzero(rng, 20)
    c += a == c
    d = (a - c) * x + b
    statement = render(
        "linear", rng, zh, left=(a, b), right=(c, d), k=coefficient(a - c), m=d - b, x=x
    )
    value: Num = x
    slips = [Fraction(d + b, a - c), Fraction(d - b, a + c)]
    wrong: list[Num] = [-x, x + 1, *slips, x * (a - c), x - 2]
    return equations(statement, value, wrong, [lambda v: f"x={tex(v)}"])


def quadratic(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Both roots of a quadratic equation."""
    p, q = rng.sample(range(-9, 10), 2)
    statement = render(
        "quadratic", rng, zh, left=(1, -p - q, p * q), f=(1, -p), g=(1, -q), p=p, q=q
    )
    wrong = [(-p, -q), (p, -q), (p + 1, q), (p, q - 1), (p * q, p + q)]
    return several(statement, (p, q), wrong, name="x")


def sum_and_product(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Two numbers by their sum and product."""
    p, q = rng.sample(range(-12, 20), 2)
    left = polynomial((1, -p - q, p * q), "t")
    statement = render("sum_and_product", rng, zh, s=p + q, m=p * q, left=left)
    return several(statement, (p, q), [(-p, -q), (p + 1, q - 1), (p, -q), (p + q, p * q)])


def absolute_equation(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Both solutions of |x - a| = b."""
    a, b = nonzero(rng, 12), rng.randint(1, 15)
    high, low = a + b, a - b
    statement = render("absolute_equation", rng, zh, inner=(1, -a), b=b, high=high, low=low)
    wrong = [(-high, -low), (high, -high), (high + 1, low), (b, -b)]
    return several(statement, (high, low), wrong, name="x")


def cubic(rng: random.Random, zh: bool) -> GeneratedProblem:
    """All three roots of a factored cubic."""
    p, q, k = rng.randint(1, 9), -rng.randint(1, 9), rng.randint(2, 5)
    left = (k, -k * (p + q), k * p * q, 0)
    statement = render("cubic", rng, zh, k=k, left=left, f=(1, -p), g=(1, -q))
    return several(
        statement, (0, p, q), [(0, -p, -q), (0, p, -q), (k, p, q), (0, p + 1, q)], name="x"
    )


def system(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The solution of two linear equations."""
    x, y = nonzero(rng, 9), nonzero(rng, 9)
    a, c = rng.randint(1, 6), rng.randint(1, 6)
    b, d = rng.randint(1, 5), -rng.randint(1, 5)
    one = f"{coefficient(a)}x+{coefficient(b)}y={a * x + b * y}"
    two = f"{coefficient(c)}x{coefficient(d)}y={c * x + d * y}"
    statement = render("system", rng, zh, one=one, two=two, x=x, y=y)
    return point(statement, (x, y), [(x + 1, y), (x, y - 1)], names="xy")


def chickens(rng: random.Random, zh: bool) -> GeneratedProblem:
    """How many chickens and rabbits there are, by heads and legs, in two parts."""
    c, r = rng.randint(3, 40), rng.randint(3, 40)
    statement = render("chickens", rng, zh, heads=c + r, legs=2 * c + 4 * r, more=2 * r, c=c, r=r)
    return parts(
        statement, (c, r), [(c + 1, r - 1), (c - 1, r + 1), (c, r + 1), (c + r, r), (2 * r, c)]
    )


def expand(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The product of two binomials."""
    k, a, b = rng.randint(1, 4), nonzero(rng, 9), nonzero(rng, 9)
    second, last = k * b + a, a * b
    terms = {"first": (k, 0, 0), "second": (k * b, 0), "third": (a, 0)}
    statement = render("expand", rng, zh, f=(k, a), g=(1, b), **terms, last=last)
    wrong = [(k, k * b - a, last), (k, 0, last), (k, second, a + b), (k, second + 1, last)]
    return polynomials(statement, (k, second, last), [*wrong, (k, last, second)])


def factor(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The factored form of a quadratic, or of a difference of squares."""
    p, q = rng.randint(1, 9), nonzero(rng, 9)
    q = -p if rng.random() < 0.3 else q
    statement = render(
        "factor", rng, zh, left=polynomial((1, p + q, p * q)), s=p + q, m=p * q, p=p, q=q
    )

    def product(a: int, b: int) -> str:
        first, second = (polynomial((1, c)) for c in (a, b))
        return f"({first})^2" if a == b else f"({first})({second})"

    wrong = [(-p, -q), (p, -q), (-p, q), (p + 1, q - 1), (p, q + 1 or 2)]
    others = [product(a, b) for a, b in wrong if sorted((a, b)) != sorted((p, q)) and a and b]
    return formula(statement, product(p, q), others)


def collect(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A sum of two brackets, simplified."""
    k, m = rng.randint(2, 6), rng.randint(2, 6)
    a, b, c, d = nonzero(rng, 7), nonzero(rng, 9), nonzero(rng, 7), nonzero(rng, 9)
    v = rng.choice("xayn")
    f, g, first = (polynomial(p, v) for p in ((a, b), (c, d), (k * a, k * b)))
    minus = polynomial((-m * c, -m * d), v).removeprefix("-")
    joint = "-" if c > 0 else "+"
    statement = render("collect", rng, zh, k=k, m=m, f=f, g=g, open=first, minus=minus, joint=joint)
    x, y, sum_ = k * a - m * c, k * b - m * d, k * b + m * d
    wrong = [(x, sum_), (k * a + m * c, sum_), (x, k * b - d), (-x, -y), (a - c, b - d)]
    return polynomials(statement, (x, y), wrong, variable=v)


def sequence(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A term and a sum of an arithmetic sequence, in two parts."""
    a, d, n = rng.randint(-5, 12), rng.randint(2, 7), rng.randint(5, 20)
    term, total = a + (n - 1) * d, n * a + n * (n - 1) * d // 2
    statement = render("sequence", rng, zh, a=a, d=d, n=n, m=n - 1, term=term, total=total)
    wrong = [(term + d, total), (term, total + d), (term, n * term), (a + n * d, total)]
    return parts(statement, (term, total), wrong)


def general_term(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The formula for the terms of an arithmetic sequence."""
    a, d = rng.randint(-9, 15), nonzero(rng, 8)
    statement = render("general_term", rng, zh, first=[a + i * d for i in range(4)], a=a, d=d)
    wrong = [(d, a), (d, a + d), (-d, a + d), (a, d), (d, a - d - 1)]
    return polynomials(statement, (d, a - d), wrong, variable="n", name="a_n")


def geometric_term(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The formula for the terms of a geometric sequence."""
    a, q = rng.randint(2, 9), rng.randint(2, 7)
    a += a == q
    statement = render("geometric_term", rng, zh, a=a, q=q, second=a * q, third=a * q * q)
    factors = [(a, q), (q, a), (a, q + 1), (a + 1, q)]
    value, *wrong = (f"{x}\\cdot {y}^{{n-1}}" for x, y in factors)
    wrong += [f"{a}\\cdot {q}^{{{power}}}" for power in ("n", "n+1")]
    return formula(statement, value, wrong, name="a_n")


def geometric_sum(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The sum of the first terms of a geometric sequence."""
    a, q, n = rng.randint(1, 8), rng.choice([2, 2, 3, 3, 4, -2]), rng.randint(3, 7)
    total = a * (q**n - 1) // (q - 1)
    statement = render("geometric_sum", rng, zh, a=a, q=q, n=n, total=total, power=q**n)
    wrong = [a * q ** (n - 1), a * (q ** (n - 1) - 1) // (q - 1), a * q**n, total + a, n * a * q]
    return number(statement, total, wrong)


def root_set(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The set of the roots of a quadratic."""
    p, q = sorted(rng.sample(range(-9, 10), 2))
    statement = render("root_set", rng, zh, left=(1, -p - q, p * q), f=(1, -p), g=(1, -q))
    return elements(statement, (p, q), [(-q, -p), (p, q + 1), (p - 1, q), (-p, q)])


def expression_in_words(rng: random.Random, zh: bool) -> GeneratedProblem:
    """An algebraic expression for a price that is described in words."""
    a, b, v = rng.randint(2, 9), rng.randint(2, 30), rng.choice("xnky")
    statement = render("expression_in_words", rng, zh, a=a, b=b, v=v)
    return polynomials(statement, (a, b), [(b, a), (a + b, 0), (a, a * b), (a, 0)], variable=v)


def model_equation(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The equation that a word problem leads to, unsolved."""
    k, b = rng.randint(2, 6), rng.randint(2, 12)
    x = rng.randint(5, 40)
    total = x + k * x + b
    statement = render("model_equation", rng, zh, k=k, b=b, total=total)
    value = (k, b, total)
    wrong = [(k, -b, total), (k + b, 0, total), (b, k, total), (k - 1, b, total), (k, b, total + b)]
    forms = [
        lambda v: f"x+{polynomial(v[:2])}={v[2]}",
        lambda v: f"{polynomial((v[0] + 1, v[1]))}={v[2]}",
        lambda v: f"{polynomial((v[0] + 1, 0))}={v[2] - v[1]}",
    ]
    return equations(statement, value, wrong, forms)
