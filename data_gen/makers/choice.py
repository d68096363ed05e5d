"""Makers of problems with options: one right, or several."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Final

from data_gen.makers import Drawn, Maker
from data_gen.makers.algebra import expand, linear, nonzero, quadratic, system
from data_gen.makers.arithmetic import fraction, percent, share, shopping
from data_gen.makers.calculus import derivative, integral, product_rule, tangent
from data_gen.makers.coordinates import distance, midpoint
from data_gen.makers.facts import recall
from data_gen.makers.functions import trigonometry, vertex
from data_gen.makers.geometry import right_triangle, solid_volume, triangle_area
from data_gen.makers.intervals import domain, inequality, set_operation
from data_gen.makers.naming import conic, weekday
from data_gen.makers.nature import moles
from data_gen.makers.notation import polynomial
from data_gen.makers.physics import density, kinetic_energy, ohm, speed
from data_gen.makers.statistics import average, probability
from data_gen.makers.ways import settle
from data_gen.makers.words import Told, section, tell
from gradegpt.answers.options import LETTERS, is_set
from gradegpt.schema import AnswerType

_LAYOUTS: Final = ("{}. {}", "({}) {}", "{}、{}", "{}: {}", "{}．{}", "{}) {}")
_EN_LAYOUTS: Final = ("{}. {}", "({}) {}", "{}: {}", "{}) {}", "({}). {}")
_BLANKS: Final = (
    ("（　　）", "( )", "", ""),
    ("", "", " Choose one option.", " Which option is right?"),
)
_NONE: Final = ("以上都不对", "none of the above")


def listed(rng: random.Random, zh: bool, texts: Sequence[str]) -> str:
    """Options with their letters, on lines of their own or, where short, on one."""
    layout = rng.choice(_LAYOUTS if zh else _EN_LAYOUTS)
    short = sum(map(len, texts)) <= 60 and len(texts) <= 5
    joint = rng.choice(["\n", "\n", "  ", "\t", "; "]) if short else "\n"
    return joint.join(layout.format(*pair) for pair in zip(LETTERS, texts, strict=False))


def one_of(rng: random.Random, zh: bool, told: Told, right: str, rivals: Sequence[str]) -> Drawn:
    """A choice of ``right`` among up to nine ``rivals``; now and then none of the options holds."""
    count = min(len(rivals), rng.choice((2, 3, 3, 3, 3, 3, 3, 4, 4, 5, 7, 9)))
    texts = rng.sample(list(rivals), count)
    roll = rng.random()
    if roll < 0.04 and count > 2:
        texts, right = [*texts, _NONE[not zh]], _NONE[not zh]
    elif roll < 0.1 and count > 2:
        texts[rng.randrange(count)] = right
        texts.append(_NONE[not zh])
    else:
        texts.insert(rng.randrange(count + 1), right)
    question = f"{told.question}{rng.choice(_BLANKS[not zh])}\n{listed(rng, zh, texts)}"
    ways: list[Callable[[int], str]] = [
        lambda i: LETTERS[i],
        lambda i: f"({LETTERS[i]})",
        lambda i: f"{LETTERS[i]}. {texts[i]}",
        lambda i: texts[i],
        lambda i: f"选项{LETTERS[i]}" if zh else f"option {LETTERS[i]}",
        lambda i: f"{LETTERS[i]}项" if zh else f"Choice {LETTERS[i]}",
        lambda i: f"({LETTERS[i]}) {texts[i]}",
    ]
    slot = texts.index(right)
    wrong = rng.sample([i for i in range(len(texts)) if i != slot], min(4, len(texts) - 1))
    return _lettered(
        rng,
        settle(rng, AnswerType.SINGLE_CHOICE, Told(question, told.steps), slot, wrong, ways),
        LETTERS[slot],
    )


def _lettered(rng: random.Random, drawn: Drawn, letters: str) -> Drawn:
    """The same problem with a bare letter, mostly, as its reference."""
    reference = letters if rng.random() < 0.8 or len(letters) > 1 else f"({letters})"
    forms = (drawn.reference, *drawn.right)
    return drawn._replace(reference=reference, right=[f for f in forms if f != reference])


def as_choice(makers: Sequence[Maker]) -> Maker:
    """A maker of the problems of ``makers`` with options."""

    def maker(rng: random.Random, zh: bool) -> Drawn:
        drawn = rng.choice(makers)(rng, zh)
        return one_of(rng, zh, Told(drawn.question, drawn.steps), drawn.reference, drawn.rivals)

    return maker


choose_number: Final = as_choice(
    (shopping, percent, fraction, share, triangle_area, right_triangle, average, integral, distance)
)
choose_quantity: Final = as_choice((speed, density, kinetic_energy, moles, ohm, solid_volume))
choose_formula: Final = as_choice(
    (expand, derivative, product_rule, tangent, trigonometry, probability)
)
choose_region: Final = as_choice(
    (inequality, domain, set_operation, midpoint, vertex, system, quadratic, linear)
)
choose_fact: Final = as_choice((recall, recall, recall, weekday, conic))


def several_questions(rng: random.Random, zh: bool) -> Drawn:
    """Questions with one right option each, under one number: ``B A D``."""
    count = rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
    while True:
        drawn = [rng.choice((largest, odd_one_out, choose_fact))(rng, zh) for _ in range(count)]
        value = tuple(d.reference.strip("()") for d in drawn)
        if not is_set(value):
            break
    asked = "\n".join(f"{n}. {d.question}" for n, d in enumerate(drawn, start=1))
    wrong = [
        other
        for n, x in itertools.product(range(count), LETTERS[:4])
        if not is_set(other := (*value[:n], x, *value[n + 1 :]))
    ]
    ways: list[Callable[[tuple[str, ...]], str]] = [
        " ".join,
        ", ".join,
        lambda v: " ".join(f"{n}.{x}" for n, x in enumerate(v, start=1)),
        lambda v: " ".join(f"({n}) {x}" for n, x in enumerate(v, start=1)),
        lambda v: "; ".join(f"{n}. {x}" for n, x in enumerate(v, start=1)),
    ]
    told = Told(asked, [step for d in drawn for step in d.steps[:1]])
    keys = (*ways[:1] * 3, *ways[2:4])
    return settle(rng, AnswerType.MULTIPLE_CHOICE, told, value, wrong, ways, keys=keys)


def largest(rng: random.Random, zh: bool) -> Drawn:
    """The largest or the smallest of some numbers."""
    size = rng.choice((3, 4, 4, 4, 5, 6))
    n = rng.choice((10, 100, 1000))
    values = [v / n for v in rng.sample(range(-9 * n // 10, 9 * n), size)]
    greatest = rng.random() < 0.5
    told = tell("largest", rng, zh, which=(("最大", "largest"), ("最小", "smallest"))[not greatest],
                side=(("右", "right"), ("左", "left"))[not greatest])  # fmt: skip
    right = max(values) if greatest else min(values)
    return one_of(rng, zh, told, f"{right:g}", [f"{v:g}" for v in values if v != right])


def odd_one_out(rng: random.Random, zh: bool) -> Drawn:
    """The one option that is not of the kind that the others are, or the only one that is."""
    kind, members, others = _category(rng, zh)
    only = rng.random() < 0.5
    told = tell("only_one" if only else "odd_one_out", rng, zh, kind=kind)
    if not only:
        members, others = others, members
    return one_of(rng, zh, told, rng.choice(members), rng.sample(others, min(3, len(others))))


def _category(rng: random.Random, zh: bool) -> tuple[str, list[str], list[str]]:
    row = rng.choice(section("category").rows)
    kind, good, bad = row[not zh], row[2 + (not zh)], row[4 + (not zh)]
    return kind, good.split("|"), bad.split("|")


# --- several right options ------------------------------------------------------------------------


def all_of(
    rng: random.Random, zh: bool, told: Told, good: Sequence[str], bad: Sequence[str]
) -> Drawn:
    """A choice of all of ``good`` among ``bad``."""
    options = [*((text, True) for text in good), *((text, False) for text in bad)]
    rng.shuffle(options)
    every = LETTERS[: len(options)]
    right = "".join(x for x, (_, holds) in zip(every, options, strict=True) if holds)
    rest = [x for x in every if x not in right]
    wrong = [
        right[1:],
        right[:-1],
        *("".join(sorted(right + x)) for x in rest),
        *("".join(sorted(right[1:] + x)) for x in rest),
    ]
    joints = ("", "、", ",", ", ", " ", "和" if zh else " and ")

    def way(joint: str) -> Callable[[str], str]:
        return joint.join

    ways = [
        *map(way, joints),
        lambda v: f"({v})",
        lambda v: v[::-1],
        lambda v: "".join(f"({x})" for x in v),
    ]
    question = f"{told.question}\n{listed(rng, zh, [text for text, _ in options])}"
    drawn = settle(rng, AnswerType.MULTIPLE_CHOICE, Told(question, told.steps), right, wrong, ways)
    return _lettered(rng, drawn, right)


def _counts(rng: random.Random, good: int, bad: int) -> tuple[int, int]:
    """How many right and wrong options to show: four or five in all, at least two right ones."""
    right = min(good, rng.choice((2, 2, 3, 3, 4)))
    return right, min(bad, max(1, rng.choice((4, 4, 4, 5)) - right))


def members(rng: random.Random, zh: bool) -> Drawn:
    """Which options are of a kind."""
    kind, good, bad = _category(rng, zh)
    r, w = _counts(rng, len(good), len(bad))
    return all_of(
        rng, zh, tell("category", rng, zh, kind=kind), rng.sample(good, r), rng.sample(bad, w)
    )


def divisible(rng: random.Random, zh: bool) -> Drawn:
    """Which numbers can be divided by another."""
    k = rng.choice((3, 4, 6, 7, 8, 9, 11, 12, 13))
    r, w = _counts(rng, 9, 9)
    good = [k * n for n in rng.sample(range(3, 60), r)]
    bad = [k * n + rng.randint(1, k - 1) for n in rng.sample(range(3, 60), w)]
    told = tell("divisible", rng, zh, k=k, a=good[0], b=good[0] // k, c=bad[0], d=bad[0] % k)
    return all_of(rng, zh, told, [str(n) for n in good], [str(n) for n in bad])


def on_the_line(rng: random.Random, zh: bool) -> Drawn:
    """Which points lie on a line."""
    k, b = nonzero(rng, 5), rng.randint(-9, 9)
    r, w = _counts(rng, 9, 9)
    xs = rng.sample(range(-6, 9), r + w)
    good = [f"({x},{k * x + b})" for x in xs[:r]]
    bad = [f"({x},{k * x + b + rng.choice((-2, -1, 1, 2, 3))})" for x in xs[r:]]
    told = tell("on_the_line", rng, zh, f=polynomial((k, b)), x=xs[0], y=k * xs[0] + b)
    return all_of(rng, zh, told, good, bad)


def equal_values(rng: random.Random, zh: bool) -> Drawn:
    """Which fractions, decimals and percentages equal a fraction."""
    top, bottom = rng.choice(
        ((1, 2), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 8), (3, 8), (7, 20))
    )
    m, n = rng.sample(range(2, 9), 2)
    share = top / bottom
    good = [
        f"{share:g}",
        f"{share * 100:g}%",
        f"$\\frac{{{top * m}}}{{{bottom * m}}}$",
        f"{top * n}/{bottom * n}",
    ]
    bad = [
        f"{share / 10:g}",
        f"{share:g}%",
        f"$\\frac{{{top + m}}}{{{bottom + m}}}$",
        f"{bottom}/{top}",
        f"{share * 10:g}%",
    ]
    r, w = _counts(rng, 4, 5)
    told = tell("equal_values", rng, zh, a=top, b=bottom, share=f"{share:g}")
    return all_of(rng, zh, told, rng.sample(good, r), rng.sample(bad, w))


def true_statements(rng: random.Random, zh: bool) -> Drawn:
    """Which statements on a parabola hold."""
    a, h, k = nonzero(rng, 3), nonzero(rng, 5), nonzero(rng, 9)
    up = a > 0
    statements = [
        (
            (
                f"图象开口向{'上' if up else '下'}",
                f"the graph opens {'upward' if up else 'downward'}",
            ),
            (
                f"图象开口向{'下' if up else '上'}",
                f"the graph opens {'downward' if up else 'upward'}",
            ),
        ),
        (
            (f"对称轴是直线 $x={h}$", f"the axis of symmetry is $x = {h}$"),
            (f"对称轴是直线 $x={-h}$", f"the axis of symmetry is $x = {-h}$"),
        ),
        (
            (f"顶点坐标为 $({h},{k})$", f"the vertex is $({h}, {k})$"),
            (f"顶点坐标为 $({-h},{k})$", f"the vertex is $({-h}, {k})$"),
        ),
        (
            (
                f"最{'小' if up else '大'}值为{k}",
                f"the {'least' if up else 'greatest'} value is {k}",
            ),
            (
                f"最{'大' if up else '小'}值为{k}",
                f"the {'greatest' if up else 'least'} value is {k}",
            ),
        ),
        (
            (
                f"图象与 $y$ 轴交于点 $(0,{a * h * h + k})$",
                f"the graph meets the y-axis at $(0, {a * h * h + k})$",
            ),
            (f"图象与 $y$ 轴交于点 $(0,{k})$", f"the graph meets the y-axis at $(0, {k})$"),
        ),
    ]
    r, w = _counts(rng, 4, 3)
    shown = rng.sample(statements, min(5, r + w))
    coefficient = {1: "", -1: "-"}.get(a, str(a))
    told = tell("true_statements", rng, zh, f=f"{coefficient}(x{-h:+d})^2{k:+d}", a=a, h=h, k=k)
    good, bad = [g[not zh] for g, _ in shown[:r]], [b[not zh] for _, b in shown[r:]]
    return all_of(rng, zh, told, good, bad)


def solutions(rng: random.Random, zh: bool) -> Drawn:
    """Which numbers satisfy a linear inequality."""
    k, x, b = nonzero(rng, 5), rng.randint(-4, 5), rng.randint(-9, 9)
    r, w = _counts(rng, 8, 8)
    good = rng.sample([x + d * (1 if k > 0 else -1) for d in range(1, 9)], r)
    bad = rng.sample([x - d * (1 if k > 0 else -1) for d in range(8)], w)
    left = polynomial((k, b))
    told = tell("solutions", rng, zh, left=left, c=k * x + b, sign="><"[k < 0], x=x)
    return all_of(rng, zh, told, [str(n) for n in good], [str(n) for n in bad])
