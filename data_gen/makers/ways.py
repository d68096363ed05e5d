"""Problems made of a right value and wrong ones, all written in the same styles.

The right value and the wrong ones go through the same styles, so that no answer can be told by its
look. Formulas are handed in as LaTeX.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeVar

from data_gen.makers import Drawn
from data_gen.makers.notation import Num, polynomial
from data_gen.makers.words import Told
from gradegpt.answers import Answer, Digits, Notation, Style, UnwritableError, units, values, write
from gradegpt.answers.style import DOLLARS
from gradegpt.answers.types import Group, Leaf, Options, Piece, Quantity, Region, Truth, Value
from gradegpt.schema import AnswerType

V = TypeVar("V", bound=Hashable)
_PLAIN: Final = Style(digits=Digits.FRACTION)
_TEX: Final = Style(digits=Digits.FRACTION, notation=Notation.LATEX)
_DOLLARS: Final = replace(_TEX, dress=DOLLARS)
_FORMULA: Final = (
    _TEX, _DOLLARS, _PLAIN, replace(_PLAIN, spaced=True), Style(notation=Notation.RAISED),
    replace(_TEX, dress="\\({}\\)"),
)  # fmt: skip


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


def _settled(
    rng: random.Random,
    kind: AnswerType,
    told: Told,
    value: Value | Truth | Options,
    wrong: Iterable[Value | Truth | Options],
    styles: Iterable[Style],
    extra: Iterable[str] = (),
    keys: int = 0,
) -> Drawn:
    """The same of values in styles, of which the reference may take the first ``keys``."""
    ways = [_way(kind, style) for style in styles]
    return settle(rng, kind, told, value, wrong, ways, extra, ways[:keys])


def _way(kind: AnswerType, style: Style) -> Callable[[Value | Truth | Options], str]:
    def way(value: Value | Truth | Options) -> str:
        try:
            return write(Answer(kind, value), style)
        except UnwritableError:  # an exponent that cannot be raised
            return write(Answer(kind, value), replace(style, notation=Notation.PLAIN))

    return way


def leaf(number: Num, *, unit: str = "", name: str = "") -> Leaf:
    """A number as an answer's value; where it is no rational one, by its LaTeX."""
    if not isinstance(number, str):
        return Leaf("", name, Quantity(Fraction(number), unit))
    made = values.read(number)
    if not isinstance(made, Leaf):
        raise ValueError(f"{number!r} is no number")
    if unit and made.quantity is not None:
        made = made._replace(quantity=made.quantity._replace(unit=unit))
    return made._replace(name=name)


def _digits(styles: Iterable[Style], numbers: Iterable[Num]) -> list[Style]:
    """The styles for decimals, where the numbers are such."""
    if any(isinstance(number, Decimal) for number in numbers):
        return [replace(style, digits=Digits.PLAIN) for style in styles]
    return [*styles]


# --- problems by answer type ----------------------------------------------------------------------


def number(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: Num,
    wrong: Iterable[Num],
    *,
    unit: str = "",
    name: str = "",
) -> Drawn:
    """A number; ``unit`` is the one that the question asks for."""
    styles = [replace(style, unit="") for style in (_PLAIN, _DOLLARS, _TEX)]
    extra: list[str] = []
    if name:
        named = (replace(_PLAIN, form="named"), replace(_DOLLARS, form="named", spaced=True))
        styles += [replace(style, unit="") for style in named]
    if known := units.named(unit):
        word = known.chinese[0] if zh else f" {known.english[0]}"
        sign = f" {unit}" if unit != "°" else unit
        styles += [replace(_PLAIN, unit=sign), replace(_PLAIN, unit=word)]
        styles.append(replace(_DOLLARS, unit=sign))
        slips = () if name else units.alike(unit)[:2]  # "I=2 mA" beside "2" would be hard to tell
        slipped = (leaf(value, unit=units.sister(unit, slip)) for slip in slips)
        extra = [write(Answer(AnswerType.NUMBER, other), _PLAIN) for other in slipped]
        wrong = [w for w in wrong if not _about(value, w)]
    elif not name:
        whole = isinstance(value, int)
        styles.append(Style(digits=Digits.ZEROS) if whole else replace(_TEX, dress="\\({}\\)"))
    wrong = [*wrong]
    right, *others = (leaf(v, unit=unit, name=name) for v in (value, *wrong))
    styles = _digits(styles, (value,))
    return _settled(rng, AnswerType.NUMBER, told, right, others, styles, extra)


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
    styles = [*_FORMULA]
    if name:
        styles += [replace(_PLAIN, form="named"), replace(_DOLLARS, form="named")]
    right, *others = (leaf(v, name=name)._replace(quantity=None) for v in (value, *wrong))
    return _settled(rng, kind, told, right, others, styles)


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
    right, *others = (polynomial(v, variable) for v in (value, *wrong))
    return formula(rng, told, right, others, name=name)


