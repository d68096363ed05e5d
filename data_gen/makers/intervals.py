"""Makers of problems on inequalities, domains, ranges and sets of numbers."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.algebra import nonzero
from data_gen.makers.notation import polynomial
from data_gen.makers.ways import elements, flipped, region, span
from data_gen.makers.words import tell
from gradegpt.answers.types import Piece

_SIGNS = {("<", False): "<", ("<", True): "\\le", (">", False): ">", (">", True): "\\ge"}


def inequality(rng: random.Random, zh: bool) -> Drawn:
    """A quadratic inequality in factored or expanded form."""
    a, b = sorted(rng.sample(range(-9, 10), 2))
    inside, closed = rng.random() < 0.5, rng.random() < 0.5
    between = (span(a, b, closed, closed),)
    outside = (span(None, a, False, closed), span(b, None, closed, False))
    told = tell(
        "inequality", rng, zh, f=polynomial((1, -a)), g=polynomial((1, -b)), a=a, b=b,
        all=polynomial((1, -a - b, a * b)), sign=_SIGNS["<" if inside else ">", closed],
        where=(("之间", "between the roots"), ("之外", "outside the roots"))[not inside],
    )  # fmt: skip
    value, other = (between, outside) if inside else (outside, between)
    wrong = [
        tuple(map(flipped, value)),
        other,
        (span(-b, -a, closed, closed),),
        (span(a, b + 1, closed, closed),),
        (span(a, None, closed),),
        (span(None, b, False, closed),),
    ]
    return region(rng, zh, told, value, wrong)


def linear_inequality(rng: random.Random, zh: bool) -> Drawn:
    """A linear inequality, perhaps with a negative factor."""
    k, x, b = (
        rng.choice((-6, -5, -4, -3, -2, -1, 2, 3, 4, 5, 6, 7)),
        rng.randint(-9, 9),
        rng.randint(-15, 15),
    )
    greater, closed = rng.random() < 0.5, rng.random() < 0.5
    told = tell(
        "linear_inequality", rng, zh, left=polynomial((k, b)), c=k * x + b,
        k=k, kx=polynomial((k, 0)), d=k * x,
        sign=_SIGNS[">" if greater else "<", closed],
        turn=(("不变", "stays"), ("要改变", "is turned round"))[k < 0],
    )  # fmt: skip
    up, down = span(x, None, closed), span(None, x, False, closed)
    value, other = (up, down) if greater == (k > 0) else (down, up)
    wrong = [other, flipped(value), flipped(other)]
    wrong += [_moved(value, end) for end in (-x, x + 1, Fraction(k * x + 2 * b, k))]
    return region(rng, zh, told, (value,), [(w,) for w in wrong])


def _moved(ray: Piece, end: Fraction | int) -> Piece:
    """The same ray from another end."""
    end = Fraction(end)
    return ray._replace(low=end) if ray.high == math.inf else ray._replace(high=end)


def absolute_inequality(rng: random.Random, zh: bool) -> Drawn:
    """An inequality with an absolute value."""
    a, b, closed, inside = (
        nonzero(rng, 9),
        rng.randint(1, 12),
        rng.random() < 0.5,
        rng.random() < 0.5,
    )
    low, high = a - b, a + b
    between = (span(low, high, closed, closed),)
    outside = (span(None, low, False, closed), span(high, None, closed, False))
    told = tell(
        "absolute_inequality", rng, zh, f=polynomial((1, -a)), b=b, a=a,
        sign=_SIGNS["<" if inside else ">", closed], low=low, high=high,
    )  # fmt: skip
    value, other = (between, outside) if inside else (outside, between)
    wrong = [
        other,
        tuple(map(flipped, value)),
        (span(-high, -low, closed, closed),),
        (span(-b, b, closed, closed),),
        (span(None, high, False, closed),),
        (span(high, None, closed),),
    ]
    return region(rng, zh, told, value, wrong)


def domain(rng: random.Random, zh: bool) -> Drawn:
    """The domain of a root plus a root or logarithm."""
    a, width = rng.randint(-8, 6), rng.randint(2, 9)
    b = a + width
    logarithm = rng.random() < 0.6
    first = f"\\sqrt{{{polynomial((1, -a))}}}"
    second = polynomial((-1, b)) if b <= 0 else f"{b}-x"
    f = f"{first}+\\ln({second})" if logarithm else f"{first}+\\sqrt{{{second}}}"
    strict = "<" if logarithm else "\\le"
    told = tell("domain", rng, zh, f=f, a=a, b=b, strict=strict)
    value = span(a, b, True, not logarithm)
    wrong = [
        value._replace(high_in=logarithm),
        value._replace(low_in=False),
        flipped(value),
        span(a, None, True),
        span(None, b, False, not logarithm),
        span(-b, -a, True, not logarithm),
        value._replace(high=b + 1),
    ]
    return region(rng, zh, told, (value,), [(w,) for w in wrong])


def value_range(rng: random.Random, zh: bool) -> Drawn:
    """The range of a quadratic on a closed interval that has the vertex inside."""
    h, k, left, right = rng.randint(-4, 4), rng.randint(-8, 8), rng.randint(1, 4), rng.randint(1, 4)
    low, high, far = h - left, h + right, max(left, right)
    told = tell(
        "value_range", rng, zh, f=polynomial((1, -2 * h, h * h + k)), low=low, high=high, h=h, k=k,
        end=h + right if right == far else h - left, top=far * far + k,
    )  # fmt: skip
    ends = left * left + k, right * right + k
    value = span(k, far * far + k, True, True)
    wrong = [
        flipped(value),
        value._replace(low=min(ends)),
        value._replace(high=min(ends)),
        span(low, high, True, True),
        span(k, None, True),
        value._replace(low=-k),
        value._replace(high=far * far + k + 1),
    ]
    wrong = [w for w in wrong if w.low != w.high]
    return region(rng, zh, told, (value,), [(w,) for w in wrong], variable="y")


def third_side(rng: random.Random, zh: bool) -> Drawn:
    """Between which lengths the third side of a triangle lies."""
    a, b = rng.sample(range(2, 21), 2)
    low, high = abs(a - b), a + b
    told = tell("third_side", rng, zh, a=a, b=b, low=low, high=high)
    value = span(low, high)
    wrong = [
        flipped(value),
        span(0, high),
        span(low, None),
        span(low + 1, high - 1),
        span(min(a, b), max(a, b)),
    ]
    return region(rng, zh, told, (value,), [(w,) for w in wrong], variable="x")


def discriminant(rng: random.Random, zh: bool) -> Drawn:
    """For which parameters a quadratic has two real roots, or none."""
    half = rng.randint(1, 8)
    b, two, shift = 2 * half, rng.random() < 0.5, rng.randint(-5, 5)
    bound = half * half - shift
    told = tell(
        "discriminant",
        rng,
        zh,
        f=f"x^2{'+' if rng.random() < 0.5 else '-'}{b}x+{polynomial((1, shift), 'm')}",
        bound=bound,
        what=(("有两个不相等的实数根", "two different real roots"), ("没有实数根", "no real root"))[
            not two
        ],
        sign=">" if two else "<",
        b=b,
        shift=polynomial((1, shift), "m"),
    )
    below, above = span(None, bound), span(bound, None)
    value, other = (below, above) if two else (above, below)
    wrong = [other, flipped(value), flipped(other)]
    wrong += [_moved(value, end) for end in (bound + 2 * shift, b * b, half - shift)]
    return region(rng, zh, told, (value,), [(w,) for w in wrong], variable="m")


def monotone(rng: random.Random, zh: bool) -> Drawn:
    """Where a cubic decreases (the open interval between its critical points)."""
    a, b = sorted(rng.sample(range(-6, 7), 2))
    if (a + b) % 2:
        b += 1
    told = tell(
        "monotone",
        rng,
        zh,
        f=polynomial((1, -3 * (a + b) // 2, 3 * a * b, 0)),
        f1=polynomial((1, -a)),
        g1=polynomial((1, -b)),
    )
    wrong = [
        (span(None, a), span(b, None)),
        (span(-b, -a),),
        (span(a, None),),
        (span(None, b),),
        (span(a, b + 1),),
        (span(a - 1, b),),
    ]
    return region(rng, zh, told, (span(a, b),), wrong)


def set_operation(rng: random.Random, zh: bool) -> Drawn:
    """The intersection, union or difference of two small sets."""
    pool = rng.sample(range(-3, 15), 7)
    both, left, right = pool[:2], pool[2 : 2 + rng.randint(1, 3)], pool[5 : 5 + rng.randint(1, 2)]
    a, b = sorted(both + left), sorted(both + right)
    made = {
        "cap": sorted(both),
        "cup": sorted(pool_of(a, b)),
        "setminus": sorted(left),
        "other": sorted(right),
    }
    name = rng.choice(("cap", "cup", "setminus"))
    meaning = {
        "cap": ("两个集合的公共元素", "the elements that lie in both sets"),
        "cup": ("至少属于其中一个集合的元素", "the elements of either set, each once"),
        "setminus": ("属于 $A$ 而不属于 $B$ 的元素", "the elements of A that are not in B"),
    }[name]
    a_text, b_text = (", ".join(map(str, x)) for x in (a, b))
    told = tell(
        "set_operation",
        rng,
        zh,
        a=a_text,
        b=b_text,
        op=f"\\{name}",
        meaning=meaning,
        common=", ".join(map(str, made["cap"])),
    )
    value = tuple(made.pop(name))
    wrong = [*(tuple(v) for v in made.values()), value[:-1], (*value, max(a + b) + 1), value[1:]]
    return elements(rng, told, value, [w for w in wrong if {*w} != {*value}])


def pool_of(a: list[int], b: list[int]) -> list[int]:
    """The numbers of both lists, each once."""
    return list(dict.fromkeys(a + b))


def whole_solutions(rng: random.Random, zh: bool) -> Drawn:
    """The whole numbers between two bounds, one of which is included."""
    low, high = rng.randint(-6, 2), rng.randint(3, 8)
    k, b = rng.randint(2, 4), nonzero(rng, 6)
    left_in = rng.random() < 0.5
    told = tell(
        "whole_solutions",
        rng,
        zh,
        low=k * low + b,
        high=k * high + b,
        f=polynomial((k, b)),
        x=low,
        y=high,
        one="\\le" if left_in else "<",
        two="<" if left_in else "\\le",
    )
    value = tuple(range(low + (not left_in), high + (not left_in)))
    wrong = [
        tuple(range(low, high + 1)),
        tuple(range(low + 1, high)),
        tuple(x for x in value if x > 0),
        value[1:],
        tuple(range(low + left_in, high + left_in)),
    ]
    return elements(rng, told, value, wrong)
