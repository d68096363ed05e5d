"""Generators of multiple-choice problems, with one or several right options."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gradegpt.answers.options import LETTERS, is_set
from gradegpt.schema import AnswerType

from . import GeneratedProblem, Generator
from .algebra import expand, linear, nonzero, quadratic, system
from .arithmetic import fraction, percent, share, shopping
from .builders import build_problem
from .calculus import derivative, integral, product_rule, tangent
from .coordinates import distance, midpoint
from .facts import recall
from .functions import trigonometry, vertex
from .geometry import right_triangle, solid_volume, triangle_area
from .intervals import domain, inequality, set_operation
from .naming import conic, weekday
from .nature import moles
from .notation import coefficient, polynomial
from .physics import density, kinetic_energy, ohm, speed
from .statistics import average, probability
from .words import Statement, fill, render, section

_LAYOUTS: Final = ("{}. {}", "({}) {}", "{}、{}", "{}: {}", "{}．{}", "{}) {}")
_EN_LAYOUTS: Final = ("{}. {}", "({}) {}", "{}: {}", "{}) {}", "({}). {}")
_BLANKS: Final = (
    ("（　　）", "( )", "", ""),
    ("", "", " Choose one option.", " Which option is right?"),
)
_NONE: Final = ("以上都不对", "none of the above")


def list_options(statement: Statement, texts: Sequence[str]) -> str:
    """Options with their letters, one on each line or, if they are short, on one line."""
    layout = statement.rng.choice(_LAYOUTS if statement.zh else _EN_LAYOUTS)
    short = sum(map(len, texts)) <= 60 and len(texts) <= 5
    joint = statement.rng.choice(["\n", "\n", "  ", "\t", "; "]) if short else "\n"
    return joint.join(layout.format(*pair) for pair in zip(LETTERS, texts, strict=False))


def _option(form: str, texts: Sequence[str]) -> Callable[[int], str]:
    return lambda i: form.format(LETTERS[i], texts[i])


def _numbered(joint: str, form: str) -> Callable[[Iterable[str]], str]:
    return lambda v: joint.join(form.format(n, x) for n, x in enumerate(v, start=1))


def one_of(statement: Statement, right: str, distractors: Sequence[str]) -> GeneratedProblem:
    """A choice of ``right`` among up to nine ``distractors``; sometimes no option is right."""
    rng, zh, none = statement.rng, statement.zh, _NONE[not statement.zh]
    count = min(len(distractors), rng.choice((2, 3, 3, 3, 3, 3, 3, 4, 4, 5, 7, 9)))
    texts = rng.sample(list(distractors), count)
    roll = rng.random()
    if roll < 0.04 and count > 2:
        right = none
        texts.append(none)
    elif roll < 0.1 and count > 2:
        texts[rng.randrange(count)] = right
        texts.append(none)
    else:
        texts.insert(rng.randrange(count + 1), right)
    question = (
        f"{statement.question}{rng.choice(_BLANKS[not zh])}\n{list_options(statement, texts)}"
    )
    forms = ["{0}", "({0})", "{0}. {1}", "{1}", "({0}) {1}"]
    forms += ("选项{0}", "{0}项") if zh else ("option {0}", "Choice {0}")
    writers = [_option(form, texts) for form in forms]
    slot = texts.index(right)
    wrong = rng.sample([i for i in range(len(texts)) if i != slot], min(4, len(texts) - 1))
    drawn = build_problem(
        statement._replace(question=question), AnswerType.SINGLE_CHOICE, slot, wrong, writers
    )
    return _lettered(rng, drawn, LETTERS[slot])


def _lettered(rng: random.Random, drawn: GeneratedProblem, letters: str) -> GeneratedProblem:
    """The same problem, mostly with a bare letter as its reference."""
    reference = letters if rng.random() < 0.8 or len(letters) > 1 else f"({letters})"
    forms = (drawn.reference, *drawn.right)
    return drawn._replace(reference=reference, right=[f for f in forms if f != reference])


def as_choice(generators: Sequence[Generator]) -> Generator:
    """A generator of the problems of ``generators`` as multiple choice."""

    def generator(rng: random.Random, zh: bool) -> GeneratedProblem:
        drawn = rng.choice(generators)(rng, zh)
        return one_of(
            Statement(drawn.question, drawn.steps, rng, zh), drawn.reference, drawn.distractors()
        )

    return generator


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


def several_questions(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Several questions with one right option each; the answer lists the letters: ``B A D``."""
    count = rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
    while True:
        drawn = [rng.choice((largest, odd_one_out, choose_fact))(rng, zh) for _ in range(count)]
        value = tuple(d.reference.strip("()") for d in drawn)
        if not is_set(value):
            break
    asked = "\n".join(f"{n}. {d.question}" for n, d in enumerate(drawn, start=1))
    others = (
        (*value[:n], x, *value[n + 1 :]) for n, x in itertools.product(range(count), LETTERS[:4])
    )
    wrong = [other for other in others if not is_set(other)]
    numbered = [(" ", "{}.{}"), (" ", "({}) {}"), ("; ", "{}. {}")]
    writers = [" ".join, ", ".join, *(_numbered(*writer) for writer in numbered)]
    statement = Statement(asked, [step for d in drawn for step in d.steps[:1]], rng, zh)
    keys = (*writers[:1] * 3, *writers[2:4])
    return build_problem(
        statement, AnswerType.MULTIPLE_CHOICE, value, wrong, writers, reference_writers=keys
    )


