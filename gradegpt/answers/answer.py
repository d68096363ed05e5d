"""An answer, and equality of two answers whatever their notation.

Equality is stricter than the comparison of the rules: nothing is rounded, and answers that cannot
be shown to be equal are unequal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from gradegpt.answers import algebra, units
from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.text import plain
from gradegpt.answers.types import (
    AnswerType,
    Group,
    Leaf,
    Options,
    Quantity,
    Range,
    Region,
    Relation,
    Truth,
    Value,
)
from gradegpt.answers.words import Words

_INDEX = re.compile(r"_?\{?\d\}?$")
_COORDINATES = ("x", "y", "z")


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer: its type, its value, and the text it was read from.

    Two answers are equal if their types and values are. ``text``, the words that were read,
    ``span``, their place in the text in which they were found, and notation do not count.
    """

    kind: AnswerType
    value: Value | Options | Truth | Words
    text: str = field(default="")
    span: tuple[int, int] = field(default=(0, 0))

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer) or self.kind is not other.kind:
            return False
        mine, theirs = self.value, other.value
        if isinstance(mine, Options | Truth | Words) or isinstance(theirs, Options | Truth | Words):
            return mine == theirs
        return same(mine, theirs)

    @override
    def __hash__(self) -> int:
        return hash(self.kind)  # equal values may be built in different ways


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal."""
    a, b = _only(a), _only(b)
    match a, b:
        case Leaf(), Leaf():
            return _same_leaf(a, b)
        case Region(), Region():
            return _same_region(a, b)
        case Range(), Range():
            unit = a.low.unit or a.high.unit
            mine, theirs = a.low._replace(unit=unit), b.low._replace(unit=b.low.unit or b.high.unit)
            return _same_quantity(mine, theirs) and _same_quantity(a.high, b.high)
        case Group(), Group():
            return _same_items(a.items, b.items, ordered=a.ordered and b.ordered)
        case (Region(pieces=()), Group(items=())) | (Group(items=()), Region(pieces=())):
            return True
        case ((Leaf() | Relation()), (Leaf() | Relation())):
            left, right = difference(a), difference(b)
            if left is None or right is None:
                return False
            return _same_formula(left, right) or _same_formula(left, right, True)
        case _:
            return False


def _only(value: Value) -> Value:
    """The only value of a group of one; a set that holds one pair remains a set."""
    if isinstance(value, Group) and len(value.items) == 1 and not isinstance(value.items[0], Group):
        return value.items[0]
    return value


def _same_leaf(a: Leaf, b: Leaf) -> bool:
    """Same number and unit, formula, or text; a name may be missing or have an index."""
    if len({_INDEX.sub("", leaf.name) for leaf in (a, b) if leaf.name}) > 1:
        return False
    if a.quantity is not None and b.quantity is not None:
        return _same_quantity(a.quantity, b.quantity)
    if a.formula is not None and b.formula is not None:
        return _same_formula(a.formula, b.formula)
    return a.quantity is b.quantity is None and plain(a.text) == plain(b.text)


def _same_quantity(a: Quantity, b: Quantity) -> bool:
    factor = 1 if a.unit == b.unit else units.factor(b.unit, a.unit) if a.unit and b.unit else None
    return factor is not None and algebra.close(a.value, b.value * factor)


def _same_formula(a: Node, b: Node, scaled: bool = False) -> bool:
    return a == b or algebra.equal(a, b, scaled=scaled) is True


def difference(value: Leaf | Relation) -> Node | None:
    """The formula that an equation sets to zero; ``y = 2x + 1`` is a named value here."""
    if isinstance(value, Relation):
        return Node("+", (value.left, Node("neg", (value.right,))))
    name = read_formula(value.name) if value.name else None
    if name is None or value.formula is None:
        return None
    return Node("+", (name, Node("neg", (value.formula,))))


def _same_region(a: Region, b: Region) -> bool:
    return len(a.pieces) == len(b.pieces) and all(
        (p.low_in, p.high_in) == (q.low_in, q.high_in)
        and algebra.close(p.low, q.low)
        and algebra.close(p.high, q.high)
        for p, q in zip(a.pieces, b.pieces, strict=True)
    )


def _same_items(a: Sequence[Value], b: Sequence[Value], *, ordered: bool) -> bool:
    if len(a) != len(b):
        return False
    if ordered:
        named = all(isinstance(x, Leaf) and x.name in _COORDINATES for x in a)
        a = sorted(a, key=lambda x: getattr(x, "name", "")) if named else a
        named = all(isinstance(x, Leaf) and x.name in _COORDINATES for x in b)
        b = sorted(b, key=lambda x: getattr(x, "name", "")) if named else b
        return all(map(same, a, b))
    left = list(b)
    for item in a:
        found = next((n for n, other in enumerate(left) if same(item, other)), None)
        if found is None:
            return False
        del left[found]
    return True
