"""Build problems from a right value and wrong ones, a function for each answer type.

Right and wrong values are written in the same styles, so that no notation reveals which one is
right. Formulas are passed as LaTeX.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple, TypeVar

from gradegpt.answers import Answer, values
from gradegpt.answers.types import Group, Leaf, Options, Piece, Quantity, Region, Truth, Value
from gradegpt.answers.units import named
from gradegpt.core.schema import AnswerType

from ..forms import Digits, Notation, Style, UnwritableError, write
from ..forms.style import DOLLARS
from ..forms.units import name_like, same_dimension
from .notation import Num, polynomial
from .words import Statement

V = TypeVar("V", bound=Hashable)


class DrawnProblem(NamedTuple):
    """A drawn problem: solution steps, equivalent forms of the reference, hard negatives.

    ``distractors`` writes wrong answers in the form of the reference, for multiple choice.
    """

    type: AnswerType
    question: str
    reference: str
    steps: list[str]
    right: list[str]
    wrong: list[str]
    distractors: Callable[[], list[str]] = list


ProblemKind = Callable[[random.Random, bool], DrawnProblem]
"""A kind of problem: it takes a random generator and whether the problem is to be in Chinese."""
_PLAIN: Final = Style(digits=Digits.FRACTION)
_TEX: Final = Style(digits=Digits.FRACTION, notation=Notation.LATEX)
_DOLLARS: Final = replace(_TEX, wrapper=DOLLARS)
_FORMULA: Final = (
    _TEX, _DOLLARS, _PLAIN, replace(_PLAIN, spaced=True), Style(notation=Notation.RAISED),
    replace(_TEX, wrapper="\\({}\\)"),
)  # fmt: skip
_NAMED_FORMULA: Final = (replace(_PLAIN, form="named"), replace(_DOLLARS, form="named"))
_NUMBER: Final = tuple(replace(style, unit="") for style in (_PLAIN, _DOLLARS, _TEX))
_COMMAS: Final = (",", ", ")
_SET: Final = tuple(
    replace(style, form="braces", joint=joint)
    for style in (_PLAIN, _DOLLARS, _TEX)
    for joint in _COMMAS
)
_TUPLE: Final = tuple(
    replace(style, form="tuple", joint=joint) for style in (_PLAIN, _DOLLARS) for joint in _COMMAS
)
_EACH: Final = replace(_TEX, math=DOLLARS)
_PARTS: Final = tuple(
    replace(style, form=form, joint=joint)
    for style, form, joint in (
        (_PLAIN, "(1) ", "; "), (_EACH, "(1) ", " "), (_PLAIN, "", ", "), (_EACH, "(1) ", ", "),
    )
)  # fmt: skip
_ZH_PARTS: Final = (
    replace(_PLAIN, form="（1）", joint="，"),
    replace(_EACH, form="（1）", joint="；"),
)


def build_problem(
    statement: Statement,
    kind: AnswerType,
    value: V,
    wrong: Iterable[V],
    writers: Sequence[Callable[[V], str]],
    extra: Iterable[str] = (),
    reference_writers: Sequence[Callable[[V], str]] = (),
) -> DrawnProblem:
    """The problem whose answer is ``value``, written by every writer, and ``wrong`` by two of them.

    ``extra`` are further wrong answers, such as the right number with a wrong unit;
    ``reference_writers`` may write the reference, if not all writers may.
    """
    others = [w for w in dict.fromkeys(wrong) if w != value]
    key = statement.rng.choice(reference_writers or writers)
    forms = dict.fromkeys([key(value), *(writer(value) for writer in writers)])
    reference, *right = forms
    near = [
        writer(w) for w in others for writer in statement.rng.sample(writers, min(2, len(writers)))
    ]
    near = [w for w in dict.fromkeys([*near, *extra]) if w not in forms]

    def distractors() -> list[str]:
        return [r for r in dict.fromkeys(map(key, others)) if r not in forms]

    return DrawnProblem(
        kind, statement.question, reference, statement.steps, right, near, distractors
    )


def _build_styled(
    statement: Statement,
    kind: AnswerType,
    value: Value | Truth | Options,
    wrong: Iterable[Value | Truth | Options],
    styles: Iterable[Style],
    extra: Iterable[str] = (),
    reference_styles: int = 0,
) -> DrawnProblem:
    """The same with styles as writers; the first ``reference_styles`` may write the reference."""
    writers = [_writer(kind, style) for style in styles]
    return build_problem(statement, kind, value, wrong, writers, extra, writers[:reference_styles])


def _writer(kind: AnswerType, style: Style) -> Callable[[Value | Truth | Options], str]:
    def write_value(value: Value | Truth | Options) -> str:
        try:
            return write(Answer(kind, value), style)
        except UnwritableError:  # an exponent without a superscript character
            return write(Answer(kind, value), replace(style, notation=Notation.PLAIN))

    return write_value


def leaf(number: Num, *, unit: str = "", name: str = "") -> Leaf:
    """A number as the value of an answer; one that is not rational is given as LaTeX."""
    if not isinstance(number, str):
        return Leaf("", name, Quantity(Fraction(number), unit))
    made = values.read(number)
    if not isinstance(made, Leaf):
        raise ValueError(f"{number!r} is not a number")
    if unit and made.quantity is not None:
        made = made._replace(quantity=made.quantity._replace(unit=unit))
    return made._replace(name=name)


# --- problems by answer type ----------------------------------------------------------------------


def number(
    statement: Statement, value: Num, wrong: Iterable[Num], *, unit: str = ""
) -> DrawnProblem:
    """A number with the ``unit`` that the question asks for; ``value + 1`` is always wrong."""
    styles, extra, wrong = _NUMBER, list[str](), [*wrong]
    if not isinstance(value, str):
        wrong.append(value + 1)
    if known := named(unit):
        word = known.chinese[0] if statement.zh else f" {known.english[0]}"
        shown = ((_PLAIN, f" {unit}"), (_PLAIN, word), (_DOLLARS, f" {unit}"))
        styles = (*styles, *(replace(style, unit=unit_text) for style, unit_text in shown))
        slips = same_dimension(unit)[:2]
        slipped = (leaf(value, unit=name_like(unit, slip)) for slip in slips)
        extra = [write(Answer(AnswerType.NUMBER, other), _PLAIN) for other in slipped]
        wrong = [w for w in wrong if not _about(value, w)]
    else:
        styles = (*styles, Style(digits=Digits.ZEROS) if isinstance(value, int) else _FORMULA[-1])
    right, *others = (leaf(v, unit=unit) for v in (value, *wrong))
    if isinstance(value, Decimal):
        styles = tuple(replace(style, digits=Digits.PLAIN) for style in styles)
    return _build_styled(statement, AnswerType.NUMBER, right, others, styles, extra)


def _about(value: Num, other: Num) -> bool:
    """Whether two different numbers are within the tolerance of a measured quantity (2 %)."""
    if isinstance(value, str) or isinstance(other, str):
        return False
    return abs(Fraction(other) - Fraction(value)) <= abs(Fraction(value)) / 50


def formula(
    statement: Statement, value: str, wrong: Iterable[str], *, name: str = ""
) -> DrawnProblem:
    """A formula as LaTeX; ``name`` may be its left side, as in ``a_n = ...``."""
    styles = (*_FORMULA, *_NAMED_FORMULA) if name else _FORMULA
    right, *others = (leaf(v, name=name)._replace(quantity=None) for v in (value, *wrong))
    return _build_styled(statement, AnswerType.EXPRESSION, right, others, styles)


def polynomials(
    statement: Statement, value: tuple[int, ...], wrong: Iterable[tuple[int, ...]]
) -> DrawnProblem:
    """A polynomial by its coefficients, highest power first; one flipped sign is always wrong."""
    others = [w for w in (*wrong, *_one_sign_flipped(value)[1:]) if any(w)]
    right, *texts = (polynomial(v) for v in (value, *others))
    return formula(statement, right, texts)


def _one_sign_flipped(value: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The numbers with the sign of one of them flipped."""
    return [(*value[:n], -x, *value[n + 1 :]) for n, x in enumerate(value)]


