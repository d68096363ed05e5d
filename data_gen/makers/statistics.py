"""Makers of problems on data, counting and chance."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from data_gen.makers import Drawn
from data_gen.makers.notation import tex
from data_gen.makers.ways import number, parts, point
from data_gen.makers.words import THINGS, tell


def average(rng: random.Random, zh: bool) -> Drawn:
    """The mean of some numbers, or the number that a mean still lacks."""
    n, mean = rng.randint(4, 7), rng.randint(8, 95)
    shifts = [rng.randint(-7, 7) for _ in range(n - 1)]
    values = [mean + s for s in (*shifts, -sum(shifts))]
    total = n * mean
    if rng.random() < 0.5:
        told = tell(
            "average",
            rng,
            zh,
            values=("、".join(map(str, values)), ", ".join(map(str, values))),
            total=total,
            n=n,
            mean=mean,
        )
        return number(
            rng,
            zh,
            told,
            mean,
            [total, Fraction(total, n - 1), mean + 1, sorted(values)[n // 2], mean - 1],
        )
    known, last = values[:-1], values[-1]
    told = tell(
        "missing_value",
        rng,
        zh,
        values=("、".join(map(str, known)), ", ".join(map(str, known))),
        n=n,
        mean=mean,
        total=total,
        part=sum(known),
    )
    return number(rng, zh, told, last, [mean, last + mean, sum(known) - mean, last + 1, last - n])


def mean_and_median(rng: random.Random, zh: bool) -> Drawn:
    """Mean and median of an odd number of data, in two parts."""
    n = rng.choice((5, 5, 7))
    values = [rng.randint(2, 40) for _ in range(n)]
    values[-1] += -sum(values) % n
    ordered = sorted(values)
    mean, median = sum(values) // n, ordered[n // 2]
    told = tell(
        "mean_and_median",
        rng,
        zh,
        values=", ".join(map(str, values)),
        ordered=", ".join(map(str, ordered)),
        n=n,
        total=sum(values),
    )
    wrong = [
        (median, mean),
        (mean, values[n // 2]),
        (mean + 1, median),
        (mean, ordered[n // 2 - 1]),
        (sum(values), median),
        (mean, median + 1),
    ]
    return parts(rng, zh, told, (mean, median), wrong)


def extremes(rng: random.Random, zh: bool) -> Drawn:
    """Smallest value, median and greatest value of some data, as a triple."""
    values = rng.sample(range(1, 60), 5)
    ordered = sorted(values)
    told = tell(
        "extremes",
        rng,
        zh,
        values=", ".join(map(str, values)),
        ordered=", ".join(map(str, ordered)),
    )
    low, median, high = ordered[0], ordered[2], ordered[-1]
    wrong = [
        (high, median, low),
        (low, values[2], high),
        (low, ordered[1], high),
        (low, high, median),
        (low, median, high + 1),
        (values[0], values[2], values[4]),
    ]
    return point(rng, zh, told, (low, median, high), wrong)


def probability(rng: random.Random, zh: bool) -> Drawn:
    """The chance to draw one ball, or two balls, of a colour."""
    red, white = rng.randint(2, 9), rng.randint(2, 9)
    n = red + white
    if rng.random() < 0.5:
        value = Fraction(red, n)
        told = tell("probability", rng, zh, red=red, white=white, n=n, value=tex(value))
        wrong = [
            Fraction(red, white),
            Fraction(white, n),
            Fraction(1, n),
            Fraction(1, red),
            Fraction(red + 1, n + 1),
        ]
    else:
        value = Fraction(math.comb(red, 2), math.comb(n, 2))
        told = tell(
            "probability_two",
            rng,
            zh,
            red=red,
            white=white,
            n=n,
            good=math.comb(red, 2),
            all=math.comb(n, 2),
        )
        wrong = [
            Fraction(red * red, n * n),
            Fraction(2, n),
            Fraction(red, n),
            1 - value,
            Fraction(red * (red - 1), n * n),
        ]
    return number(rng, zh, told, value, wrong)


def counting(rng: random.Random, zh: bool) -> Drawn:
    """In how many ways some of a group can be chosen, with or without order."""
    n, k = rng.randint(5, 11), rng.randint(2, 4)
    ordered = rng.random() < 0.5
    value, other = math.perm(n, k), math.comb(n, k)
    if not ordered:
        value, other = other, value
    told = tell(
        "permutation" if ordered else "combination", rng, zh, n=n, k=k, value=value, less=n - k + 1
    )
    return number(rng, zh, told, value, [other, n * k, n**k, k**n, value + n, math.factorial(k)])


def variance(rng: random.Random, zh: bool) -> Drawn:
    """The variance of five data (divided by five)."""
    steps = rng.choice(
        (
            (-2, -1, 0, 1, 2),
            (-4, -2, 0, 2, 4),
            (-3, -1, 0, 1, 3),
            (-6, -3, 0, 3, 6),
            (-1, -1, 0, 1, 1),
            (-5, 0, 0, 0, 5),
        )
    )
    mean = rng.randint(8, 60)
    values = [mean + s for s in rng.sample(steps, 5)]
    total = sum(s * s for s in steps)
    told = tell("variance", rng, zh, values=", ".join(map(str, values)), mean=mean, total=total)
    return number(
        rng,
        zh,
        told,
        Fraction(total, 5),
        [
            total,
            Fraction(total, 4),
            mean,
            Fraction(sum(map(abs, steps)), 5),
            Fraction(total, 5) + 1,
        ],
    )


def at_least(rng: random.Random, zh: bool) -> Drawn:
    """How many things one must take to be sure of a pair or more of one colour."""
    colours, want = rng.randint(3, 9), rng.randint(2, 6)
    value = colours * (want - 1) + 1
    told = tell(
        "at_least",
        rng,
        zh,
        colours=colours,
        want=want,
        less=want - 1,
        most=value - 1,
        thing=rng.choice(THINGS[7:9]),
    )
    return number(
        rng,
        zh,
        told,
        value,
        [colours * want, value - 1, want + 1, colours + 1, value + 1, colours * want + 1],
    )
