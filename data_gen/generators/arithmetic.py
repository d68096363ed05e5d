"""Generators of problems on numbers: amounts, fractions, percentages, divisors, shares."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

from . import GeneratedProblem
from .builders import elements, number, several, verdicts
from .notation import Num, order
from .words import render


def shopping(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The amount of money that is left after a purchase."""
    total, price, n = rng.randint(60, 900), rng.randint(2, 9), rng.randint(2, 6)
    spent = price * n
    left = total - spent
    statement = render("shopping", rng, zh, total=total, price=price, n=n, spent=spent, left=left)
    wrong = [spent, total - price, left + 10, left - 1, left + price, total - price - n]
    return number(statement, left, wrong, unit="元" if zh else "dollars")


def fraction(rng: random.Random, zh: bool) -> GeneratedProblem:
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


def percent(rng: random.Random, zh: bool) -> GeneratedProblem:
    """A percentage of a number."""
    p = rng.choice([5, 8, 10, 12, 15, 20, 24, 25, 30, 35, 40, 45, 60, 75])
    base = rng.randint(1, 40) * 100 // math.gcd(p, 100)
    value = base * p // 100
    statement = render("percent", rng, zh, base=base, p=p, value=value, share=Decimal(p) / 100)
    wrong: list[Num] = [value * 10, base - value, base + value, Decimal(value) / 10, base - p]
    return number(statement, value, wrong)


def discount(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The price after a discount; a Chinese discount names what is still paid."""
    off = rng.choice([5, 10, 15, 20, 25, 30, 40])
    base = rng.randint(2, 60) * 20
    cut, share = Decimal(base * off) / 100, Decimal(100 - off) / 100
    price = base - cut
    statement = render(
        "discount", rng, zh, off=off, base=base, price=price, fold=share * 10, share=share
    )
    wrong: list[Num] = [cut, base - off, price + 10, base + cut]
    return number(statement, price, wrong, unit="元" if zh else "dollars")


def divisor_or_multiple(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The greatest common divisor or the least common multiple of two numbers."""
    g, m, n = rng.randint(2, 15), rng.randint(2, 9), rng.randint(2, 9)
    while math.gcd(m, n) > 1 or m == n:
        m, n = rng.randint(2, 9), rng.randint(2, 9)
    a, b = g * m, g * n
    greatest = rng.random() < 0.5
    statement = render(
        "gcd" if greatest else "lcm", rng, zh, a=a, b=b, g=g, m=m, n=n, lcm=g * m * n
    )
    value, other = (g, g * m * n) if greatest else (g * m * n, g)
    return number(statement, value, [other, a * b, value * 2, abs(a - b), g * m, m * n])


def share(rng: random.Random, zh: bool) -> GeneratedProblem:
    """One share of an amount that is divided in a ratio."""
    m, n = rng.sample(range(1, 10), 2)
    while math.gcd(m, n) > 1:
        m, n = rng.sample(range(1, 10), 2)
    part = rng.randint(3, 40)
    total = part * (m + n)
    statement = render(
        "share", rng, zh, m=m, n=n, total=total, parts=m + n, part=part, value=part * m
    )
    wrong = [part * n, part, part * (m + 1), total - m, abs(m - n) * part]
    return number(statement, part * m, wrong, unit="元" if zh else "dollars")


def work_together(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The time that two people need together for a task that each can do alone."""
    a, b = rng.choice(
        [(3, 6), (4, 12), (6, 12), (10, 15), (12, 24), (20, 30), (6, 3), (5, 20), (8, 24), (12, 6),
         (15, 30), (18, 9), (20, 5), (21, 28), (24, 40), (14, 35), (12, 36), (30, 60), (40, 60)]
    )  # fmt: skip
    value = Fraction(a * b, a + b)
    statement = render("work_together", rng, zh, a=a, b=b, rate=1 / value, value=value)
    return number(statement, value, [a + b, Fraction(a + b, 2), abs(a - b), 1 / value], unit="h")


def divisors(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The set of a number's divisors up to a bound."""
    n = rng.choice([n for n in range(12, 61) if sum(n % d == 0 for d in range(1, n + 1)) >= 4])
    top = rng.randint(n // 2, n)
    found = tuple(d for d in range(1, top + 1) if n % d == 0)
    statement = render(
        "divisors", rng, zh, n=n, top=top, a=found[1], b=n // found[1], found=found[-1]
    )
    near = next(d for d in range(2, n) if n % d)
    return elements(
        statement, found, [(*found, near), (*found[:-1], found[-1] + 1), (*found, n + 1)]
    )


def primes_between(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The primes between two numbers."""
    low = rng.randint(2, 80)
    high = low + rng.randint(9, 18)
    found = tuple(n for n in range(low, high + 1) if is_prime(n))
    statement = render(
        "primes_between", rng, zh, low=low, high=high, first=found[0], count=len(found)
    )
    odd = next(n for n in range(low | 1, high + 3, 2) if not is_prime(n))
    return elements(statement, found, [(*found, odd), (*found[:-1], found[-1] + 2)])


def prime_factors(rng: random.Random, zh: bool) -> GeneratedProblem:
    """All prime factors of a number."""
    found = tuple(sorted(rng.sample((2, 3, 5, 7, 11, 13), rng.choice((2, 3)))))
    powers = {p: rng.randint(1, 2 if p < 5 else 1) for p in found}
    product = " \\times ".join(f"{p}^{k}" if k > 1 else str(p) for p, k in powers.items())
    n = math.prod(p**k for p, k in powers.items())
    statement = render("prime_factors", rng, zh, n=n, product=product)
    return several(statement, found, [(1, *found), (*found[:-1], found[-1] + 2), (*found, n)])


def is_prime(n: int) -> bool:
    """Whether ``n`` is a prime."""
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


def prime(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether an odd number that does not end in 5 is a prime."""
    n = rng.choice([x for x in range(31, 400, 2) if x % 5])
    root, factor = math.isqrt(n), next(d for d in range(2, n + 1) if n % d == 0)
    why = (f"用不超过{root}的质数逐一试除，都除不尽。", f"No prime up to {root} divides it.")
    if factor < n:
        why = (f"{n}={factor}×{n // factor}，它有其他约数。", f"{n} = {factor} * {n // factor}.")
    return verdicts(render("prime", rng, zh, n=n, why=why), factor == n)


def compare(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether a power is greater than a product."""
    a, b, n = rng.randint(2, 12), rng.randint(2, 30), rng.randint(2, 4)
    power, product = a**n, rng.randint(2, 12) * b
    product = product if rng.random() < 0.5 else power + rng.randint(-4, 4)
    sign = order(power, product)
    statement = render("compare", rng, zh, a=a, n=n, power=power, product=product, sign=sign)
    return verdicts(statement, power > product)


def compare_fractions(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Whether one fraction is greater than another that is close to it."""
    b, d = rng.sample(range(3, 16), 2)
    a = rng.randint(1, b - 1)
    c = min(d - 1, max(1, a * d // b + rng.choice((0, 1))))
    left, right = a * d, c * b
    sign = order(left, right)
    statement = render(
        "compare_fractions", rng, zh, a=a, b=b, c=c, d=d, left=left, right=right, sign=sign
    )
    return verdicts(statement, left > right)