def equations(
    rng: random.Random,
    told: Told,
    value: V,
    wrong: Iterable[V],
    writings: Sequence[Callable[[V], str]],
) -> Drawn:
    """An equation that may be written in several forms, each of them as LaTeX or plain."""

    def written(form: Callable[[V], str], style: Style) -> Callable[[V], str]:
        way = _way(AnswerType.EQUATION, replace(style, form="named"))
        return lambda v: way(values.read(form(v)))

    ways = [written(form, style) for form in writings for style in _FORMULA[:5]]
    return settle(rng, AnswerType.EQUATION, told, value, wrong, ways)


def _group(numbers: Iterable[Num], *, ordered: bool, name: str = "") -> Group:
    return Group(ordered, tuple(leaf(n, name=name) for n in numbers))


def elements(
    rng: random.Random, told: Told, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]]
) -> Drawn:
    """A set by its elements."""
    styles = [
        replace(style, form="braces", joint=joint)
        for style in (_PLAIN, _DOLLARS, _TEX)
        for joint in (",", ", ")
    ]
    # An element in an odd place would give the wrong sets away.
    others = (tuple(sorted(w, key=lambda x: float(Fraction(x)))) for w in wrong if w)
    right, *sets = (_group(v, ordered=False) for v in (value, *others))
    return _settled(rng, AnswerType.SET, told, right, sets, styles)


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
    styles = [
        replace(style, form="tuple", joint=joint)
        for style in (_PLAIN, _DOLLARS)
        for joint in (",", ", ")
    ]
    styles += [replace(_PLAIN, form="wide", joint="，")] if zh else []
    styles += [replace(style, form="named") for style in (_PLAIN, _DOLLARS)] if names else []
    right, *others = (_group(v, ordered=True) for v in (value, *wrong))
    return _settled(rng, AnswerType.TUPLE, told, right, others, _digits(styles, value))


def parts(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: tuple[Num, ...],
    wrong: Iterable[tuple[Num, ...]],
) -> Drawn:
    """The answers of the numbered parts of a problem."""
    each = replace(_TEX, math=DOLLARS)
    marks = [(_PLAIN, "(1) ", "; "), (each, "(1) ", " "), (_PLAIN, "", ", "), (each, "(1) ", ", ")]
    marks += [(_PLAIN, "（1）", "，"), (each, "（1）", "；")] if zh else []
    styles = [replace(style, form=form, joint=joint) for style, form, joint in marks]
    right, *others = (_group(v, ordered=True) for v in (value, *wrong))
    return _settled(rng, AnswerType.MULTI_PART, told, right, others, _digits(styles, value))


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
    each = replace(_TEX, math=DOLLARS)
    styles = [_PLAIN, _DOLLARS, replace(_PLAIN, joint=either)]
    styles.append(replace(each, joint="、" if zh else ", "))
    if name:
        styles += [
            replace(_PLAIN, form="each", joint=either),
            replace(_PLAIN, form="once", joint=either, spaced=True),
            replace(each, form="indexed"),
            replace(_PLAIN, form="indexed"),
        ]
    wrong = (w for w in wrong if w)
    right, *others = (_group(v, ordered=False, name=name) for v in (value, *wrong))
    return _settled(rng, AnswerType.MULTI_ANSWER, told, right, others, styles)


def span(low: Num | None, high: Num | None, low_in: bool = False, high_in: bool = False) -> Piece:
    """One piece of a region of the number line; an end that is none lies at infinity."""
    left = -math.inf if low is None else Fraction(low)
    return Piece(left, low_in, math.inf if high is None else Fraction(high), high_in)


def flipped(piece: Piece) -> Piece:
    """The same piece with its finite ends the other way: open for closed."""
    low_in = math.isfinite(piece.low) and not piece.low_in
    return piece._replace(low_in=low_in, high_in=math.isfinite(piece.high) and not piece.high_in)


def region(
    rng: random.Random,
    zh: bool,
    told: Told,
    value: tuple[Piece, ...],
    wrong: Iterable[tuple[Piece, ...]],
    *,
    variable: str = "x",
) -> Drawn:
    """An interval or a union of them, as such or as inequalities."""
    base = replace(_PLAIN, chinese=zh, name=variable, form="brackets", joint=",")
    tex = replace(base, notation=Notation.LATEX, dress=DOLLARS)
    styles = [
        base, tex, replace(tex, joint=", "), replace(base, form="order", spaced=True),
        replace(tex, form="order"), replace(base, form="builder", spaced=not zh),
    ]  # fmt: skip
    right, *others = map(Region, (value, *wrong))
    return _settled(rng, AnswerType.INTERVAL, told, right, others, styles)


_ZH_TRUTH: Final = ("正确|错误", "对|错", "√|×", "是|否", "True|False")
_EN_TRUTH: Final = ("True|False", "true|false", "Yes|No", "correct|incorrect", "T|F", "对|错")


def verdicts(rng: random.Random, zh: bool, told: Told, truth: bool) -> Drawn:
    """Whether a statement holds."""
    styles = [Style(form=words) for words in (_ZH_TRUTH if zh else _EN_TRUTH)]
    kind = AnswerType.TRUE_FALSE
    return _settled(rng, kind, told, Truth(truth), [Truth(not truth)], styles, keys=3)
