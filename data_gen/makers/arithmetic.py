"""Makers of problems on numbers: amounts, fractions, percentages, divisors, sequences."""

from __future__ import annotations

import math
import random
from typing import Final

from data_gen.makers import Drawn
from gradegpt.schema import AnswerType

_ZH_NAMES: Final = ("小明", "小红", "李华", "王芳", "张伟", "刘洋", "小刚", "陈静")
_EN_NAMES: Final = ("Tom", "Anna", "Maria", "Ben", "Sara", "Leo", "Nina", "Omar")
_ZH_THINGS: Final = ("苹果", "铅笔", "本子", "橘子", "贴纸", "气球", "杯子", "糖果")
_EN_THINGS: Final = (
    "apples",
    "pencils",
    "notebooks",
    "oranges",
    "stickers",
    "balloons",
    "cups",
    "candies",
)


def shopping(rng: random.Random, zh: bool) -> Drawn:
    """What is left of an amount of money after buying some things."""
    total, price, n = rng.randint(60, 900), rng.randint(2, 9), rng.randint(2, 6)
    spent = price * n
    left = total - spent
    i = rng.randrange(8)
    unit = "元" if zh else " dollars"
    if zh:
        name, thing = _ZH_NAMES[i], _ZH_THINGS[i]
        question = f"{name}有{total}元，一个{thing}{price}元，买了{n}个，还剩多少元？"
        steps = [f"买东西一共花了 {price}×{n}={spent} 元。", f"{total}-{spent}={left}。"]
    else:
        name, thing = _EN_NAMES[i], _EN_THINGS[i].capitalize()
        question = (
            f"{name} has ${total}. {thing} cost ${price} each, and {n} are bought. "
            "How much money is left?"
        )
        steps = [
            f"The purchase costs {price} * {n} = {spent} dollars.",
            f"{total} - {spent} = {left}.",
        ]
    right = [f"{left}{unit}", f"{left}.0", f"${left}$", f"{left}.00{unit}"]
    right += [] if zh else [f"${left}"]
    wrong = [f"{left + d}{u}" for d in (1, -1, 10, price, -price) for u in ("", unit)]
    wrong += [f"{spent}{unit}"]
    return Drawn(AnswerType.NUMBER, question, str(left), steps, right, wrong)


def fraction(rng: random.Random, zh: bool) -> Drawn:
    """The sum of two fractions, in lowest terms."""
    a, b, c, d = rng.randint(1, 7), rng.randint(2, 9), rng.randint(1, 7), rng.randint(2, 9)
    top, bottom = a * d + b * c, b * d
    g = math.gcd(top, bottom)
    n, m = top // g, bottom // g
    if m == 1:
        n, m = n * 3 + 1, 3
        question = f"计算 ${n - 1}/3 + 1/3$ 的值。" if zh else f"Compute {n - 1}/3 + 1/3."
        steps = [f"({n - 1}+1)/3={n}/3"]
    elif zh:
        question = f"计算 $\\frac{{{a}}}{{{b}}}+\\frac{{{c}}}{{{d}}}$，结果写成最简分数。"
        expanded = f"\\frac{{{a * d}}}{{{bottom}}}+\\frac{{{c * b}}}{{{bottom}}}"
        steps = [f"通分得 ${expanded}$", "再约分即可。"]
    else:
        terms = f"\\frac{{{a}}}{{{b}}} + \\frac{{{c}}}{{{d}}}"
        question = f"Write {terms} as a fraction in lowest terms."
        expanded = f"{a * d}/{bottom} + {c * b}/{bottom}"
        steps = [f"The common denominator is {bottom}: {expanded}.", "Then reduce."]
    right = [
        f"\\frac{{{n}}}{{{m}}}",
        f"${n}/{m}$",
        f"$\\frac{{{n}}}{{{m}}}$",
        f"\\dfrac{{{n}}}{{{m}}}",
        f"{n} / {m}",
    ]
    wrong = [
        f"{n + 1}/{m}",
        f"\\frac{{{n}}}{{{m + 1}}}",
        f"{m}/{n}",
        f"-{n}/{m}",
        f"$\\frac{{{n - 1}}}{{{m}}}$",
    ]
    reference = f"{n}/{m}" if rng.random() < 0.5 else f"\\frac{{{n}}}{{{m}}}"
    return Drawn(AnswerType.NUMBER, question, reference, steps, right, wrong)


