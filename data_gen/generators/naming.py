"""Generators of problems whose answer is a word that has to be derived."""

from __future__ import annotations

import random
from typing import Final

from gradegpt.schema import AnswerType

from . import GeneratedProblem
from .builders import build_problem
from .words import Pair, Statement, render, section

GROUPS: Final = tuple(
    [(zh, en) for zh, en in section(name).rows]
    for name in ("weekday", "direction", "triangle_kind", "acidity", "conic", "quadrant_point")
)
"""Groups of names in Chinese and in English; no two names of a group mean the same."""
_DAYS, _DIRECTIONS, _TRIANGLES, _ACIDITY, _CONICS, _QUADRANTS = GROUPS


def _named(statement: Statement, value: Pair, names: list[Pair], frame: Pair) -> GeneratedProblem:
    """A problem answered by one of ``names``: alone, in the ``frame``, or in the other language."""
    zh = statement.zh
    writers = [
        lambda v: v[not zh], lambda v: frame[not zh].format(v[not zh]), lambda v: v[zh],
        lambda v: f"{v[not zh]}（{v[zh]}）" if zh else f"{v[not zh]} ({v[zh]})",
    ]  # fmt: skip
    return build_problem(
        statement, AnswerType.TEXT, value, names, writers, reference_writers=writers[:1]
    )


def weekday(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The day of the week some days later or earlier."""
    today, n, later = rng.randrange(7), rng.randint(8, 120), rng.random() < 0.6
    value = _DAYS[(today + (n if later else -n)) % 7]
    statement = render("weekday", rng, zh, today=_DAYS[today], n=n, weeks=n // 7, rest=n % 7,
                when=(("后", "after"), ("前", "before"))[not later])  # fmt: skip
    return _named(statement, value, _DAYS, ("是{}", "a {}"))


def direction(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The direction that someone faces after some quarter turns."""
    at, right, left = rng.randrange(4), rng.randint(0, 9), rng.randint(1, 9)
    start, net = _DIRECTIONS[at], (right - left) % 4
    statement = render("direction", rng, zh, start=start, right=right, left=left, net=net)
    return _named(statement, _DIRECTIONS[(at + net) % 4], _DIRECTIONS, ("{}方", "{}wards"))


def triangle_kind(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Acute, right or obtuse, by the sides or by two angles."""
    kind = rng.randrange(3)
    top = (rng.randint(60, 89), 90, rng.randint(91, 140))[kind]
    first = rng.randint(10 if kind else max(20, 180 - 2 * top), min(top, 170 - top))
    a, b, c = rng.sample((top, first, 180 - top - first), 3)
    statement = render("triangle_kind", rng, zh, a=a, b=b, c=c, top=top)
    return _named(statement, _TRIANGLES[kind], _TRIANGLES, ("是{}", "type: {}"))


def acidity(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Acidic, neutral or basic, by the pH or by the concentration of hydrogen ions."""
    tenths = rng.choice([rng.randint(5, 65), 70, rng.randint(75, 135)])
    kind = (tenths > 70) + (tenths >= 70)
    statement = render("acidity", rng, zh, ph=f"{tenths / 10:g}", sign="<=>"[kind])
    return _named(statement, _ACIDITY[kind], _ACIDITY, ("呈{}", "it is {}"))


def conic(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The kind of a conic by its equation."""
    kind, a, b, c = rng.randrange(4), *rng.sample(range(2, 13), 3)
    equation = (
        f"x^2+y^2={c}",
        f"{a}x^2+{b}y^2={c}",
        f"{a}x^2-{b}y^2={c}",
        rng.choice((f"y^2={a}x", f"x^2={a}y")),
    )[kind]
    why = (
        ("两个平方项系数相等且同号", "both squares have the same coefficient"),
        ("两个平方项系数同号但不相等", "the squares have different coefficients of the same sign"),
        ("两个平方项系数异号", "the squares have coefficients of opposite signs"),
        ("只有一个变量带平方", "only one variable is squared"),
    )[kind]
    statement = render("conic", rng, zh, equation=equation, why=why)
    return _named(statement, _CONICS[kind], _CONICS, ("是{}", "kind of curve: {}"))


def quadrant(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The quadrant of a point or of an angle."""
    kind = rng.randrange(4)
    if rng.random() < 0.5:
        x, y = ((1, 1), (-1, 1), (-1, -1), (1, -1))[kind]
        x, y = x * rng.randint(1, 20), y * rng.randint(1, 20)
        signs = {"sx": "+-"[x < 0], "sy": "+-"[y < 0]}
        statement = render("quadrant_point", rng, zh, x=x, y=y, **signs)
    else:
        small = 90 * kind + rng.randint(1, 89)
        statement = render(
            "quadrant_angle", rng, zh, angle=small + 360 * rng.randint(-2, 3), small=small
        )
    return _named(statement, _QUADRANTS[kind], _QUADRANTS, ("在{}", "in the {}"))