def equations(
    statement: Statement, value: V, wrong: Iterable[V], writings: Sequence[Callable[[V], str]]
) -> DrawnProblem:
    """An equation with several forms, each written as LaTeX or as plain text."""

    def written(form: Callable[[V], str], writer: Callable[[Value], str]) -> Callable[[V], str]:
        return lambda v: writer(values.read(form(v)))

    named = [_writer(AnswerType.EQUATION, replace(style, form="named")) for style in _FORMULA[:5]]
    writers = [written(cache(form), writer) for form in writings for writer in named]
    return build_problem(statement, AnswerType.EQUATION, value, wrong, writers)


def _group(numbers: Iterable[Num], *, ordered: bool, name: str = "") -> Group:
    return Group(ordered, tuple(leaf(n, name=name) for n in numbers))


def _several(
    value: tuple[Num, ...], wrong: Iterable[Iterable[Num]], name: str = ""
) -> Iterator[Group]:
    """Unordered groups: the right one, the wrong ones, and the right one without an element."""
    one_less = [(*value[:n], *value[n + 1 :]) for n in range(len(value))]
    others = [w for w in map(tuple, (*wrong, *one_less)) if w and {*w} != {*value}]
    return (_group(v, ordered=False, name=name) for v in (value, *others))


def elements(
    statement: Statement, value: tuple[Num, ...], wrong: Iterable[Iterable[Num]]
) -> DrawnProblem:
    """A set by its elements; the set without one of them is always wrong."""
    # An unsorted element would reveal the wrong sets.
    ordered = [sorted({*w}, key=lambda x: float(Fraction(x))) for w in wrong]
    right, *sets = _several(value, ordered)
    return _build_styled(statement, AnswerType.SET, right, sets, _SET)


