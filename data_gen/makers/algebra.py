"""Makers of problems on equations, inequalities, expressions and coordinates."""

from __future__ import annotations

import random

from data_gen.makers import Drawn
from gradegpt.schema import AnswerType


def linear(rng: random.Random, zh: bool) -> Drawn:
    """The solution of a linear equation."""
    x, a, b = rng.randint(-12, 12), rng.randint(2, 9), rng.randint(-20, 20)
    c = a * x + b
    sign = f"+{b}" if b >= 0 else str(b)
    question = f"解方程 ${a}x{sign}={c}$。" if zh else f"Solve for x: {a}x{sign} = {c}"
    steps = [f"{a}x={c - b}", f"x={c - b}/{a}"]
    wrong = [f"x={x + 1}", f"x={-x if x else 3}", f"x = {x - 2}", f"$x={a * x or 7}$", str(x + 3)]
    right = [f"x = {x}", f"$x={x}$", str(x), f"${x}$"]
    return Drawn(AnswerType.EQUATION, question, f"x={x}", steps, right, wrong)


def quadratic(rng: random.Random, zh: bool) -> Drawn:
    """Both roots of a quadratic equation."""
    p, q = rng.sample(range(-9, 10), 2)
    b, c = -(p + q), p * q
    text = f"x^2{b:+d}x{c:+d}=0".replace("+0x", "").replace("-0x", "").replace("+0=", "=")
    question = f"求方程 ${text}$ 的所有实数根。" if zh else f"Find all real roots of ${text}$."
    steps = [f"(x{-p:+d})(x{-q:+d})=0"]
    either = "或" if zh else " or "
    right = [
        f"x_1={q}, x_2={p}",
        f"{q}, {p}",
        f"x={q}{either}x={p}",
        f"$x={p}$, $x={q}$",
        f"x={p}{either}{q}",
    ]
    wrong = [
        f"x={p}",
        f"x={p}{either}x={-q if q else 11}",
        f"x={p + 1}{either}x={q}",
        f"{-p if p else 12}, {q}",
        f"x={q}",
    ]
    return Drawn(AnswerType.MULTI_ANSWER, question, f"x={p}{either}x={q}", steps, right, wrong)


def inequality(rng: random.Random, zh: bool) -> Drawn:
    """The interval that solves a quadratic inequality."""
    a, b = sorted(rng.sample(range(-9, 10), 2))
    closed = rng.random() < 0.5
    op, sign = ("\\le", "≤") if closed else ("<", "<")
    left, right = ("[", "]") if closed else ("(", ")")
    if zh:
        question = f"不等式 $(x{-a:+d})(x{-b:+d}){op} 0$ 的解集用区间表示为____。"
        steps = [f"两根为 {a}, {b}", "开口向上，取两根之间。"]
    else:
        question = f"Solve $(x{-a:+d})(x{-b:+d}) {op} 0$ and give the solution as an interval."
        upward = "The parabola opens upward, so take the part between the roots."
        steps = [f"The roots are {a}, {b}", upward]
    reference = f"{left}{a},{b}{right}"
    forms = [
        f"${reference}$",
        f"{left}{a}, {b}{right}",
        f"{a}{sign}x{sign}{b}",
        f"${a} {op} x {op} {b}$",
        f"{{x|{a}{sign}x{sign}{b}}}",
    ]
    flip = ("(", ")") if closed else ("[", "]")
    wrong = [
        f"{flip[0]}{a},{b}{flip[1]}",
        f"{left}{a},{b + 1}{right}",
        f"(-∞,{a})∪({b},+∞)",
        f"{left}{-b},{-a}{right}" if a != -b else f"{left}{a - 1},{b}{right}",
    ]
    return Drawn(AnswerType.INTERVAL, question, reference, steps, forms, wrong)