def largest(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The largest or the smallest of some numbers."""
    size, n = rng.choice((3, 4, 4, 4, 5, 6)), rng.choice((10, 100, 1000))
    values = [v / n for v in rng.sample(range(-9 * n // 10, 9 * n), size)]
    which, side, best = rng.choice(
        [(("最大", "largest"), ("右", "right"), max), (("最小", "smallest"), ("左", "left"), min)]
    )
    statement = render("largest", rng, zh, which=which, side=side)
    right = best(values)
    return one_of(statement, f"{right:g}", [f"{v:g}" for v in values if v != right])


def odd_one_out(rng: random.Random, zh: bool) -> GeneratedProblem:
    """The one option that is not of the kind of the others, or the only one of a kind."""
    kind, members, others = _category(rng, zh)
    name = rng.choice(("only_one", "odd_one_out"))
    statement = render(name, rng, zh, kind=kind)
    if name == "odd_one_out":
        members, others = others, members
    return one_of(statement, rng.choice(members), rng.sample(others, min(3, len(others))))


def _category(rng: random.Random, zh: bool) -> tuple[str, list[str], list[str]]:
    row = rng.choice(section("category").rows)
    kind, good, bad = row[not zh], row[2 + (not zh)], row[4 + (not zh)]
    return kind, good.split("|"), bad.split("|")


# --- several right options ------------------------------------------------------------------------


def all_of(statement: Statement, good: Sequence[str], bad: Sequence[str]) -> GeneratedProblem:
    """A choice of all of ``good`` among ``bad``."""
    options = statement.rng.sample([*good, *bad], len(good) + len(bad))
    every = dict(zip(LETTERS, options, strict=False))
    right = "".join(x for x, text in every.items() if text in good)
    rest = [x for x in every if x not in right]
    kept = (right, right[1:])
    wrong = [right[1:], right[:-1], *("".join(sorted(k + x)) for k in kept for x in rest)]
    joints = ("", "、", ",", ", ", " ", "和" if statement.zh else " and ")
    writers: list[Callable[[str], str]] = [joint.join for joint in joints]
    writers += [lambda v: f"({v})", lambda v: v[::-1], lambda v: "".join(f"({x})" for x in v)]
    asked = statement._replace(question=f"{statement.question}\n{list_options(statement, options)}")
    drawn = build_problem(asked, AnswerType.MULTIPLE_CHOICE, right, wrong, writers)
    return _lettered(statement.rng, drawn, right)


def _counts(rng: random.Random, good: int, bad: int) -> tuple[int, int]:
    """The numbers of right and wrong options: four or five in all, at least two right ones."""
    right = min(good, rng.choice((2, 2, 3, 3, 4)))
    return right, min(bad, max(1, rng.choice((4, 4, 4, 5)) - right))


def members(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which options are of a kind."""
    kind, good, bad = _category(rng, zh)
    r, w = _counts(rng, len(good), len(bad))
    statement = render("category", rng, zh, kind=kind)
    return all_of(statement, rng.sample(good, r), rng.sample(bad, w))


def divisible(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which numbers can be divided by another."""
    k = rng.choice((3, 4, 6, 7, 8, 9, 11, 12, 13))
    r, w = _counts(rng, 9, 9)
    good = [k * n for n in rng.sample(range(3, 60), r)]
    bad = [k * n + rng.randint(1, k - 1) for n in rng.sample(range(3, 60), w)]
    statement = render("divisible", rng, zh, k=k, a=good[0], b=good[0] // k, c=bad[0], d=bad[0] % k)
    return all_of(statement, [str(n) for n in good], [str(n) for n in bad])


def on_the_line(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which points lie on a line."""
    k, b = nonzero(rng, 5), rng.randint(-9, 9)
    r, w = _counts(rng, 9, 9)
    xs = rng.sample(range(-6, 9), r + w)
    good = [f"({x},{k * x + b})" for x in xs[:r]]
    bad = [f"({x},{k * x + b + rng.choice((-2, -1, 1, 2, 3))})" for x in xs[r:]]
    statement = render("on_the_line", rng, zh, f=polynomial((k, b)), x=xs[0], y=k * xs[0] + b)
    return all_of(statement, good, bad)


def equal_values(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which fractions, decimals and percentages equal a fraction."""
    a, b = rng.choice(
        ((1, 2), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 8), (3, 8), (7, 20))
    )
    m, n = rng.sample(range(2, 9), 2)
    share = a / b
    good = [
        f"{share:g}",
        f"{share * 100:g}%",
        f"$\\frac{{{a * m}}}{{{b * m}}}$",
        f"{a * n}/{b * n}",
    ]
    bad = [f"{share / 10:g}", f"{share:g}%", f"$\\frac{{{a + m}}}{{{b + m}}}$", f"{b}/{a}"]
    bad.append(f"{share * 10:g}%")
    r, w = _counts(rng, 4, 5)
    statement = render("equal_values", rng, zh, a=a, b=b, share=f"{share:g}")
    return all_of(statement, rng.sample(good, r), rng.sample(bad, w))


def true_statements(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which statements about a parabola are true."""
    a, h, k = nonzero(rng, 3), nonzero(rng, 5), nonzero(rng, 9)
    f = f"{coefficient(a)}(x{-h:+d})^2{k:+d}"
    statement = render("true_statements", rng, zh, f=f, a=a, h=h, k=k)
    turns = ("上", "下", "小", "大") if zh else ("upward", "downward", "least", "greatest")
    opens, closes, least, most = turns if a > 0 else (turns[1], turns[0], turns[3], turns[2])
    fields = {
        "opens": opens, "closes": closes, "least": least, "most": most,
        "h": h, "minus": -h, "k": k, "cut": a * h * h + k,
    }  # fmt: skip
    r, w = _counts(rng, 4, 3)
    shown = rng.sample(section("true_statements").rows, min(5, r + w))
    good = [fill(row[2 * (not zh)], fields) for row in shown[:r]]
    return all_of(statement, good, [fill(row[2 * (not zh) + 1], fields) for row in shown[r:]])


def solutions(rng: random.Random, zh: bool) -> GeneratedProblem:
    """Which numbers satisfy a linear inequality."""
    k, x, b = nonzero(rng, 5), rng.randint(-4, 5), rng.randint(-9, 9)
    r, w = _counts(rng, 8, 8)
    good = rng.sample([x + d * (1 if k > 0 else -1) for d in range(1, 9)], r)
    bad = rng.sample([x - d * (1 if k > 0 else -1) for d in range(8)], w)
    left = polynomial((k, b))
    statement = render("solutions", rng, zh, left=left, c=k * x + b, sign="><"[k < 0], x=x)
    return all_of(statement, [str(n) for n in good], [str(n) for n in bad])
