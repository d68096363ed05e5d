"""Randomly drawn comparisons of two answers: the chains alone hold too few of some kinds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Final

from gradegpt.answers import Answer, Style, write
from gradegpt.answers.numbers import decimal
from gradegpt.answers.options import in_order
from gradegpt.answers.spelled import spell
from gradegpt.answers.types import Group, Leaf, Options, Quantity
from gradegpt.chain import Chain
from gradegpt.schema import AnswerType, Verdict

from .generators.facts import TABLES, Fact, table
from .generators.naming import GROUPS
from .generators.notation import coefficient, polynomial
from .lexicon import CLASSES
from .variants import equivalent_form, hard_negative, negative_forms

_BELOW: Final = (2, 2, 3, 4, 5, 8, 10, 10, 20, 25, 40, 50, 100, 100, 125, 625, 1000)
_FORMULA_LETTERS: Final = ("xy", "xy", "xy", "ab", "mn", "st", "uv")
_PRICED: Final = 0.2
"""Share of the numbers with powers of ten that follow a dollar sign."""
_NO_NAMES: Final = ("event-year",)
"""Tables of facts whose answers are no names."""
_PLAIN_NAME: Final = re.compile(r"[a-z]{4,}(?<!s)(?: [a-z]{3,}(?<!s))*")
"""An English common noun, which may take an article and a plural."""
_JOINTS: Final = ("、", ", ", ",", "，")


def sample_comparison(rng: random.Random) -> Chain:
    """A chain that compares two equivalent forms of a drawn answer, or one with a hard negative."""
    (draw,) = rng.choices([*_SAMPLERS], [*_SAMPLERS.values()])
    made = draw(rng)
    return made if isinstance(made, Chain) else _in_two_forms(rng, *made)


def _in_two_forms(rng: random.Random, kind: AnswerType, text: str) -> Chain:
    chinese = rng.random() < 0.5
    wrong = hard_negative(rng, text, kind, "", chinese) if rng.random() < 0.5 else None
    shown = equivalent_form(rng, text, kind, "", chinese)
    other = wrong or equivalent_form(rng, text, kind, "", chinese)
    return _in_either_order(rng, shown, other, kind, same=wrong is None)


def _in_either_order(
    rng: random.Random, one: str, other: str, kind: AnswerType, *, same: bool
) -> Chain:
    """A chain about two answers, of which a random one is the reference."""
    reference, answer = rng.sample((one, other), 2)
    return Chain(
        key_sentence=answer,
        reference_answer=reference,
        answer_type=kind,
        answer=answer,
        verdict=Verdict.CORRECT if same else Verdict.INCORRECT,
    )


# --- numbers --------------------------------------------------------------------------------------


def _spelled(rng: random.Random) -> Chain:
    """A number in words compared with one in digits or in words, in either order."""
    value = _number(rng)
    digits = _decimal(value)
    other = digits
    if rng.random() < 0.5:
        other = next(negative_forms(rng, digits, AnswerType.NUMBER, chinese=False), digits)
    words = _in_words(rng, value)
    beside = _in_words(rng, Fraction(other)) if rng.random() < 0.2 else other
    if rng.random() < 0.3:
        beside = equivalent_form(rng, beside, AnswerType.NUMBER, "", rng.random() < 0.5)
    return _in_either_order(rng, words, beside, AnswerType.NUMBER, same=other == digits)


def _number(rng: random.Random) -> Fraction:
    """A random number; small whole numbers are most frequent, as among real answers."""
    match rng.randrange(20):
        case 0:
            return Fraction(rng.randint(1, 19), rng.randint(2, 10))
        case 1 | 2:
            return Fraction(rng.randint(1, 999), 10)
        case 3:
            return Fraction(rng.choice((-rng.randint(1, 99), Fraction(rng.randint(1, 9999), 100))))
        case 4 | 5:
            return Fraction(rng.randint(1000, 9999))
        case 6 | 7 | 8:
            return Fraction(rng.choice((10, 100, 1)) * rng.randint(1, 99))
        case 9 | 10 | 11 | 12:
            return Fraction(rng.randint(100, 999))
        case _:
            return Fraction(rng.randint(0, 99))


def _in_words(rng: random.Random, value: Fraction) -> str:
    """The number in Chinese or English words; in digits where it is too long for words."""
    words = [text for zh in (True, False) if (text := spell(value, chinese=zh))]
    return rng.choice(words or [_decimal(value)])


def _fraction(rng: random.Random) -> tuple[AnswerType, str]:
    """A fraction, as such or as a decimal."""
    below = rng.choice(_BELOW)
    value = Fraction(rng.randint(1, below * rng.choice((1, 1, 1, 3, 20, 100))), below)
    text = rng.choice((_decimal(value), str(value)))
    return AnswerType.NUMBER, text


def _power(rng: random.Random) -> Chain:
    """Two numbers, mostly in scientific notation: equal, or with other digits or another power."""
    size, power = rng.randint(1, rng.choice((9, 99, 999))), rng.choice((-6, -5, 3, 4, 5, 6, 7))
    others = [(size, power - 1), (size, power + 1), (size + 10, power)]
    same = rng.random() < 0.5
    one, other = (
        equivalent_form(rng, _decimal(digits * Fraction(10) ** p), AnswerType.NUMBER, "", False)
        for digits, p in ((size, power), (size, power) if same else rng.choice(others))
    )
    if other[0].isdigit() and rng.random() < _PRICED:
        other = f"${other}"
    return _in_either_order(rng, one, other, AnswerType.NUMBER, same=same)


def _decimal(value: Fraction) -> str:
    return decimal(value) or str(value)


# --- several answers ------------------------------------------------------------------------------


def _set(rng: random.Random) -> tuple[AnswerType, str]:
    """A set of whole numbers in braces, mostly in ascending order."""
    members = _members(rng, rng.randint(3, 8))
    group = _numbers(sorted(members) if rng.random() < 0.7 else members)
    return AnswerType.SET, write(Answer(AnswerType.SET, group), Style(form="braces"))


def _several(rng: random.Random) -> tuple[AnswerType, str]:
    """Several solutions, in any order."""
    answer = Answer(AnswerType.MULTI_ANSWER, _numbers(_members(rng, rng.randint(2, 5))))
    style = Style(joint=rng.choice((*_JOINTS, " or ", " and ", "或", "和")))
    return AnswerType.MULTI_ANSWER, write(answer, style)


def _numbers(numbers: Iterable[int], *, ordered: bool = False) -> Group:
    leaves = (Leaf("", "", Quantity(Fraction(number))) for number in numbers)
    return Group(ordered, tuple(leaves))


def _members(rng: random.Random, count: int) -> list[int]:
    spread = rng.choice((9, 20, 99))
    return rng.sample(range(-spread if rng.random() < 0.4 else 0, spread), count)


def _named(rng: random.Random) -> tuple[AnswerType, str]:
    """Several words of one class, in any order."""
    words = rng.choice([line.split("/") for line in CLASSES if line.count("/") > 1])
    members = rng.sample(words, rng.randint(2, min(5, len(words) - 1)))
    return AnswerType.MULTI_ANSWER, rng.choice(_JOINTS).join(members)


def _parts(rng: random.Random) -> tuple[AnswerType, str]:
    """One number for each part of a question."""
    numbers = [rng.randrange(10 ** rng.randint(1, 3)) for _ in range(rng.randint(2, 4))]
    answer = Answer(AnswerType.MULTI_PART, _numbers(numbers, ordered=True))
    style = Style(form=rng.choice(("(1) ", "（1）")), joint=rng.choice((" ", "; ", "；")))
    return AnswerType.MULTI_PART, write(answer, style)


def _keys(rng: random.Random) -> tuple[AnswerType, str]:
    """One option letter for each of several questions, in a notation that is no set of options."""
    while True:
        most = rng.choice((6, 6, 10))
        letters = rng.choices("ABCD" if rng.random() < 0.8 else "ABCDEFG", k=rng.randint(3, most))
        form, joint = rng.choice((("#.", " "), *(("", joint) for joint in ("", " ", ",", ", "))))
        keys = Answer(AnswerType.MULTIPLE_CHOICE, Options(tuple(letters), ordered=True))
        text = write(keys, Style(form=form, joint=joint))
        if in_order(text):
            return AnswerType.MULTIPLE_CHOICE, text


def _placed(rng: random.Random) -> Chain:
    """An option named by its position, compared with one named by its letter or its position."""
    one = rng.choice("ABCDE")
    other = one if rng.random() < 0.5 else rng.choice([x for x in "ABCDE" if x != one])
    shown = equivalent_form(rng, other, AnswerType.SINGLE_CHOICE, "", rng.random() < 0.5)
    if rng.random() < 0.2:
        shown = _by_place(rng, other)
    placed = _by_place(rng, one)
    return _in_either_order(rng, placed, shown, AnswerType.SINGLE_CHOICE, same=one == other)


def _by_place(rng: random.Random, letter: str) -> str:
    option = Answer(AnswerType.SINGLE_CHOICE, Options((letter,)))
    return write(option, Style(form="place", joint=rng.choice(("个选项", "项", ""))))


# --- names ----------------------------------------------------------------------------------------


@cache
def _names() -> list[list[Fact]]:
    """Groups of names in which no two names mean the same."""
    facts = [table(name) for name in TABLES if name not in _NO_NAMES]
    return facts + [[Fact((zh, en), (zh,), (en,)) for zh, en in group] for group in GROUPS]


def _name(rng: random.Random) -> Chain:
    """A name in a random form and language, compared with itself or with another of its group."""
    group = rng.choice(_names())
    one = rng.choice(group)
    others = [n for n in group if not {*n.zh, *n.en} & {*one.zh, *one.en}]
    same = rng.random() < 0.5 or not others
    other = one if same else rng.choice(others)
    shown, beside = _name_form(rng, one), _name_form(rng, other)
    return _in_either_order(rng, shown, beside, AnswerType.TEXT, same=same)


def _name_form(rng: random.Random, name: Fact) -> str:
    zh, en = rng.choice(name.zh), rng.choice(name.en)
    if rng.random() < 0.5:
        around = ("是{}", "“{}”", "应为{}", "即{}", "叫作{}")
        forms = [zh] * 6 + [f"{zh}（{en}）", *(words.format(zh) for words in around)]
        return rng.choice(forms)
    forms = [en] * 6 + [f"It is {en}", f"It's {en}.", f"{en} ({zh})", en[0].upper() + en[1:]]
    if _PLAIN_NAME.fullmatch(en):
        forms += [f"the {en}", f"the {en}", f"on the {en}", f"in the {en}s", f"{en}s", f"the {en}s"]
    return rng.choice(forms)


# --- formulas -------------------------------------------------------------------------------------


def _expression(rng: random.Random) -> tuple[AnswerType, str]:
    x, y = rng.choice(_FORMULA_LETTERS)
    a, b, c, d = (_factor(rng) for _ in range(4))
    m, n = rng.randint(2, 9), rng.randint(2, 9)
    several = polynomial([_factor(rng) for _ in range(rng.randint(2, 4))], x)
    forms = (
        several,
        several,
        f"\\frac{{{polynomial((a, b), x)}}}{{{polynomial((c, d), x)}}}",
        f"{coefficient(a)}{x}^{m}{y}^{n}",
        f"\\frac{{{coefficient(abs(a))}{x}^{rng.randint(2, 4)}}}{{{abs(b) + 1}{y}}}",
        f"{coefficient(a)}{x}{_term(b, y)}{c:+d}",
    )
    return AnswerType.EXPRESSION, _dollars(rng, rng.choice(forms))


def _equation(rng: random.Random) -> tuple[AnswerType, str]:
    x, y = rng.choice(_FORMULA_LETTERS)
    a, b, c = (_factor(rng) for _ in range(3))
    forms = (
        f"{y}={polynomial((a, b), x)}",
        f"{coefficient(a)}{x}{_term(b, y)}{c:+d}=0",
        f"({x}{a:+d})^2+({y}{b:+d})^2={rng.randint(1, 12) ** 2}",
        f"\\frac{{{x}^2}}{{{abs(a) + 1}}}{rng.choice('+-')}\\frac{{{y}^2}}{{{abs(b) + 1}}}=1",
        f"{y}={polynomial((a, b, c), x)}",
        f"{x}+{abs(a) + 1}{x}{b:+d}={rng.randint(10, 200)}",
        f"{y}={rng.choice('cdk')}*{rng.choice('ehr')}^{x}",
    )
    return AnswerType.EQUATION, _dollars(rng, rng.choice(forms))


def _factor(rng: random.Random) -> int:
    return rng.choice((-1, 1, 1)) * rng.randint(1, rng.choice((5, 12, 30)))


def _term(number: int, letter: str) -> str:
    sign = "-" if number < 0 else "+"
    return f"{sign}{coefficient(abs(number))}{letter}"


def _dollars(rng: random.Random, text: str) -> str:
    return f"${text}$" if rng.random() < 0.3 else text


_SAMPLERS: Final[dict[Callable[[random.Random], Chain | tuple[AnswerType, str]], float]] = {
    _spelled: 13,
    _fraction: 9,
    _power: 5,
    _placed: 2,
    _set: 4,
    _several: 2,
    _named: 3,
    _parts: 2,
    _keys: 4,
    _name: 5,
    _expression: 4,
    _equation: 4,
}
"""What is drawn how often: more of what small judges are worse at."""
