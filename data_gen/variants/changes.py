"""Hard negatives by changing the value of an answer."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from gradegpt.answers import Answer
from gradegpt.answers.formula import Node, read_formula, variables
from gradegpt.answers.options import LETTERS, options
from gradegpt.answers.types import (
    Group,
    Leaf,
    Options,
    Piece,
    Quantity,
    Range,
    Region,
    Relation,
    Truth,
    Value,
)
from gradegpt.core.schema import AnswerType

from ..forms.numbers import decimal
from ..forms.render import terms_of
from ..forms.units import name_like, same_dimension
from .edits import near_numbers
from .equivalents import folded
from .texts import near_texts

_SWAPS: Final = {"sin": "cos", "cos": "sin", "ln": "lg", "lg": "ln"}
_MOST: Final = 8
"""Maximum number of changes of one element, or of a set of options."""


def changed(rng: random.Random, answer: Answer, question: str) -> list[Answer]:
    """Other answers of the same type: another sign, digit, element, end point, order or option."""
    value = answer.value
    if isinstance(value, Options):
        single = answer.kind is AnswerType.SINGLE_CHOICE
        made: Sequence[Value | Options | Truth] = [*_options(rng, value, question, single=single)]
    elif isinstance(value, Truth):
        made = [Truth(not value.holds)]
    else:
        made = _values(rng, value) if isinstance(value, Value) else []
        if isinstance(value, Group) and answer.kind is AnswerType.MULTI_PART:
            made = [*made, value._replace(items=value.items[:-1])]
    return [Answer(answer.kind, other) for other in made]


def _values(rng: random.Random, value: Value) -> list[Value]:
    match value:
        case Leaf():
            return [*_leaves(rng, value)]
        case Relation():
            sides = [value._replace(left=n) for n in _trees(rng, value.left)]
            return [*sides, *(value._replace(right=n) for n in _trees(rng, value.right))]
        case Region():
            return [*_regions(rng, value)]
        case Range():
            ends = [*_leaves(rng, Leaf("", "", value.high))]
            return [Range(value.low, end.quantity) for end in ends if end.quantity]
        case Group():
            return [*_groups(rng, value)]


# --- numbers and formulas -------------------------------------------------------------------------


def _leaves(rng: random.Random, leaf: Leaf) -> Iterator[Leaf]:
    amount = leaf.quantity
    if amount is None and (leaf.formula is None or leaf.formula.op == "var"):
        texts = near_texts(rng, leaf.text) if len(leaf.text) > 1 else _other_letters(leaf.text)
        yield from (Leaf(text, leaf.name, None, read_formula(text)) for text in texts)
        return
    if amount is None or not isinstance(amount.value, Fraction):
        if leaf.formula is not None and (amount is None or not amount.unit):
            for node in _trees(rng, leaf.formula):
                yield Leaf("", leaf.name, None, node)
        elif amount is not None and isinstance(amount.value, float):
            for factor in (2, -1, Fraction(1, 2), 3):
                yield leaf._replace(quantity=amount._replace(value=amount.value * factor))
        return
    for number in _numbers(rng, amount.value, whole=bool(amount.unit)):
        yield Leaf("", leaf.name, Quantity(number, amount.unit))
    for other in same_dimension(amount.unit):
        yield Leaf("", leaf.name, Quantity(amount.value, name_like(amount.unit, other)))


def _other_letters(letter: str) -> list[str]:
    """Other letters of the same case, for elements of a set such as {a, c, d}."""
    return [c for c in ("ABCDEFGH" if letter.isupper() else "abcdefgh") if c != letter]


def _numbers(rng: random.Random, value: Fraction, *, whole: bool) -> Iterator[Fraction]:
    """Neighbours, other or exchanged digits, another magnitude or sign, and the reciprocal."""
    shown = decimal(value)
    sign = -1 if value < 0 else 1
    if not whole:
        yield -value
    if shown is None:
        top, bottom = abs(value.numerator), value.denominator
        yield from (Fraction(sign * (top + step), bottom) for step in (1, -1, rng.randint(2, 12)))
        yield from (Fraction(sign * top, bottom + step) for step in (1, -1 if bottom > 2 else 2))
        yield from (1 / value, value * 2, value / 2)
        return
    yield from near_numbers(rng, value, len(shown.partition(".")[2]))
    if value.denominator > 1:
        yield from (1 / value, Fraction(value.numerator, value.denominator + 1))
        yield Fraction(value.numerator + sign, value.denominator)


def _trees(rng: random.Random, node: Node) -> Iterator[Node]:
    """Another sign, number, exponent or function, two unknowns exchanged, or a term removed."""
    terms = terms_of(node)
    if len(terms) > 1:
        for n in range(len(terms)):
            yield _sum([(-s if n == m else s, t) for m, (s, t) in enumerate(terms)])
            if len(terms) > 2:
                yield _sum([term for m, term in enumerate(terms) if n != m])
    elif node.op != "num" or node.value:
        yield node.args[0] if node.op == "neg" else Node("neg", (node,))
    yield from _inside(rng, node)
    names = sorted(variables(node) - {"C"})
    if len(names) > 1:
        a, b = rng.sample(names, 2)
        yield _renamed(node, {a: b, b: a})
    if node.op in ("var", "const", "root", "^"):
        yield Node("*", (Node("num", value=Fraction(rng.choice((2, 3, 4)))), node))


def _sum(terms: list[tuple[int, Node]]) -> Node:
    nodes = [node if sign > 0 else Node("neg", (node,)) for sign, node in terms]
    return folded("+", nodes)


def _inside(rng: random.Random, node: Node) -> Iterator[Node]:
    """The tree with one number or one function changed."""
    if node.op == "num" and node.value is not None:
        step = Fraction(1, 10 ** len((decimal(node.value) or "").partition(".")[2]))
        moved = (node.value + step, node.value - step, node.value + rng.randint(2, 12) * step)
        yield from (node._replace(value=new) for new in moved if new > 0)
    if node.op == "call" and node.name in _SWAPS:
        yield node._replace(name=_SWAPS[node.name])
    for n, arg in enumerate(node.args):
        if node.op == "root" and n == 1:
            continue
        for other in _inside(rng, arg):
            yield node._replace(args=(*node.args[:n], other, *node.args[n + 1 :]))


def _renamed(node: Node, names: dict[str, str]) -> Node:
    args = tuple(_renamed(arg, names) for arg in node.args)
    return node._replace(args=args, name=names.get(node.name, node.name))


# --- several values, regions ----------------------------------------------------------------------


def _groups(rng: random.Random, group: Group) -> Iterator[Group]:
    """One element removed, added or changed; in an ordered group, two neighbours exchanged."""
    items = group.items
    for n, item in enumerate(items):
        others = [o for o in _values(rng, item) if o not in items]
        for other in rng.sample(others, min(len(others), _MOST)):
            yield group._replace(items=(*items[:n], other, *items[n + 1 :]))
            if not group.ordered and isinstance(other, Leaf) and len(items) > 1:
                yield group._replace(items=(*items, other))
        if len(items) > 1 and not group.ordered:
            yield group._replace(items=(*items[:n], *items[n + 1 :]))
        if group.ordered and n:
            yield group._replace(items=(*items[: n - 1], item, items[n - 1], *items[n + 1 :]))


def _regions(rng: random.Random, region: Region) -> Iterator[Region]:
    """An end moved, negated, opened or closed; the interval mirrored; the complement of a ray."""
    pieces = region.pieces
    for n, piece in enumerate(pieces):
        for other in _pieces(rng, piece):
            made = (*pieces[:n], other, *pieces[n + 1 :])
            apart = all(a.high < b.low for a, b in itertools.pairwise(made))
            if other.low < other.high and apart:
                yield Region(made)
    if len(pieces) == 1 and math.isfinite(pieces[0].low) != math.isfinite(pieces[0].high):
        low, low_in, high, high_in = pieces[0]
        flipped = (high, high_in, math.inf, False)
        yield Region((Piece(*flipped if low == -math.inf else (-math.inf, False, low, low_in)),))


def _pieces(rng: random.Random, piece: Piece) -> Iterator[Piece]:
    low_in, high_in = (math.isfinite(end) for end in (piece.low, piece.high))
    both = piece._replace(low_in=low_in ^ piece.low_in, high_in=high_in ^ piece.high_in)
    yield from (both, piece._replace(low_in=both.low_in), piece._replace(high_in=both.high_in))
    if low_in and high_in:
        yield Piece(-piece.high, piece.low_in, -piece.low, piece.high_in)
    for end in ("low", "high"):
        value = getattr(piece, end)
        if isinstance(value, Fraction):
            moved: list[Fraction | float] = [*_numbers(rng, value, whole=False)]
        else:
            moved = [-value] if math.isfinite(value) else []
        yield from (
            piece._replace(low=new) if end == "low" else piece._replace(high=new) for new in moved
        )


# --- options --------------------------------------------------------------------------------------


def _options(
    rng: random.Random, value: Options, question: str, *, single: bool
) -> Iterator[Options]:
    """Another option; of several, one removed, added or replaced, or two neighbours exchanged."""
    named = value.letters
    if value.ordered:
        for n, chosen in enumerate(named):
            new = rng.choice([x for x in "ABCD" if x != chosen])
            yield value._replace(letters=(*named[:n], new, *named[n + 1 :]))
            swapped = (*named[:n], *named[n + 1 : n + 2], chosen, *named[n + 2 :])
            if swapped != named:
                yield value._replace(letters=swapped)
        return
    rest = [label for label in _every(named, question) if label not in named]
    if len(named) == 1 and single:
        yield from (Options((other,)) for other in rest)
        return
    others = [{*named} - {gone} for gone in named if len(named) > 1]
    others += [{*named, more} for more in rest]
    others += [{*named} - {gone} | {new} for gone in named for new in rest]
    yield from (Options(tuple(sorted(o))) for o in rng.sample(others, min(len(others), _MOST)))


def _every(named: Sequence[str], question: str) -> list[str]:
    if named[0] in LETTERS:
        return sorted(options(question)) or [c for c in LETTERS if c <= max("D", *named)]
    return [str(n) for n in range(1, max(4, *map(int, named)) + 1)]
