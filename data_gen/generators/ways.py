"""Problems made of a right value and wrong ones, all written in the same styles.

The right value and the wrong ones go through the same styles, so that no answer can be told by its
look. Formulas are handed in as LaTeX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final, TypeVar

from gradegpt.answers import Answer, Digits, Notation, Style, UnwritableError, units, values, write
from gradegpt.answers.style import DOLLARS
from gradegpt.answers.types import Group, Leaf, Options, Piece, Quantity, Region, Truth, Value
from gradegpt.schema import AnswerType

from . import Drawn
from .notation import Num, polynomial
from .words import Told

V = TypeVar("V", bound=Hashable)
_PLAIN: Final = Style(digits=Digits.FRACTION)
_TEX: Final = Style(digits=Digits.FRACTION, notation=Notation.LATEX)
_DOLLARS: Final = replace(_TEX, wrapper=DOLLARS)
_FORMULA: Final = (
    _TEX, _DOLLARS, _PLAIN, replace(_PLAIN, spaced=True), Style(notation=Notation.RAISED),
    replace(_TEX, wrapper="\\({}\\)"),
)  # fmt: skip
_NAMED_FORMULA: Final = (replace(_PLAIN, form="named"), replace(_DOLLARS, form="named"))
_NUMBER: Final = tuple(replace(style, unit="") for style in (_PLAIN, _DOLLARS, _TEX))
_NAMED_NUMBER: Final = (
    replace(_PLAIN, form="named", unit=""),
    replace(_DOLLARS, form="named", unit="", spaced=True),
)
_COMMAS: Final = (",", ", ")
_SET: Final = tuple(
    replace(style, form="braces", joint=joint)
    for style in (_PLAIN, _DOLLARS, _TEX)
    for joint in _COMMAS
)
_TUPLE: Final = tuple(
    replace(style, form="tuple", joint=joint) for style in (_PLAIN, _DOLLARS) for joint in _COMMAS
)
_WIDE: Final = (replace(_PLAIN, form="wide", joint="，"),)
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


def settle(
    told: Told,
    kind: AnswerType,
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
    key = told.rng.choice(keys or ways)
    forms = dict.fromkeys([key(value), *(way(value) for way in ways)])
    reference, *right = forms
    near = [way(w) for w in others for way in told.rng.sample(ways, min(2, len(ways)))]
    near = [w for w in dict.fromkeys([*near, *extra]) if w not in forms]

    def rivals() -> list[str]:
        return [r for r in dict.fromkeys(map(key, others)) if r not in forms]

    return Drawn(kind, told.question, reference, told.steps, right, near, rivals)


def _settled(
    told: Told,
    kind: AnswerType,
    value: Value | Truth | Options,
    wrong: Iterable[Value | Truth | Options],
    styles: Iterable[Style],
    extra: Iterable[str] = (),
    keys: int = 0,
) -> Drawn:
    """The same of values in styles, of which the reference may take the first ``keys``."""
    ways = [_way(kind, style) for style in styles]
    return settle(told, kind, value, wrong, ways, extra, ways[:keys])


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
    told: Told, value: Num, wrong: Iterable[Num], *, unit: str = "", name: str = ""
) -> Drawn:
    """A number; ``unit`` is the one that the question asks for. One more is always wrong."""
    styles, extra, wrong = _NUMBER, list[str](), [*wrong]
    if not isinstance(value, str):
        wrong.append(value + 1)
    if name:
        styles = (*styles, *_NAMED_NUMBER)
    if known := units.named(unit):
        word = known.chinese[0] if told.zh else f" {known.english[0]}"
        sign = f" {unit}" if unit != "°" else unit
        shown = ((_PLAIN, sign), (_PLAIN, word), (_DOLLARS, sign))
        styles = (*styles, *(replace(style, unit=told_unit) for style, told_unit in shown))
        # "I=2 mA" beside "2" would be hard to tell
        slips = () if name else units.same_dimension(unit)[:2]
        slipped = (leaf(value, unit=units.name_like(unit, slip)) for slip in slips)
        extra = [write(Answer(AnswerType.NUMBER, other), _PLAIN) for other in slipped]
        wrong = [w for w in wrong if not _about(value, w)]
    elif not name:
        whole = isinstance(value, int)
        styles = (*styles, Style(digits=Digits.ZEROS) if whole else _FORMULA[-1])
    right, *others = (leaf(v, unit=unit, name=name) for v in (value, *wrong))
    return _settled(told, AnswerType.NUMBER, right, others, _digits(styles, (value,)), extra)


def _about(value: Num, other: Num) -> bool:
    """Whether two different numbers would pass for one measured quantity."""
    if isinstance(value, str) or isinstance(other, str):
        return False
    return abs(Fraction(other) - Fraction(value)) <= abs(Fraction(value)) / 50


def formula(told: Told, value: str, wrong: Iterable[str], *, name: str = "") -> Drawn:
    """A formula, as LaTeX; ``name`` is what stands before its equals sign, where one may."""
    styles = (*_FORMULA, *_NAMED_FORMULA) if name else _FORMULA
    right, *others = (leaf(v, name=name)._replace(quantity=None) for v in (value, *wrong))
    return _settled(told, AnswerType.EXPRESSION, right, others, styles)


def polynomials(
    told: Told,
    value: tuple[int, ...],
    wrong: Iterable[tuple[int, ...]],
    *,
    variable: str = "x",
    name: str = "",
) -> Drawn:
    """A polynomial by its coefficients, from the highest power down; a sign turned is wrong."""
    others = [w for w in (*wrong, *_turned(value)[1:]) if any(w)]
    right, *texts = (polynomial(v, variable) for v in (value, *others))
    return formula(told, right, texts, name=name)


def _turned(value: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The numbers with one of their signs turned."""
    return [(*value[:n], -x, *value[n + 1 :]) for n, x in enumerate(value)]


