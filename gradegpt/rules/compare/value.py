"""Compare two values that were read: numbers, formulas, relations, regions, groups of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from gradegpt.answers import algebra, units
from gradegpt.answers.formula import Node, read_formula, variables
from gradegpt.answers.text import plain
from gradegpt.answers.types import Group, Leaf, Piece, Quantity, Range, Region, Relation, Value
from gradegpt.answers.values import is_read
from gradegpt.rules.compare.base import Means, every
from gradegpt.rules.compare.positive import not_negative

_COORDINATES: Final = ("x", "y", "z")
_PERCENT = re.compile(
    r"\b(?:what|which|how many|as an?|in|find the) (?:[a-z]+ ){0,3}percent(?:age)?s?\b"
    r"|\bpercentage of\b|\bwhat %|\bin %|百分之几|百分比|百分率",
    re.IGNORECASE,
)
"""Questions whose answer is a percentage, rather than those that have one in them."""
_STEPS: Final = tuple(x for n in (10, 100, 1000, 60, 3600) for x in (n, 1 / n))
"""Factors between a unit and its neighbours."""
_TIMES: Final = re.compile(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])")
_DEGREES: Final = {"°", "degree", "degrees", "度"}
_BY_ZERO = re.compile(r"(?:[A-Za-z]|[\w})]\s)0(?![\d.])|[\w})]\s*\(0\)|\d\s+\d")
"""What computer algebra takes for a product with 0: two answers, g_s0, a value at 0, 9 000."""
_WORDS = re.compile(r"[\u3400-\u9fff#∈]|(?<![A-Za-z\\])[A-Za-z]{4,}|\\(?:begin|text)")


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
            return _relations(reference, answer, means)
        case (Region(pieces=()), Group(items=items)) | (Group(items=items), Region(pieces=())):
            return not items
        case Group(), Leaf() if _is_one_of_several(reference, answer, means):
            return False
        case Range(), Range():
            ends = ((reference.low, answer.low), (reference.high, answer.high))
            return every(same_quantity(wanted, given, means) for wanted, given in ends)
        case Range(), Leaf() if answer.quantity is not None:
            return _outside(reference, answer.quantity, means)
        case (Leaf() as leaf, Relation() as relation) | (Relation() as relation, Leaf() as leaf):
            named = _as_relation(leaf)
            return None if named is None else _relations(named, relation, means)
        case _:
            return None


def _outside(reference: Range, given: Quantity, means: Means) -> bool | None:
    """False for a quantity beyond the ends of the range; one within it may be meant for it."""
    low, high = (same_quantity(end, given, means) for end in (reference.low, reference.high))
    ends = [complex(end.value).real for end in (reference.low, reference.high)]
    beyond = not ends[0] <= complex(given.value).real <= ends[1]
    return False if beyond and low is False and high is False else None


def _is_one_of_several(reference: Group, answer: Leaf, means: Means) -> bool:
    """Whether the answer is one value where the reference has several different ones."""
    names = {item.name for item in reference.items if isinstance(item, Leaf)}
    if not is_read(answer) or not is_read(reference) or answer.name not in names | {""}:
        return False
    if _has_unknowns(answer):
        return False  # 6i - 3j + k may well be (6, -3, 1)
    first, *rest = reference.items
    alike = (same_value(first, other, means) for other in rest)
    return bool(rest) and all(result is False for result in alike)


def _leaves(reference: Leaf, answer: Leaf, means: Means) -> bool | None:
    if means.names_matter and reference.name and answer.name and reference.name != answer.name:
        left, right = _as_relation(reference), _as_relation(answer)
        return (_relations(left, right, means) or None) if left and right else None
    measured = reference.quantity is not None and reference.quantity.unit
    if plain(reference.text) == plain(answer.text) and plain(answer.text) and not measured:
        return True
    if reference.quantity is not None and answer.quantity is not None:
        same = same_quantity(reference.quantity, answer.quantity, means)
        if same is not False or not (_has_unknowns(reference) or _has_unknowns(answer)):
            return same
    if reference.formula is None or answer.formula is None:
        return means.prove(reference.text, answer.text) if _provable(reference, answer) else None
    same = _equal(reference.formula, answer.formula, means)
    if same is False and (products := _as_products(reference.text, answer.text)):
        return algebra.equal(*products) or same
    return same


def _equal(left: Node, right: Node, means: Means, *, scaled: bool = False) -> bool | None:
    """``algebra.equal``, and where that is none, with what the question says is not negative."""
    same = algebra.equal(left, right, scaled=scaled)
    if same is not None or not means.assume:
        return same
    positive = not_negative(means.question) & (variables(left) | variables(right))
    return algebra.equal(left, right, scaled=scaled, positive=positive) if positive else None


def _as_products(left: str, right: str) -> tuple[Node, Node] | None:
    """Both formulas with an x between numbers as a sign: 2x(5+4); none where neither has one."""
    turned = [_TIMES.sub("×", text) for text in (left, right)]
    if turned == [left, right] or any(re.search("[xX]", text) for text in turned):
        return None
    trees = [read_formula(text) for text in turned]
    return (trees[0], trees[1]) if trees[0] and trees[1] else None


def _provable(reference: Leaf, answer: Leaf) -> bool:
    """Whether computer algebra may help: two formulas, one of them beyond ``algebra``."""
    texts = (reference.text, answer.text)
    return all("\\" in t and not _WORDS.search(t) and not _BY_ZERO.search(t) for t in texts)


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
    if {wanted.unit, given.unit} & _DEGREES and "" in (wanted.unit, given.unit):
        turned = [q.value * math.pi / 180 if q.unit else q.value for q in (wanted, given)]
        if algebra.close(*turned):
            return None  # 45° and π/4
    allowed = means.tolerance.allows(wanted, given)
    if allowed is not False:
        return allowed
    if _may_be_converted(wanted, given):
        return None
    if wanted.percent and not given.percent and given.value == wanted.value * 100:
        return _asks_for_percent(means.question) or None  # 18 for 18 %
    if given.percent and not wanted.percent and given.value == wanted.value / 100:
        return _asks_for_percent(means.question) or None
    return False


def _may_be_converted(wanted: Quantity, given: Quantity) -> bool:
    """Whether only one has a unit, and the other may be the same in another: 5 and 500 cm."""
    if bool(wanted.unit) is bool(given.unit) or not units.known(wanted.unit or given.unit):
        return False
    ratio = abs(complex(given.value)) / (abs(complex(wanted.value)) or 1)
    return any(algebra.close(ratio, step) for step in _STEPS)


def _asks_for_percent(question: str) -> bool:
    return bool(_PERCENT.search(question))


def _regions(reference: Region, answer: Region) -> bool:
    if len(reference.pieces) != len(answer.pieces):
        return False
    return all(map(_same_piece, reference.pieces, answer.pieces))


def _same_piece(a: Piece, b: Piece) -> bool:
    ends = algebra.close(a.low, b.low) and algebra.close(a.high, b.high)
    return ends and (a.low_in, a.high_in) == (b.low_in, b.high_in)


def _relations(reference: Relation, answer: Relation, means: Means) -> bool | None:
    if not any(map(variables, (*reference[1:], *answer[1:]))):  # an identity has no other form
        sides = zip(reference[1:], answer[1:], strict=True)
        return every(algebra.equal(one, other) for one, other in sides) or None
    left, right = (Node("+", (r.left, Node("neg", (r.right,)))) for r in (reference, answer))
    return _equal(left, right, means, scaled=True)


def _as_relation(leaf: Leaf) -> Relation | None:
    """``y = 2x + 1``, which reads as a named value, as an equation."""
    name = read_formula(leaf.name) if leaf.name else None
    return Relation(leaf.text, name, leaf.formula) if name and leaf.formula else None


def _groups(reference: Group, answer: Group, means: Means) -> bool | None:
    wanted, given = reference.items, answer.items
    if len(wanted) != len(given):
        shown = is_read(reference) and is_read(answer) and reference.ordered == answer.ordered
        return False if shown else None
    names = _names(wanted), _names(given)
    if all(names):
        if sorted(names[0]) != sorted(names[1]):
            return every(map(_same(means), wanted, given)) or None
        return every(map(_same(means), _by_name(wanted), _by_name(given)))
    if any(names):
        # (3, 2) and y = 2, x = 3: coordinates have an order of their own, other names have not,
        # and only a match is shown.
        if all(name in _COORDINATES for name in names[0] or names[1]):
            wanted, given = _by_name(wanted), _by_name(given)
        return every(map(_same(means), wanted, given)) or None
    in_order = every(map(_same(means), wanted, given))
    if reference.ordered or in_order:
        return in_order
    if answer.ordered:
        return None  # parts, where the reference lists its answers
    return _in_any_order(wanted, given, means)


def _same(means: Means) -> Callable[[Value, Value], bool | None]:
    return lambda wanted, given: same_value(wanted, given, means)


def _names(items: tuple[Value, ...]) -> list[str]:
    """The names of the values, where each has one of its own."""
    names = [item.name for item in items if isinstance(item, Leaf) and item.name]
    return names if len({*names}) == len(items) else []


def _by_name(items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Sorted by name; values without one stay as they are."""
    return tuple(sorted(items, key=lambda item: item.name if isinstance(item, Leaf) else ""))


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
