"""Multiple-choice problems, with one or several right options."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from gradegpt.answers.options import LETTERS, is_set
from gradegpt.core.schema import AnswerType

from .builders import DrawnProblem, ProblemKind, build_problem
from .facts import recall
from .mathematics import (
    density,
    expand,
    fraction,
    inequality,
    product_rule,
    quadratic,
    shopping,
    system,
)
from .words import Statement, render, rows_of

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


def one_of(statement: Statement, right: str, distractors: Sequence[str]) -> DrawnProblem:
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
    writers = [partial(_written, form, texts) for form in forms]
    slot = texts.index(right)
    wrong = rng.sample([i for i in range(len(texts)) if i != slot], min(4, len(texts) - 1))
    drawn = build_problem(
        statement._replace(question=question), AnswerType.SINGLE_CHOICE, slot, wrong, writers
    )
    return _lettered(rng, drawn, LETTERS[slot])


def _lettered(rng: random.Random, drawn: DrawnProblem, letters: str) -> DrawnProblem:
    """The same problem, mostly with a bare letter as its reference."""
    reference = letters if rng.random() < 0.8 or len(letters) > 1 else f"({letters})"
    forms = (drawn.reference, *drawn.right)
    return drawn._replace(reference=reference, right=[f for f in forms if f != reference])


def _written(form: str, texts: Sequence[str], slot: int) -> str:
    return form.format(LETTERS[slot], texts[slot])


_KINDS: Final = (
    recall, shopping, recall, fraction, recall, density, expand, product_rule, inequality,
    quadratic, system,
)  # fmt: skip


def choose(rng: random.Random, zh: bool, kinds: Sequence[ProblemKind] = _KINDS) -> DrawnProblem:
    """A problem of one of the kinds as multiple choice."""
    drawn = rng.choice(kinds)(rng, zh)
    statement = Statement(drawn.question, drawn.steps, rng, zh)
    return one_of(statement, drawn.reference, drawn.distractors())


def several_questions(rng: random.Random, zh: bool) -> DrawnProblem:
    """Several questions with one right option each; the answer lists the letters: ``B A D``."""
    count = rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
    while True:
        drawn = [rng.choice((odd_one_out, _fact))(rng, zh) for _ in range(count)]
        value = tuple(d.reference.strip("()") for d in drawn)
        if not is_set(value):
            break
    asked = "\n".join(f"{n}. {d.question}" for n, d in enumerate(drawn, start=1))
    others = (
        (*value[:n], x, *value[n + 1 :]) for n, x in itertools.product(range(count), LETTERS[:4])
    )
    wrong = [other for other in others if not is_set(other)]
    numbered = (" {}.{}", " ({}) {}", "; {}. {}")
    writers: list[Callable[[tuple[str, ...]], str]] = [" ".join, ", ".join]
    writers += [partial(_numbered, form) for form in numbered]
    statement = Statement(asked, [step for d in drawn for step in d.steps[:1]], rng, zh)
    keys = (*writers[:1] * 3, *writers[2:4])
    return build_problem(
        statement, AnswerType.MULTIPLE_CHOICE, value, wrong, writers, reference_writers=keys
    )


def _fact(rng: random.Random, zh: bool) -> DrawnProblem:
    return choose(rng, zh, (recall,))


def _numbered(form: str, texts: Sequence[str]) -> str:
    return "".join(form.format(n, text) for n, text in enumerate(texts, start=1)).lstrip("; ")


def odd_one_out(rng: random.Random, zh: bool) -> DrawnProblem:
    """The one option that is not of the kind of the others, or the only one of a kind."""
    kind, members, others = _category(rng, zh)
    name = rng.choice(("only_one", "odd_one_out"))
    statement = render(name, rng, zh, kind=kind)
    if name == "odd_one_out":
        members, others = others, members
    return one_of(statement, rng.choice(members), rng.sample(others, min(3, len(others))))


def _category(rng: random.Random, zh: bool) -> tuple[str, list[str], list[str]]:
    row = rng.choice(rows_of("category"))
    kind, good, bad = row[not zh], row[2 + (not zh)], row[4 + (not zh)]
    return kind, good.split("|"), bad.split("|")


def members(rng: random.Random, zh: bool) -> DrawnProblem:
    """Which options are of a kind: at least two of four or five."""
    kind, good, bad = _category(rng, zh)
    good = rng.sample(good, min(len(good), rng.choice((2, 2, 3, 3, 4))))
    bad = rng.sample(bad, min(len(bad), max(1, rng.choice((4, 4, 4, 5)) - len(good))))
    statement = render("category", rng, zh, kind=kind)
    options = rng.sample([*good, *bad], len(good) + len(bad))
    every = dict(zip(LETTERS, options, strict=False))
    right = "".join(x for x, text in every.items() if text in good)
    rest = [x for x in every if x not in right]
    wrong = [
        right[1:],
        right[:-1],
        *("".join(sorted(k + x)) for k in (right, right[1:]) for x in rest),
    ]
    writers: list[Callable[[str], str]] = [
        joint.join for joint in ("", "、", ",", ", ", " ", "和" if zh else " and ")
    ]
    writers += [lambda v: f"({v})", lambda v: v[::-1], lambda v: "".join(f"({x})" for x in v)]
    asked = statement._replace(question=f"{statement.question}\n{list_options(statement, options)}")
    drawn = build_problem(asked, AnswerType.MULTIPLE_CHOICE, right, wrong, writers)
    return _lettered(rng, drawn, right)