def equations(
    told: Told, value: V, wrong: Iterable[V], writings: Sequence[Callable[[V], str]]
) -> Drawn:
    """An equation that may be written in several forms, each of them as LaTeX or plain."""

    def written(form: Callable[[V], str], way: Callable[[Value], str]) -> Callable[[V], str]:
        return lambda v: way(values.read(form(v)))

    named = [_way(AnswerType.EQUATION, replace(style, form="named")) for style in _FORMULA[:5]]
    ways = [written(cache(form), way) for form in writings for way in named]
    return settle(told, AnswerType.EQUATION, value, wrong, ways)


def _group(numbers: Iterable[Num], *, ordered: bool, name: str = "") -> Group:
    return Group(ordered, tuple(leaf(n, name=name) for n in numbers))


def _several(
    value: tuple[Num, ...], wrong: Iterable[Iterable[Num]], name: str = ""
) -> Iterator[Group]:
    """Values in any order: the right ones, others, and the right ones without one of them."""
    one_less = [(*value[:n], *value[n + 1 :]) for n in range(len(value))]
    others = [w for w in map(tuple, (*wrong, *one_less)) if w and {*w} != {*value}]
    return (_group(v, ordered=False, name=name) for v in (value, *others))


def elements(told: Told, value: tuple[Num, ...], wrong: Iterable[Iterable[Num]]) -> Drawn:
    """A set by its elements; one less is always wrong."""
    # An element in an odd place would give the wrong sets away.
    ordered = [sorted({*w}, key=lambda x: float(Fraction(x))) for w in wrong]
    right, *sets = _several(value, ordered)
    return _settled(told, AnswerType.SET, right, sets, _SET)


