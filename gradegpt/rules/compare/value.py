"""Compare two values that were read: numbers, formulas, relations, regions, groups of them."""

from __future__ import annotations

import re

from gradegpt.rules import algebra, units
from gradegpt.rules.compare.base import Means, every
from gradegpt.rules.formula import Node, read_formula, variables
from gradegpt.rules.normalise import plain
from gradegpt.rules.regions import Piece, Region
from gradegpt.rules.values import Group, Leaf, Quantity, Relation, Value

_WORDS = re.compile(r"[\u3400-\u9fff]|(?<![A-Za-z\\])[A-Za-z]{4,}|\\(?:begin|text)")


def same_value(reference: Value, answer: Value, means: Means) -> bool | None:
    """Whether the two are the same value, or none where that cannot be shown."""
    match reference, answer:
        case Leaf(), Leaf():
            return _leaves(reference, answer, means)
        case Region(), Region():
            return _regions(reference, answer)
        case Group(), Group():
            return _groups(reference, answer, means)
        case Relation(), Relation():
            return _relations(reference, answer)
        case (Region(pieces=()), Group(items=items)) | (Group(items=items), Region(pieces=())):
            return not items
        case (Leaf() as leaf, Relation() as relation) | (Relation() as relation, Leaf() as leaf):
            named = _as_relation(leaf)
            return None if named is None else _relations(named, relation)
        case (Group(items=(only,)), other) | (other, Group(items=(only,))):
            return same_value(only, other, means)
        case _:
            return None


def _leaves(reference: Leaf, answer: Leaf, means: Means) -> bool | None:
    if plain(reference.text) == plain(answer.text) and plain(answer.text):
        return True
    if reference.quantity is not None and answer.quantity is not None:
        same = same_quantity(reference.quantity, answer.quantity, means)
        if same is not False or not (_has_unknowns(reference) or _has_unknowns(answer)):
            return same
    if reference.formula is None or answer.formula is None:
        return means.prove(reference.text, answer.text) if _provable(reference, answer) else None
    same = algebra.equal(reference.formula, answer.formula)
    if same is False and reference.name and answer.name and reference.name != answer.name:
        # F = ma and ma = F; but S = 3 and A = 4 may speak of two things.
        left, right = _as_relation(reference), _as_relation(answer)
        return (_relations(left, right) or None) if left and right else None
    return same


def _provable(reference: Leaf, answer: Leaf) -> bool:
    """Whether computer algebra may help: two formulas, one of them beyond ``algebra``."""
    return all("\\" in x.text and not _WORDS.search(x.text) for x in (reference, answer))


def _has_unknowns(leaf: Leaf) -> bool:
    """Whether the leaf is a formula with unknowns, so that its number is only one reading."""
    has_unit = leaf.quantity is not None and leaf.quantity.unit
    return leaf.formula is not None and not has_unit and bool(variables(leaf.formula))


def same_quantity(wanted: Quantity, given: Quantity, means: Means) -> bool | None:
    """Numbers within the tolerance, after conversion where both state a unit."""
    if wanted.unit and given.unit:
        factor = units.factor(given.unit, wanted.unit)
        if factor is None:
            return None
        if factor != 1:
            given = given._replace(value=given.value * factor, place=None)
    allowed = means.tolerance.allows(wanted, given)
    if allowed is not False:
        return allowed
    if wanted.percent != given.percent and given.value in (wanted.value * 100, wanted.value / 100):
        return None  # 5 for 5 %: a sign forgotten, or another number
    return False


def _regions(reference: Region, answer: Region) -> bool:
    if len(reference.pieces) != len(answer.pieces):
        return False
    return all(map(_same_piece, reference.pieces, answer.pieces))


def _same_piece(a: Piece, b: Piece) -> bool:
    ends = algebra.close(a.low, b.low) and algebra.close(a.high, b.high)
    return ends and (a.low_in, a.high_in) == (b.low_in, b.high_in)


def _relations(reference: Relation, answer: Relation) -> bool | None:
    left, right = (Node("+", (r.left, Node("neg", (r.right,)))) for r in (reference, answer))
    return algebra.equal(left, right, scaled=True)


def _as_relation(leaf: Leaf) -> Relation | None:
    """``y = 2x + 1``, which reads as a named value, as an equation."""
    name = read_formula(leaf.name) if leaf.name else None
    return Relation(leaf.text, name, leaf.formula) if name and leaf.formula else None


def _groups(reference: Group, answer: Group, means: Means) -> bool | None:
    wanted, given = reference.items, answer.items
    names = [[i.name for i in items if isinstance(i, Leaf)] for items in (wanted, given)]
    if len(wanted) != len(given):
        return None if reference.ordered != answer.ordered else False
    named = all(len(n) == len(wanted) and all(n) and len({*n}) == len(n) for n in names)
    if named and sorted(names[0]) == sorted(names[1]):
        by_name = {i.name: i for i in given if isinstance(i, Leaf)}
        return every(same_value(i, by_name[i.name], means) for i in wanted if isinstance(i, Leaf))
    in_order = every(map(lambda a, b: same_value(a, b, means), wanted, given))
    if reference.ordered or in_order:
        return in_order
    return _in_any_order(wanted, given, means)


def _in_any_order(wanted: tuple[Value, ...], given: tuple[Value, ...], means: Means) -> bool | None:
    left = list(given)
    unsure = False
    for item in wanted:
        results = [same_value(item, other, means) for other in left]
        if True in results:
            left.pop(results.index(True))
        elif all(result is False for result in results):
            return False
        else:
            unsure = True
    return None if unsure else True
