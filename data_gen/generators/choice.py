"""Multiple-choice problems, with one or several right options."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gradegpt.answers.options import LETTERS, is_set
from gradegpt.schema import AnswerType

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


def _option(form: str, texts: Sequence[str]) -> Callable[[int], str]:
    return lambda i: form.format(LETTERS[i], texts[i])


def _numbered(joint: str, form: str) -> Callable[[Iterable[str]], str]:
    return lambda v: joint.join(form.format(n, x) for n, x in enumerate(v, start=1))


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
    writers = [_option(form, texts) for form in forms]
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


def as_choice(kinds: Sequence[ProblemKind]) -> ProblemKind:
    """A kind with the problems of ``kinds`` as multiple choice."""

    def kind(rng: random.Random, zh: bool) -> DrawnProblem:
        drawn = rng.choice(kinds)(rng, zh)
        return one_of(
            Statement(drawn.question, drawn.steps, rng, zh), drawn.reference, drawn.distractors()
        )

    return kind


_FACT: Final = as_choice((recall,))
choose: Final = as_choice(
    (recall, shopping, recall, fraction, recall, density, expand, product_rule, inequality,
     quadratic, system)
)  # fmt: skip


def several_questions(rng: random.Random, zh: bool) -> DrawnProblem:
    """Several questions with one right option each; the answer lists the letters: ``B A D``."""
    count = rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
    while True:
        drawn = [rng.choice((odd_one_out, _FACT))(rng, zh) for _ in range(count)]
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


# --- several right options ------------------------------------------------------------------------


def all_of(statement: Statement, good: Sequence[str], bad: Sequence[str]) -> DrawnProblem:
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


def members(rng: random.Random, zh: bool) -> DrawnProblem:
    """Which options are of a kind."""
    kind, good, bad = _category(rng, zh)
    r, w = _counts(rng, len(good), len(bad))
    statement = render("category", rng, zh, kind=kind)
    return all_of(statement, rng.sample(good, r), rng.sample(bad, w))