def point(
    told: Told, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]], *, names: str = ""
) -> Drawn:
    """A tuple: a point, a vector, or the values of the unknowns ``names``.

    Numbers in the other order or with one sign turned are always wrong.
    """
    styles = [*_TUPLE, *(_WIDE if told.zh else ()), *(_NAMED_FORMULA if names else ())]
    whole = tuple(v for v in value if isinstance(v, int))
    turned = _turned(whole) if len(whole) == len(value) else []
    right, *others = (_group(v, ordered=True) for v in (value, *wrong, value[::-1], *turned))
    return _settled(told, AnswerType.TUPLE, right, others, _digits(styles, value))


def parts(told: Told, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]]) -> Drawn:
    """The answers of the numbered parts of a problem; exchanged they are wrong."""
    styles = _digits((*_PARTS, *(_ZH_PARTS if told.zh else ())), value)
    right, *others = (_group(v, ordered=True) for v in (value, *wrong, value[::-1]))
    return _settled(told, AnswerType.MULTI_PART, right, others, styles)


def several(
    told: Told, value: tuple[Num, ...], wrong: Iterable[tuple[Num, ...]], *, name: str = ""
) -> Drawn:
    """All answers of a problem that has several, in any order; ``name`` is their unknown."""
    either = (" and ", "和", " or ", "或")[2 * bool(name) + told.zh]
    styles = [_PLAIN, _DOLLARS, replace(_PLAIN, joint=either)]
    styles.append(replace(_EACH, joint="、" if told.zh else ", "))
    if name:
        forms = ((_PLAIN, "each"), (replace(_PLAIN, spaced=True), "once"))
        styles += [replace(style, form=form, joint=either) for style, form in forms]
        styles += [replace(style, form="indexed") for style in (_EACH, _PLAIN)]
    right, *others = _several(value, wrong, name)
    return _settled(told, AnswerType.MULTI_ANSWER, right, others, styles)


def span(low: Num | None, high: Num | None, low_in: bool = False, high_in: bool = False) -> Piece:
    """One piece of a region of the number line; an end that is none lies at infinity, open."""
    left = -math.inf if low is None else Fraction(low)
    right = math.inf if high is None else Fraction(high)
    return Piece(left, low_in and low is not None, right, high_in and high is not None)


def flipped(piece: Piece) -> Piece:
    """The same piece with its finite ends the other way: open for closed."""
    low_in = math.isfinite(piece.low) and not piece.low_in
    return piece._replace(low_in=low_in, high_in=math.isfinite(piece.high) and not piece.high_in)


def region(
    told: Told,
    value: Piece | tuple[Piece, ...],
    wrong: Iterable[Piece | tuple[Piece, ...]],
    *,
    variable: str = "x",
) -> Drawn:
    """An interval or a union of them, as such or as inequalities; other ends are always wrong."""
    base = replace(_PLAIN, chinese=told.zh, name=variable, form="brackets", joint=",")
    tex = replace(base, notation=Notation.LATEX, wrapper=DOLLARS)
    styles = [
        base, tex, replace(tex, joint=", "), replace(base, form="order", spaced=True),
        replace(tex, form="order"), replace(base, form="builder", spaced=not told.zh),
    ]  # fmt: skip
    right, *others = ((r,) if isinstance(r, Piece) else r for r in (value, *wrong))
    regions = [Region(pieces) for pieces in (*others, tuple(map(flipped, right)))]
    return _settled(told, AnswerType.INTERVAL, Region(right), regions, styles)


_ZH_TRUTH: Final = ("正确|错误", "对|错", "√|×", "是|否", "True|False")
_EN_TRUTH: Final = ("True|False", "true|false", "Yes|No", "correct|incorrect", "T|F", "对|错")


def verdicts(told: Told, truth: bool) -> Drawn:
    """Whether a statement holds."""
    styles = [Style(form=words) for words in (_ZH_TRUTH if told.zh else _EN_TRUTH)]
    kind = AnswerType.TRUE_FALSE
    return _settled(told, kind, Truth(truth), [Truth(not truth)], styles, keys=3)