def unknowns(
    statement: Statement, value: tuple[int, ...], wrong: Iterable[tuple[int, ...]]
) -> DrawnProblem:
    """A tuple of unknowns; in reverse order or with one flipped sign it is wrong."""
    styles = [*_TUPLE, *[replace(_PLAIN, form="wide", joint="，")] * statement.zh, *_NAMED_FORMULA]
    others = (*wrong, value[::-1], *_one_sign_flipped(value))
    right, *groups = (_group(v, ordered=True) for v in (value, *others))
    return _build_styled(statement, AnswerType.TUPLE, right, groups, styles)


def parts(
    statement: Statement, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]]
) -> DrawnProblem:
    """The answers to the numbered parts of a problem; in reverse order they are wrong."""
    styles = (*_PARTS, *(_ZH_PARTS if statement.zh else ()))
    right, *others = (_group(v, ordered=True) for v in (value, *wrong, value[::-1]))
    return _build_styled(statement, AnswerType.MULTI_PART, right, others, styles)


def solutions(
    statement: Statement, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]]
) -> DrawnProblem:
    """All values of the unknown x, in any order."""
    either = "或" if statement.zh else " or "
    styles = [_PLAIN, _DOLLARS, replace(_PLAIN, joint=either)]
    styles.append(replace(_EACH, joint="、" if statement.zh else ", "))
    forms = ((_PLAIN, "each"), (replace(_PLAIN, spaced=True), "once"))
    styles += [replace(style, form=form, joint=either) for style, form in forms]
    styles += [replace(style, form="indexed") for style in (_EACH, _PLAIN)]
    right, *others = _several(value, wrong, "x")
    return _build_styled(statement, AnswerType.MULTI_ANSWER, right, others, styles)


def span(low: Num | None, high: Num | None, low_in: bool = False, high_in: bool = False) -> Piece:
    """An interval of the number line; ``None`` is an open end at infinity."""
    left = -math.inf if low is None else Fraction(low)
    right = math.inf if high is None else Fraction(high)
    return Piece(left, low_in and low is not None, right, high_in and high is not None)


def flipped(piece: Piece) -> Piece:
    """The same interval with open and closed exchanged at its finite ends."""
    low_in = math.isfinite(piece.low) and not piece.low_in
    return piece._replace(low_in=low_in, high_in=math.isfinite(piece.high) and not piece.high_in)


def region(
    statement: Statement,
    value: Piece | tuple[Piece, ...],
    wrong: Iterable[Piece | tuple[Piece, ...]],
) -> DrawnProblem:
    """An interval or a union, also as inequalities; open and closed exchanged is always wrong."""
    base = replace(_PLAIN, chinese=statement.zh, name="x", form="brackets", joint=",")
    tex = replace(base, notation=Notation.LATEX, wrapper=DOLLARS)
    styles = [
        base, tex, replace(tex, joint=", "), replace(base, form="order", spaced=True),
        replace(tex, form="order"), replace(base, form="builder", spaced=not statement.zh),
    ]  # fmt: skip
    right, *others = ((r,) if isinstance(r, Piece) else r for r in (value, *wrong))
    regions = [Region(pieces) for pieces in (*others, tuple(map(flipped, right)))]
    return _build_styled(statement, AnswerType.INTERVAL, Region(right), regions, styles)


_ZH_TRUTH: Final = ("正确|错误", "对|错", "√|×", "是|否", "True|False")
_EN_TRUTH: Final = ("True|False", "true|false", "Yes|No", "correct|incorrect", "T|F", "对|错")


def verdicts(statement: Statement, truth: bool) -> DrawnProblem:
    """Whether the claim in the question is true."""
    styles = [Style(form=words) for words in (_ZH_TRUTH if statement.zh else _EN_TRUTH)]
    kind = AnswerType.TRUE_FALSE
    wrong = [Truth(not truth)]
    return _build_styled(statement, kind, Truth(truth), wrong, styles, reference_styles=3)
