r"""Ways of writing an answer, and problems made of a right value and wrong ones.

The right value and the wrong ones go through the same ways, so that no answer can be told by its
look. Formulas are handed in as LaTeX.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Final, TypeVar

from data_gen.makers import Drawn
from data_gen.makers.notation import (
    Num,
    Region,
    ascending,
    bracketed,
    dollars,
    plain,
    polynomial,
    small,
    spaced,
    tex,
)
from data_gen.makers.units import Unit
from data_gen.makers.words import Told
from gradegpt.schema import AnswerType

V = TypeVar("V", bound=Hashable)


def settle(
    rng: random.Random,
    kind: AnswerType,
    told: Told,
    value: V,
    wrong: Iterable[V],
    ways: Sequence[Callable[[V], str]],
    extra: Iterable[str] = (),
    keys: Sequence[Callable[[V], str]] = (),
) -> Drawn:
    """The problem whose answer is ``value``, written in every way, and ``wrong`` in some of them.

    ``extra`` are wrong answers that no wrong value gives, such as the right number of a wrong unit;
    ``keys`` the ways in which the reference may be written, where not all will do.
    """
    others = [w for w in dict.fromkeys(wrong) if w != value]
    key = rng.choice(keys or ways)
    forms = dict.fromkeys([key(value), *(way(value) for way in ways)])
    reference, *right = forms
    near = [way(w) for w in others for way in rng.sample(ways, min(2, len(ways)))]
    near = [w for w in dict.fromkeys([*near, *extra]) if w not in forms]
    rivals = tuple(r for r in dict.fromkeys(map(key, others)) if r not in forms)
    return Drawn(kind, told.question, reference, told.steps, right, near, rivals)


# --- problems by answer type ----------------------------------------------------------------------


def number(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: Num,
    wrong: Iterable[Num],
    *,
    unit: Unit | None = None,
    name: str = "",
) -> Drawn:
    """A number; ``unit`` is the one that the question asks for."""
    ways: list[Callable[[Num], str]] = [
        lambda v: plain(tex(v)),
        lambda v: dollars(tex(v)),
        tex,
    ]
    extra: list[str] = []
    if name:
        ways += [lambda v: f"{name}={plain(tex(v))}", lambda v: f"${name} = {tex(v)}$"]
    if unit is not None:
        ways += [
            lambda v: unit.behind(plain(tex(v))),
            lambda v: f"{plain(tex(v))}{unit.zh}" if zh else f"{plain(tex(v))} {unit.en}",
            lambda v: dollars(unit.latex(tex(v))),
        ]
        slips = () if name else unit.slips  # "I=2 mA" beside a bare "2" would be hard to tell
        extra = [f"{plain(tex(value))} {slip}" for slip in slips]
        wrong = [w for w in wrong if not _about(value, w)]
    elif not name:
        ways.append(lambda v: f"{v}.0" if isinstance(v, int) else bracketed(tex(v)))
    return settle(rng, AnswerType.NUMBER, told, value, wrong, ways, extra)


def _about(value: Num, other: Num) -> bool:
    """Whether two different numbers would pass for one measured quantity."""
    if isinstance(value, str) or isinstance(other, str):
        return False
    return abs(Fraction(other) - Fraction(value)) <= abs(Fraction(value)) / 50


def formula(
    rng: random.Random,
    told: Told,
    value: str,
    wrong: Iterable[str],
    *,
    kind: AnswerType = AnswerType.EXPRESSION,
    name: str = "",
) -> Drawn:
    """A formula, as LaTeX; ``name`` is what stands before its equals sign, where one may."""
    ways = [lambda v: v, dollars, plain, spaced, small, bracketed]
    if name:
        ways += [lambda v: f"{name}={plain(v)}", lambda v: f"${name}={v}$"]
    return settle(rng, kind, told, value, wrong, ways)


def polynomials(
    rng: random.Random,
    told: Told,
    value: tuple[int, ...],
    wrong: Iterable[tuple[int, ...]],
    *,
    variable: str = "x",
    name: str = "",
) -> Drawn:
    """A polynomial by its coefficients, from the highest power down."""
    ways: list[Callable[[tuple[int, ...]], str]] = [
        lambda v: polynomial(v, variable),
        lambda v: dollars(polynomial(v, variable)),
        lambda v: spaced(polynomial(v, variable)),
        lambda v: small(polynomial(v, variable)),
        lambda v: dollars(ascending(v, variable)),
    ]
    if name:
        ways.append(lambda v: f"{name}={polynomial(v, variable)}")
    return settle(rng, AnswerType.EXPRESSION, told, value, wrong, ways)


def equations(
    rng: random.Random,
    told: Told,
    value: V,
    wrong: Iterable[V],
    writings: Sequence[Callable[[V], str]],
) -> Drawn:
    """An equation that may be written in several forms, each of them as LaTeX or plain."""

    def written(form: Callable[[V], str], dress: Callable[[str], str]) -> Callable[[V], str]:
        return lambda v: dress(form(v))

    dresses = (str, dollars, spaced, small)
    ways = [written(form, dress) for form in writings for dress in dresses]
    return settle(rng, AnswerType.EQUATION, told, value, wrong, ways)


def elements(
    rng: random.Random, told: Told, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]]
) -> Drawn:
    """A set by its elements."""

    def body(items: Iterable[Num], joint: str = ",") -> str:
        return joint.join(tex(item) for item in items)

    ways: list[Callable[[tuple[Num, ...]], str]] = [
        lambda v: f"{{{plain(body(v))}}}",
        lambda v: f"{{{plain(body(v, ', '))}}}",
        lambda v: f"$\\{{{body(v)}\\}}$",
        lambda v: f"\\{{{body(v, ', ')}\\}}",
        lambda v: f"$\\{{{body(v[::-1])}\\}}$",
        lambda v: f"{{{plain(body(v[::-1], ', '))}}}",
    ]
    # An element in an odd place would give the wrong sets away.
    others = (tuple(sorted(w, key=lambda x: float(Fraction(x)))) for w in wrong if w)
    return settle(rng, AnswerType.SET, told, value, others, ways)


def point(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: tuple[Num, ...],
    wrong: Iterable[tuple[Num, ...]],
    *,
    names: str = "",
) -> Drawn:
    """A tuple: a point, a vector, or the values of the unknowns ``names``."""
    ways: list[Callable[[tuple[Num, ...]], str]] = [
        lambda v: f"({','.join(plain(tex(x)) for x in v)})",
        lambda v: f"({', '.join(plain(tex(x)) for x in v)})",
        lambda v: f"$({','.join(map(tex, v))})$",
        lambda v: f"$({', '.join(map(tex, v))})$",
    ]
    if zh:
        ways.append(lambda v: f"（{'，'.join(plain(tex(x)) for x in v)}）")
    if names:
        pairs = list(names)
        ways += [
            lambda v: ", ".join(f"{n}={plain(tex(x))}" for n, x in zip(pairs, v, strict=True)),
            lambda v: f"${', '.join(f'{n}={tex(x)}' for n, x in zip(pairs, v, strict=True))}$",
        ]
    return settle(rng, AnswerType.TUPLE, told, value, wrong, ways)


def parts(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: tuple[Num, ...],
    wrong: Iterable[tuple[Num, ...]],
) -> Drawn:
    """The answers of the numbered parts of a problem."""
    ways: list[Callable[[tuple[Num, ...]], str]] = [
        lambda v: "; ".join(f"({i}) {plain(tex(x))}" for i, x in enumerate(v, 1)),
        lambda v: " ".join(f"({i}) ${tex(x)}$" for i, x in enumerate(v, 1)),
        lambda v: ", ".join(plain(tex(x)) for x in v),
        lambda v: ", ".join(f"({i}) ${tex(x)}$" for i, x in enumerate(v, 1)),
    ]
    if zh:
        ways += [
            lambda v: "，".join(f"（{i}）{plain(tex(x))}" for i, x in enumerate(v, 1)),
            lambda v: "；".join(f"（{i}）${tex(x)}$" for i, x in enumerate(v, 1)),
        ]
    return settle(rng, AnswerType.MULTI_PART, told, value, wrong, ways)


def several(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: tuple[Num, ...],
    wrong: Iterable[tuple[Num, ...]],
    *,
    name: str = "",
) -> Drawn:
    """All answers of a problem that has several, in any order; ``name`` is their unknown."""
    either = (" and ", "和", " or ", "或")[2 * bool(name) + zh]
    ways: list[Callable[[tuple[Num, ...]], str]] = [
        lambda v: ", ".join(plain(tex(x)) for x in v),
        lambda v: f"${', '.join(map(tex, v))}$",
        lambda v: either.join(plain(tex(x)) for x in v),
        lambda v: ("、" if zh else ", ").join(f"${tex(x)}$" for x in reversed(v)),
    ]
    if name:
        ways += [
            lambda v: either.join(f"{name}={plain(tex(x))}" for x in v),
            lambda v: f"{name} = {either.join(plain(tex(x)) for x in v)}",
            lambda v: ", ".join(f"${name}_{{{i}}}={tex(x)}$" for i, x in enumerate(v, 1)),
            lambda v: ", ".join(f"{name}_{i}={plain(tex(x))}" for i, x in enumerate(v[::-1], 1)),
        ]
    return settle(rng, AnswerType.MULTI_ANSWER, told, value, (w for w in wrong if w), ways)


def region(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: Region,
    wrong: Iterable[Region],
    *,
    variable: str = "x",
) -> Drawn:
    """An interval or a union of them, as such or as inequalities."""
    either = "或" if zh else " or "

    def union(v: Region) -> str:
        return "\\cup".join(span.brackets() for span in v)

    def orders(v: Region) -> str:
        return either.join(plain(span.order(variable)) for span in v)

    ways: list[Callable[[Region], str]] = [
        lambda v: plain(union(v)),
        lambda v: dollars(union(v)),
        lambda v: dollars(union(v).replace(",", ", ")),
        orders,
        lambda v: either.join(dollars(span.order(variable)) for span in v),
        lambda v: f"{{{variable}|{orders(v).replace(' ', '') if zh else orders(v)}}}",
    ]
    return settle(rng, AnswerType.INTERVAL, told, value, wrong, ways)


_ZH_TRUTH: Final = [("正确", "错误"), ("对", "错"), ("√", "×"), ("是", "否"), ("True", "False")]
_EN_TRUTH: Final = [
    *(("True", "False"), ("true", "false"), ("Yes", "No")),
    *(("correct", "incorrect"), ("T", "F"), ("对", "错")),
]


def verdicts(rng: random.Random, zh: bool, told: Told, truth: bool) -> Drawn:
    """Whether a statement holds."""
    words = _ZH_TRUTH if zh else _EN_TRUTH

    def way(pair: tuple[str, str]) -> Callable[[bool], str]:
        return lambda v: pair[not v]

    ways = list(map(way, words))
    return settle(rng, AnswerType.TRUE_FALSE, told, truth, [not truth], ways, keys=ways[:3])
