"""Generators of problems on inequalities, domains, ranges and sets of numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from gradegpt.answers.types import Piece

from . import GeneratedProblem
from .algebra import nonzero
from .builders import elements, flipped, region, span
from .notation import polynomial
from .words import render, section

_SIGNS = {("<", False): "<", ("<", True): "\\le", (">", False): ">", (">", True): "\\ge"}


def _flips(rng: random.Random) -> tuple[bool, bool]:
    return rng.random() < 0.5, rng.random() < 0.5


def _in_or_out(
    ends: Callable[[int | None, int | None], Piece], low: int, high: int, *, inside: bool
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The interval between two numbers and the union outside them; the right one comes first."""
    between, outside = (ends(low, high),), (ends(None, low), ends(high, None))
    return (between, outside) if inside else (outside, between)


def inequality(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A quadratic inequality in factored or expanded form."""
    a, b = sorted(rng.sample(range(-9, 10), 2))
    inside, closed = _flips(rng)
    sign = _SIGNS["<" if inside else ">", closed]
    where = (("之外", "outside the roots"), ("之间", "between the roots"))[inside]
    product, f, g = (1, -a - b, a * b), (1, -a), (1, -b)
    statement = render(
        "inequality", rng, zh, f=f, g=g, a=a, b=b, all=product, sign=sign, where=where
    )
    ends = partial(span, low_in=closed, high_in=closed)
    value, other = _in_or_out(ends, a, b, inside=inside)
    return region(
        statement, value, [other, ends(-b, -a), ends(a, b + 1), ends(a, None), ends(None, b)]
    )


def linear_inequality(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A linear inequality, also with a negative factor."""
    k = rng.choice([n for n in range(-6, 8) if n not in (0, 1)])
    x, b, greater, closed = rng.randint(-9, 9), rng.randint(-15, 15), *_flips(rng)
    statement = render(
        "linear_inequality", rng, zh, left=(k, b), c=k * x + b, k=k, kx=(k, 0), d=k * x,
        sign=_SIGNS[">" if greater else "<", closed],
        turn=(("不变", "stays"), ("要改变", "is turned round"))[k < 0],
    )  # fmt: skip
    up, down = span(x, None, closed), span(None, x, high_in=closed)
    value, other = (up, down) if greater == (k > 0) else (down, up)
    moved = [_moved(value, end) for end in (-x, x + 1, Fraction(k * x + 2 * b, k))]
    return region(statement, value, [other, flipped(other), *moved])


def _moved(ray: Piece, end: Fraction | int) -> Piece:
    """The same ray with another end point."""
    end = Fraction(end)
    return ray._replace(low=end) if ray.high == math.inf else ray._replace(high=end)


def absolute_inequality(rng: random.Random, zh: bool) -> GeneratedProblem:
    """An inequality with an absolute value."""
    a, b, closed, inside = nonzero(rng, 9), rng.randint(1, 12), *_flips(rng)
    low, high = a - b, a + b
    sign = _SIGNS["<" if inside else ">", closed]
    statement = render(
        "absolute_inequality", rng, zh, f=(1, -a), b=b, a=a, sign=sign, low=low, high=high
    )
    ends = partial(span, low_in=closed, high_in=closed)
    value, other = _in_or_out(ends, low, high, inside=inside)
    wrong = [ends(-high, -low), ends(-b, b), ends(None, high), ends(high, None)]
    return region(statement, value, [other, *wrong])


def domain(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The domain of a root plus a root or logarithm."""
    a, width, logarithm = rng.randint(-8, 6), rng.randint(2, 9), rng.random() < 0.6
    b = a + width
    second = polynomial((-1, b)) if b <= 0 else f"{b}-x"
    second = f"\\ln({second})" if logarithm else f"\\sqrt{{{second}}}"
    f, strict = f"\\sqrt{{{polynomial((1, -a))}}}+{second}", "<" if logarithm else "\\le"
    statement = render("domain", rng, zh, f=f, a=a, b=b, strict=strict)
    ends = partial(span, low_in=True, high_in=not logarithm)
    wrong = [span(a, b, True, logarithm), span(a, b, False, not logarithm)]
    wrong += [ends(a, None), ends(None, b), ends(-b, -a), ends(a, b + 1)]
    return region(statement, ends(a, b), wrong)


def value_range(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The range of a quadratic on a closed interval that has the vertex inside."""
    h, k, left, right = rng.randint(-4, 4), rng.randint(-8, 8), rng.randint(1, 4), rng.randint(1, 4)
    low, high = h - left, h + right
    near, far = sorted((left, right))
    statement = render(
        "value_range", rng, zh, f=(1, -2 * h, h * h + k), low=low, high=high, h=h, k=k,
        end=high if right == far else low, top=far * far + k,
    )  # fmt: skip
    ends = partial(span, low_in=True, high_in=True)
    next_, top = near * near + k, far * far + k
    wrong = [ends(next_, top), ends(k, next_), ends(low, high), ends(-k, top), ends(k, top + 1)]
    wrong = [w for w in wrong if w.low < w.high]
    return region(statement, ends(k, top), [*wrong, ends(k, None)], variable="y")


def third_side(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The interval of possible lengths of the third side of a triangle."""
    a, b = sorted(rng.sample(range(2, 21), 2))
    low, high = b - a, a + b
    statement = render("third_side", rng, zh, a=a, b=b, low=low, high=high)
    wrong = [span(0, high), span(low, None), span(low + 1, high - 1), span(a, b)]
    return region(statement, span(low, high), wrong)


def discriminant(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The parameters for which a quadratic has two real roots, or none."""
    half, two, shift = rng.randint(1, 8), rng.random() < 0.5, rng.randint(-5, 5)
    b, bound, m = 2 * half, half * half - shift, polynomial((1, shift), "m")
    f, sign = f"x^2{rng.choice('+-')}{b}x+{m}", "><"[two]
    what = (("没有实数根", "no real root"), ("有两个不相等的实数根", "two different real roots"))[
        two
    ]
    statement = render(
        "discriminant", rng, zh, f=f, bound=bound, what=what, sign=sign, b=b, shift=m
    )
    below, above = span(None, bound), span(bound, None)
    value, other = (below, above) if two else (above, below)
    moved = [_moved(value, end) for end in (bound + 2 * shift, b * b, half - shift)]
    return region(statement, value, [other, flipped(other), *moved], variable="m")


def monotone(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The open interval on which a cubic decreases (between its critical points)."""
    a, b = sorted(rng.sample(range(-6, 7), 2))
    b += (a + b) % 2
    f = (1, -3 * (a + b) // 2, 3 * a * b, 0)
    statement = render("monotone", rng, zh, f=f, f1=(1, -a), g1=(1, -b))
    outside = span(None, a), span(b, None)
    wrong = [*outside, span(-b, -a), span(a, b + 1), span(a - 1, b)]
    return region(statement, span(a, b), [outside, *wrong])


def set_operation(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The intersection, union or difference of two small sets."""
    pool = rng.sample(range(-3, 15), 7)
    both, left, right = pool[:2], pool[2 : 2 + rng.randint(1, 3)], pool[5 : 5 + rng.randint(1, 2)]
    a, b, common = sorted(both + left), sorted(both + right), sorted(both)
    made = {"cap": both, "cup": both + left + right, "setminus": left}
    name, *meaning = rng.choice(section("set_operation").rows)
    statement = render(
        "set_operation", rng, zh, a=a, b=b, op=f"\\{name}", meaning=tuple(meaning), common=common
    )
    value = tuple(sorted(made.pop(name)))
    return elements(statement, value, [*made.values(), right, (*value, max(a + b) + 1)])


def whole_solutions(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The set of whole numbers between two bounds, one of which is included."""
    x, y = rng.randint(-6, 2), rng.randint(3, 8)
    k, b, left_in = rng.randint(2, 4), nonzero(rng, 6), rng.random() < 0.5
    one, two = ("\\le", "<") if left_in else ("<", "\\le")
    low, high = k * x + b, k * y + b
    statement = render(
        "whole_solutions", rng, zh, low=low, high=high, f=(k, b), x=x, y=y, one=one, two=two
    )
    first, stop = x + (not left_in), y + (not left_in)
    bounds = [(x, y + 1), (x + 1, y), (1, stop), (x + left_in, y + left_in)]
    return elements(statement, (*range(first, stop),), [range(*ends) for ends in bounds])