def percent(rng: random.Random, zh: bool) -> Drawn:
    """A percentage of a number, or the percentage that one number is of another."""
    base, p = rng.randint(2, 40) * 50, rng.choice([5, 10, 12, 15, 20, 25, 30, 40, 60, 75])
    value = base * p // 100
    if base * p % 100:
        base, value = 200, 2 * p
    if rng.random() < 0.5:
        question = f"{base}的{p}%是多少？" if zh else f"What is {p}% of {base}?"
        steps = [f"{base}×{p}%={value}"]
        right = [f"{value}.0", f"${value}$"]
        wrong = [str(value * 10), str(value + 5), str(base - value), f"{value}%"]
        return Drawn(AnswerType.NUMBER, question, str(value), steps, right, wrong)
    question = f"{value}占{base}的百分之几？" if zh else f"{value} is what percent of {base}?"
    steps = [f"{value}÷{base}={p / 100:g}"]
    right = [f"{p / 100:g}", f"{p}\\%", f"${p}\\%$"] + ([] if zh else [f"{p} percent"])
    wrong = [f"{p + 5}%", f"{p / 10:g}%", f"{100 - p}%", f"{p}‰"]
    return Drawn(AnswerType.NUMBER, question, f"{p}%", steps, right, wrong)


def divisors(rng: random.Random, zh: bool) -> Drawn:
    """The set of a number's divisors up to a bound."""
    n = rng.choice(
        [12, 15, 16, 18, 20, 21, 22, 25, 26, 27, 28, 32, 33, 34, 35, 39, 44, 45, 49, 50, 52]
    )
    top = rng.randint(n // 2, n)
    found = [d for d in range(1, top + 1) if n % d == 0]
    condition = f"x\\text{{ 是 }}{n}\\text{{ 的正约数且 }}x\\le {top}"
    question = (
        f"写出集合 $\\{{x\\mid {condition}\\}}$ 的所有元素。"
        if zh
        else f"List the set of positive divisors of {n} that are at most {top}."
    )
    steps = [", ".join(f"{n}={d}×{n // d}" for d in found[:3])]
    body = ",".join(map(str, found))
    spaced = ", ".join(map(str, found))
    shuffled = ", ".join(map(str, rng.sample(found, len(found))))
    right = [f"$\\{{{body}\\}}$", f"{{{shuffled}}}", f"{{{body}}}", f"\\{{{spaced}\\}}"]
    others = (found[:-1], found[1:], [*found, top + 1], [*found[:-1], found[-1] + 1])
    wrong = ["{" + ",".join(map(str, other)) + "}" for other in others]
    return Drawn(AnswerType.SET, question, f"{{{body}}}", steps, right, wrong)


def compare(rng: random.Random, zh: bool) -> Drawn:
    """Whether a power is greater than a product."""
    a, b = rng.randint(2, 30), rng.randint(2, 30)
    n = rng.randint(2, 3)
    if zh:
        question = f"判断对错：${a}^{n}$ 大于 ${b * a}$。"
        yes, no = ["正确", "对", "√", "是"], ["错误", "错", "×", "不正确"]
    else:
        question = f"True or false: {a}^{n} is greater than {a * b}."
        yes, no = ["True", "true", "Yes", "correct"], ["False", "false", "No", "incorrect"]
    steps = [f"{a}^{n}={a**n}"]
    good, bad = (yes, no) if a**n > a * b else (no, yes)
    return Drawn(AnswerType.TRUE_FALSE, question, good[0], steps, good[1:], bad)


def sequence(rng: random.Random, zh: bool) -> Drawn:
    """A term and a sum of an arithmetic sequence, in two parts."""
    a, d, n = rng.randint(1, 9), rng.randint(2, 6), rng.randint(5, 12)
    term, total = a + (n - 1) * d, n * a + n * (n - 1) * d // 2
    question = (
        f"等差数列首项为{a}，公差为{d}。（1）求第{n}项；（2）求前{n}项和。"
        if zh
        else f"An arithmetic sequence has first term {a} and common difference {d}. "
        f"(1) Find term {n}. (2) Find the sum of the first {n} terms."
    )
    steps = [f"a_{n}={a}+{n - 1}×{d}={term}", f"S_{n}={n}×({a}+{term})/2={total}"]
    right = [
        f"（1）{term}（2）{total}",
        f"{term}, {total}",
        f"(1) ${term}$ (2) ${total}$",
        f"(1) a_{n}={term}; (2) S_{n}={total}",
    ]
    wrong = [
        f"(1) {total}; (2) {term}",
        f"(1) {term}; (2) {total + d}",
        f"(1) {term + d}; (2) {total}",
        f"(1) {term}",
        f"{term}",
    ]
    reference = f"(1) {term}; (2) {total}"
    return Drawn(AnswerType.MULTI_PART, question, reference, steps, right, wrong)
