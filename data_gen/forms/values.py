"""Styles of a number, a formula, an equation, a region."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

from gradegpt.answers.types import Leaf, Region, Relation
from gradegpt.answers.units import factor

from .numbers import Digits, decimal, digit_forms
from .render import Notation
from .style import BOTH, DOLLARS, IN_WORDS, LATEX, Style, vary
from .units import name_like, names, same_dimension
from .write import HAN

_MAX_DIGITS: Final = 6
"""Most digits of a number in a converted unit."""


def of_one(value: Leaf | Relation, equation: bool) -> Iterator[Style]:
    """A number, a formula or an equation."""
    if isinstance(value, Relation) or (equation and value.name and value.quantity is None):
        forms = ("named" if isinstance(value, Leaf) else "", "turned", "zero")
        for style in vary([Style()], form=forms, notation=Notation, spaced=BOTH):
            yield from (replace(style, wrapper=DOLLARS), style) if style.latex else (style,)
        return
    shown = list(_amounts(value))
    never = (Digits.WORDS, Digits.PARTS, Digits.GROUPED)
    named = [s for s in shown if value.name and s.digits not in never and s.unit != ""]
    for form in ("named", "turned")[: 1 + equation]:
        yield from vary(named, form=(form,), spaced=BOTH)
    yield from shown


def _amounts(leaf: Leaf) -> Iterator[Style]:
    """The number in digits and words, with each name of its unit; or the formula."""
    amount = leaf.quantity
    if leaf.formula is None and amount is None:
        yield Style()
        return
    exact = amount.value if amount is not None and isinstance(amount.value, Fraction) else None
    bare = _formulas() if exact is None else list(_in_digits(exact))
    if amount is None or not amount.unit:
        yield from bare
        yield from () if exact is None else IN_WORDS
        return
    bare = [s for s in bare if s.digits is not Digits.PERCENT and s.notation is not Notation.CODE]
    yield from bare
    for name in names(amount.unit):
        # A long name is no LaTeX symbol, so no LaTeX precedes it.
        short = name[:1] == " " and len(name) < 6
        if name[0] == " " or exact is not None:
            yield from (replace(s, unit=name) for s in bare if short or not s.latex)
        words = {True: bool(HAN.search(name)), False: name[:1] == " " and len(name) > 4}
        yield from (replace(s, unit=name) for s in IN_WORDS if words[s.chinese])
    yield from () if exact is None else _converted(exact, amount.unit)


def _formulas() -> list[Style]:
    wrapped = vary([LATEX], wrapper=(DOLLARS, "\\({}\\)"))
    return [*vary([Style()], notation=Notation, spaced=BOTH), *wrapped]


def _in_digits(value: Fraction) -> Iterator[Style]:
    for digits in digit_forms(value):
        yield Style(digits=digits)
        if digits is Digits.SCIENTIFIC:
            yield Style(digits=digits, notation=Notation.CODE)
        if digits is Digits.FRACTION:
            yield replace(LATEX, digits=Digits.DISPLAYED)
        if digits is not Digits.GROUPED:
            yield from vary([LATEX], digits=(digits,), wrapper=("{}", DOLLARS, "\\({}\\)"))


def _converted(value: Fraction, unit: str) -> Iterator[Style]:
    for other in same_dimension(unit):
        name = name_like(unit, other)
        shown = decimal(value * Fraction(factor(unit, name) or 0))
        if shown is not None and len(shown.strip("-").replace(".", "")) <= _MAX_DIGITS:
            yield Style(unit=name if HAN.match(name) else f" {name}")


def of_region(region: Region) -> Iterator[Style]:
    """A region: in brackets, as inequalities, in set-builder notation, in words."""
    if not region.pieces:
        yield from (Style(), LATEX, replace(LATEX, wrapper=DOLLARS))
        return
    ends = [end for piece in region.pieces for end in piece[::2]]
    broken = any(isinstance(end, Fraction) and end.denominator > 1 for end in ends)
    every = [*vary([Style()], digits=(Digits.PLAIN, Digits.FRACTION)[: 1 + broken])]
    every += [replace(s, notation=Notation.LATEX) for s in every]
    every += [replace(s, wrapper=DOLLARS) for s in every if s.latex]
    bounded = ends != [-math.inf, math.inf]
    for style in vary(every, chinese=BOTH):
        for made in vary([style], form=("brackets", "member"), joint=(",", ", ")):
            yield made
            if not style.latex and len(region.pieces) > 1:
                yield replace(made, spaced=True)
        if bounded:
            yield from vary([style], form=("order", "builder"), spaced=BOTH)
    if bounded:
        yield from vary([Style(form="words")], chinese=BOTH, name=("x", ""))
