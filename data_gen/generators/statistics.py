"""Generators of problems on data, counting and probability."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from . import GeneratedProblem
from .builders import number, parts, point
from .notation import Num
from .words import THINGS, Pair, render


def _listed(values: list[int]) -> Pair:
    return "、".join(map(str, values)), ", ".join(map(str, values))


def average(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The mean of some numbers, or the missing number for a given mean."""
    n, mean = rng.randint(4, 7), rng.randint(8, 95)
    shifts = [rng.randint(-7, 7) for _ in range(n - 1)]
    values = [mean + s for s in (*shifts, -sum(shifts))]
    total = n * mean
    if rng.random() < 0.5:
        statement = render("average", rng, zh, values=_listed(values), total=total, n=n, mean=mean)
        return number(
            statement, mean, [total, Fraction(total, n - 1), sorted(values)[n // 2], mean - 1]
        )
    *known, last = values
    facts = {"total": total, "n": n, "mean": mean, "part": sum(known)}
    statement = render("missing_value", rng, zh, values=_listed(known), **facts)
    return number(statement, last, [mean, last + mean, sum(known) - mean, last - n])


def mean_and_median(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Mean and median of an odd number of data, in two parts."""
    n = rng.choice((5, 5, 7))
    values = [rng.randint(2, 40) for _ in range(n)]
    values[-1] += -sum(values) % n
    ordered, total, middle = sorted(values), sum(values), n // 2
    statement = render("mean_and_median", rng, zh, values=values, ordered=ordered, n=n, total=total)
    mean, median = total // n, ordered[middle]
    wrong = [(mean, values[middle]), (mean, ordered[middle - 1]), (total, median)]
    return parts(statement, (mean, median), [*wrong, (mean + 1, median), (mean, median + 1)])


def extremes(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Smallest value, median and greatest value of some data, as a triple."""
    values = rng.sample(range(1, 60), 5)
    ordered = sorted(values)
    statement = render("extremes", rng, zh, values=values, ordered=ordered)
    low, median, high = ordered[::2]
    wrong = [(low, values[2], high), (low, ordered[1], high), (low, high, median)]
    return point(
        statement, (low, median, high), [*wrong, (low, median, high + 1), tuple(values[::2])]
    )


def probability(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The probability of drawing one ball, or two balls, of a colour."""
    red, white = rng.randint(2, 9), rng.randint(2, 9)
    n = red + white
    if rng.random() < 0.5:
        value = Fraction(red, n)
        statement = render("probability", rng, zh, red=red, white=white, n=n, value=value)
        slips = [(red, white), (white, n), (1, n), (1, red), (red + 1, n + 1)]
    else:
        good, pairs = math.comb(red, 2), math.comb(n, 2)
        value = Fraction(good, pairs)
        statement = render(
            "probability_two", rng, zh, red=red, white=white, n=n, good=good, all=pairs
        )
        slips = [(red * red, n * n), (2, n), (red, n), (pairs - good, pairs), (2 * good, n * n)]
    return number(statement, value, [Fraction(*slip) for slip in slips])


def counting(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The number of permutations or combinations of some elements of a group."""
    n, k = rng.randint(5, 11), rng.randint(2, 4)
    name, value, other = rng.choice((
        ("permutation", math.perm(n, k), math.comb(n, k)),
        ("combination", math.comb(n, k), math.perm(n, k)),
    ))  # fmt: skip
    statement = render(name, rng, zh, n=n, k=k, value=value, less=n - k + 1)
    return number(statement, value, [other, n * k, n**k, k**n, value + n, math.factorial(k)])


def variance(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The variance of five data (divided by five)."""
    a, b = rng.choice(((2, 1), (4, 2), (3, 1), (6, 3), (1, 1), (5, 0)))
    mean, total = rng.randint(8, 60), 2 * (a * a + b * b)
    values = [mean + step for step in rng.sample((-a, -b, 0, b, a), 5)]
    statement = render("variance", rng, zh, values=values, mean=mean, total=total)
    wrong: list[Num] = [total, Fraction(total, 4), mean, Fraction(2 * (a + b), 5)]
    return number(statement, Fraction(total, 5), wrong)


def at_least(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The number of things to take to be sure of several of one colour (pigeonhole principle)."""
    colours, want, thing = rng.randint(3, 9), rng.randint(2, 6), rng.choice(THINGS[7:9])
    less = want - 1
    most = colours * less
    statement = render(
        "at_least", rng, zh, colours=colours, want=want, less=less, most=most, thing=thing
    )
    wrong = [colours * want, most, want + 1, colours + 1, colours * want + 1]
    return number(statement, most + 1, wrong)