def midpoint(rng: random.Random, zh: bool) -> Drawn:
    """The midpoint of a segment."""
    x, y, dx, dy = (rng.randint(-9, 9) for _ in range(4))
    question = (
        f"已知点 A({x - dx},{y - dy})，B({x + dx},{y + dy})，求线段 AB 的中点坐标。"
        if zh
        else f"Find the midpoint of the segment from ({x - dx}, {y - dy}) to ({x + dx}, {y + dy})."
    )
    steps = [f"({x - dx}+{x + dx})/2={x}", f"({y - dy}+{y + dy})/2={y}"]
    wrong = [f"({y},{x})", f"({x},{-y})", f"({x + 1},{y})", f"({-x},{y})", f"({2 * x},{2 * y})"]
    wrong = [w for w in wrong if w != f"({x},{y})"]
    right = [f"$({x},{y})$", f"({x}, {y})", f"x={x}, y={y}", f"M({x},{y})"]
    return Drawn(AnswerType.TUPLE, question, f"({x},{y})", steps, right, wrong)


def expand(rng: random.Random, zh: bool) -> Drawn:
    """The product of two binomials."""
    a, b = rng.randint(1, 9), rng.randint(-9, 9) or 4
    s, p = a + b, a * b
    middle = {0: "", 1: "+x", -1: "-x"}.get(s, f"{s:+d}x")
    reference = f"x^2{middle}{p:+d}"
    question = (
        f"展开并化简 $(x{a:+d})(x{b:+d})$。" if zh else f"Expand and simplify (x{a:+d})(x{b:+d})."
    )
    steps = [f"x^2{b:+d}x{a:+d}x{p:+d}"]
    right = [f"${reference}$", f"x²{middle}{p:+d}", f"{p}{middle}+x^2", f"$x^{{2}}{middle}{p:+d}$"]
    wrong = [f"x^2{middle}{-p:+d}", f"x^2{s + 1:+d}x{p:+d}", f"x^2{p:+d}x{s:+d}", f"x^2{p:+d}"]
    return Drawn(AnswerType.EXPRESSION, question, reference, steps, right, wrong)


def derivative(rng: random.Random, zh: bool) -> Drawn:
    """The derivative of a power and a linear term."""
    a, n, b = rng.randint(2, 9), rng.randint(2, 6), rng.randint(2, 9)
    power = f"x^{n - 1}" if n > 2 else "x"
    reference = f"{a * n}{power}+{b}"
    question = (
        f"求函数 $f(x)={a}x^{n}+{b}x$ 的导数。" if zh else f"Differentiate f(x) = {a}x^{n} + {b}x."
    )
    steps = [f"({a}x^{n})'={a * n}{power}", f"({b}x)'={b}"]
    right = [
        f"${reference}$",
        f"f'(x)={reference}",
        f"{b}+{a * n}{power}",
        f"{a * n} {power} + {b}",
    ]
    wrong = [
        f"{a * n}x^{n}+{b}",
        f"{a}{power}+{b}",
        f"{a * n}{power}",
        f"{a * n}{power}-{b}",
        f"{a * n + 1}{power}+{b}",
    ]
    return Drawn(AnswerType.EXPRESSION, question, reference, steps, right, wrong)


def circle(rng: random.Random, zh: bool) -> Drawn:
    """The equation of a circle."""
    a, b, r = rng.randint(-6, 6), rng.randint(-6, 6), rng.randint(2, 9)
    left = (f"(x{-a:+d})^2" if a else "x^2") + (f"+(y{-b:+d})^2" if b else "+y^2")
    reference = f"{left}={r * r}"
    question = (
        f"求以点({a},{b})为圆心、{r}为半径的圆的标准方程。"
        if zh
        else f"Write the standard equation of the circle with centre ({a}, {b}) and radius {r}."
    )
    other = (f"(x{a:+d})^2" if a else "(x+1)^2") + (f"+(y{b:+d})^2" if b else "+y^2")
    steps = ["到圆心的距离等于半径。" if zh else "Every point is at distance r from the centre."]
    right = [
        f"${reference}$",
        reference.replace("=", " = "),
        reference.replace("^2", "²"),
        f"{left}-{r * r}=0",
    ]
    wrong = [f"{left}={r}", f"{other}={r * r}", f"{left}={r * r + 1}", f"{left}={2 * r}"]
    return Drawn(AnswerType.EQUATION, question, reference, steps, right, wrong)
