"""Styles of a number, a formula, an equation, a region."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Final

from gradegpt.answers import units
from gradegpt.answers.numbers import Digits, decimal, digit_forms
from gradegpt.answers.render import Notation
from gradegpt.answers.style import DOLLARS, IN_WORDS, LATEX, Style
from gradegpt.answers.types import (
    Leaf,
    Region,
    Relation,
)
from gradegpt.answers.write import HAN

_MAX_DIGITS: Final = 6
"""Digits of a number in a converted unit."""


def of_one(value: Leaf | Relation, equation: bool) -> Iterator[Style]:
    """A number, a formula or an equation."""
    if isinstance(value, Relation) or (equation and value.name and value.quantity is None):
        forms = ("named", "turned", "zero") if isinstance(value, Leaf) else ("", "turned", "zero")
        for form, notation, spaced in product(forms, Notation, (False, True)):
            if notation is Notation.LATEX:
                yield Style(form=form, notation=notation, spaced=spaced, dress=DOLLARS)
            yield Style(form=form, notation=notation, spaced=spaced)
        return
    shown = list(_amounts(value))
    if value.name:
        never = (Digits.WORDS, Digits.PARTS, Digits.GROUPED)
        named = [s for s in shown if s.digits not in never and s.unit != ""]
        sides = ("named", "turned")[: 1 + equation]
        for form, style, spaced in product(sides, named, (False, True)):
            yield replace(style, form=form, spaced=spaced)
    yield from shown


def _amounts(leaf: Leaf) -> Iterator[Style]:
    """The number in digits and words, with its unit under its names; or the formula."""
    amount = leaf.quantity
    if amount is None or not isinstance(amount.value, Fraction):
        if leaf.formula is None and amount is None:
            yield Style()
            return
        bare = _formulas()
    else:
        bare = list(_in_digits(amount.value))
    if amount is None or not amount.unit:
        yield from bare
        yield from IN_WORDS if amount is not None and isinstance(amount.value, Fraction) else ()
        return
    bare = [s for s in bare if s.digits is not Digits.PERCENT and s.notation is not Notation.CODE]
    yield from bare
    for name in units.names(amount.unit):
        if name[0] == " " or isinstance(amount.value, Fraction):
            yield from (replace(s, unit=name) for s in bare if _fits(s, name))
        yield from (replace(s, unit=name) for s in IN_WORDS if _told_with(s, name))
    yield from _converted(amount.value, amount.unit)


def _formulas() -> list[Style]:
    plain = [Style(notation=n, spaced=s) for n in Notation for s in (False, True)]
    return [*plain, replace(LATEX, dress=DOLLARS), replace(LATEX, dress="\\({}\\)")]


def _in_digits(value: Fraction) -> Iterator[Style]:
    for digits in digit_forms(value):
        yield Style(digits=digits)
        if digits is Digits.SCIENTIFIC:
            yield Style(digits=digits, notation=Notation.CODE)
        if digits is Digits.FRACTION:
            yield replace(LATEX, digits=Digits.DISPLAYED)
        if digits is not Digits.GROUPED:
            yield replace(LATEX, digits=digits)
            yield replace(LATEX, digits=digits, dress=DOLLARS)
            yield replace(LATEX, digits=digits, dress="\\({}\\)")


def _fits(style: Style, name: str) -> bool:
    """Whether a number in this style has a unit of that name behind it: no LaTeX before words."""
    return not style.latex or (name[:1] == " " and len(name) < 6)


def _told_with(style: Style, name: str) -> bool:
    return bool(HAN.search(name)) if style.chinese else name[:1] == " " and len(name) > 4


def _converted(value: Fraction | float | complex, unit: str) -> Iterator[Style]:
    mine = units.named(unit)
    if mine is None or not isinstance(value, Fraction):
        return
    for other in units.alike(unit):
        shown = decimal(value * mine.size / other.size)
        if shown is not None and len(shown.strip("-").replace(".", "")) <= _MAX_DIGITS:
            name = units.sister(unit, other)
            yield Style(unit=name if HAN.match(name) else f" {name}")


def of_region(region: Region) -> Iterator[Style]:
    """A region: in brackets, as inequalities, by a property, in words."""
    if not region.pieces:
        yield from (Style(), LATEX, replace(LATEX, dress=DOLLARS))
        return
    ends = [end for piece in region.pieces for end in piece[::2]]
    broken = any(isinstance(end, Fraction) and end.denominator > 1 for end in ends)
    every = [Style(), *([Style(digits=Digits.FRACTION)] if broken else [])]
    every += [replace(s, notation=Notation.LATEX) for s in every]
    every += [replace(s, dress=DOLLARS) for s in every if s.latex]
    for style, chinese in product(every, (False, True)):
        for form, joint in product(("brackets", "member"), (",", ", ")):
            yield replace(style, form=form, joint=joint, chinese=chinese)
            if not style.latex and len(region.pieces) > 1:
                yield replace(style, form=form, joint=joint, chinese=chinese, spaced=True)
        if ends != [-math.inf, math.inf]:
            for form, spaced in product(("order", "builder"), (False, True)):
                yield replace(style, form=form, chinese=chinese, spaced=spaced)
    if ends != [-math.inf, math.inf]:
        for chinese, name in product((False, True), ("x", "")):
            yield Style(form="words", chinese=chinese, name=name)
