"""Compare two values: numbers, formulas, equations, regions, and groups of these."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from gradegpt.answers import algebra, units
from gradegpt.answers.formula import Node, read_formula, variables
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import plain
from gradegpt.answers.types import Group, Leaf, Piece, Quantity, Range, Region, Relation, Value
from gradegpt.answers.values import is_read
from gradegpt.rules.compare.base import Criteria, every

_COORDINATES: Final = ("x", "y", "z")
_PERCENT = re.compile(
    r"\b(?:what|which|how many|as an?|in|find the) (?:[a-z]+ ){0,3}percent(?:age)?s?\b"
    r"|\bpercentage of\b|\bwhat %|\bin %|百分之几|百分比|百分率",
    re.IGNORECASE,
)
"""Questions whose answer is a percentage, not those that only contain one."""
_STEPS: Final = tuple(x for n in (10, 100, 1000, 60, 3600) for x in (n, 1 / n))
"""Common factors between two units of the same dimension."""
_FACTOR = re.compile(r"(?P<number>-?\d*\.\d+|-?\d+)\*?(?P<rest>(?![\d.^/!]).+)")
_SCALES: Final = tuple(10.0**n for n in (-12, -9, -8, -6, -4, -3, 3, 4, 6, 8, 9, 12))
_LARGE = re.compile(r"thousand|million|billion|trillion|[千万亿]", re.IGNORECASE)
_TIMES: Final = re.compile(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])")
_DEGREES: Final = {"°", "degree", "degrees", "度"}
_BY_ZERO = re.compile(r"(?:[A-Za-z]|[\w})]\s)0(?![\d.])|[\w})]\s*\(0\)|\d\s+\d")
"""Texts that computer algebra would read as products with 0: g_s0, a value at 0, 9 000."""
_WORDS = re.compile(r"[\u3400-\u9fff#∈]|(?<![A-Za-z\\])[A-Za-z]{4,}|\\(?:begin|text)")


def same_value(reference: Value, answer: Value, criteria: Criteria) -> bool | None:
    """Whether the two values are the same; None if that cannot be shown."""
    match reference, answer:
        case Leaf(), Leaf():
            return _leaves(reference, answer, criteria)
        case Region(), Region():
            return _regions(reference, answer)
        case Group(), Group():
            return _groups(reference, answer, criteria)
        case Relation(), Relation():
            return _relations(reference, answer)
        case (Region(pieces=()), Group(items=items)) | (Group(items=items), Region(pieces=())):
            return not items
        case Group(), Leaf() if _is_one_of_several(reference, answer, criteria):
            return False
        case Range(), Range():
            ends = ((reference.low, answer.low), (reference.high, answer.high))
            return every(same_quantity(wanted, given, criteria) for wanted, given in ends)
        case Range(), Leaf() if answer.quantity is not None:
            return _outside(reference, answer.quantity, criteria)
        case (Leaf() as leaf, Relation() as relation) | (Relation() as relation, Leaf() as leaf):
            named = _as_relation(leaf)
            return None if named is None else _relations(named, relation)
        case _:
            return None


def _outside(reference: Range, given: Quantity, criteria: Criteria) -> bool | None:
    """False for a quantity outside of the range; None for one inside, which may be meant."""
    low, high = (same_quantity(end, given, criteria) for end in (reference.low, reference.high))
    ends = [complex(end.value).real for end in (reference.low, reference.high)]
    beyond = not ends[0] <= complex(given.value).real <= ends[1]
    return False if beyond and low is False and high is False else None


def _is_one_of_several(reference: Group, answer: Leaf, criteria: Criteria) -> bool:
    """Whether the answer is one value and the reference several different ones."""
    names = {item.name for item in reference.items if isinstance(item, Leaf)}
    if not is_read(answer) or not is_read(reference) or answer.name not in names | {""}:
        return False
    if _has_unknowns(answer):
        return False  # 6i - 3j + k may well be (6, -3, 1)
    first, *rest = reference.items
    alike = (same_value(first, other, criteria) for other in rest)
    return bool(rest) and all(result is False for result in alike)


def _leaves(reference: Leaf, answer: Leaf, criteria: Criteria) -> bool | None:
    if criteria.names_matter and reference.name and answer.name and reference.name != answer.name:
        left, right = _as_relation(reference), _as_relation(answer)
        return (_relations(left, right) or None) if left and right else None
    measured = reference.quantity is not None and reference.quantity.unit
    if plain(reference.text) == plain(answer.text) and plain(answer.text) and not measured:
        return True
    if reference.quantity is not None and answer.quantity is not None:
        same = same_quantity(reference.quantity, answer.quantity, criteria)
        if same is not False or not (_has_unknowns(reference) or _has_unknowns(answer)):
            return same
    if reference.formula is None or answer.formula is None:
        return criteria.prove(reference.text, answer.text) if _provable(reference, answer) else None
    same = algebra.equal(reference.formula, answer.formula)
    if same is False and (rounded := _same_but_for_the_factor(reference.text, answer.text)):
        return criteria.tolerance.allows(*rounded)
    if same is False and (products := _as_products(reference.text, answer.text)):
        return algebra.equal(*products) or same
    return same


def _same_but_for_the_factor(reference: str, answer: str) -> tuple[Quantity, Quantity] | None:
    """The factors of two formulas that are otherwise the same text: 0.85c and 0.847c."""
    factors = [_FACTOR.match(plain(text)) for text in (reference, answer)]
    if not all(factors) or len({factor["rest"] for factor in factors if factor}) > 1:
        return None
    made = [quantity(factor["number"]) for factor in factors if factor]
    return (made[0], made[1]) if made[0] and made[1] else None


def _as_products(left: str, right: str) -> tuple[Node, Node] | None:
    """Both formulas with x between numbers as ×: 2x(5+4); None if neither has such an x."""
    replaced = [_TIMES.sub("×", text) for text in (left, right)]
    if replaced == [left, right] or any(re.search("[xX]", text) for text in replaced):
        return None
    trees = [read_formula(text) for text in replaced]
    return (trees[0], trees[1]) if trees[0] and trees[1] else None


def _provable(reference: Leaf, answer: Leaf) -> bool:
    """Whether computer algebra may decide: two LaTeX formulas without words."""
    texts = (reference.text, answer.text)
    return all("\\" in t and not _WORDS.search(t) and not _BY_ZERO.search(t) for t in texts)


def _has_unknowns(leaf: Leaf) -> bool:
    """Whether the leaf is a formula with unknowns, whose number is only one of two readings."""
    has_unit = leaf.quantity is not None and leaf.quantity.unit
    return leaf.formula is not None and not has_unit and bool(variables(leaf.formula))


def same_quantity(wanted: Quantity, given: Quantity, criteria: Criteria) -> bool | None:
    """Whether the numbers agree within the tolerance, after conversion if both have units."""
    if wanted.unit and given.unit:
        factor = units.factor(given.unit, wanted.unit)
        if factor is None:
            return None
        if factor != 1:
            given = given._replace(value=given.value * factor, place=None)
    if {wanted.unit, given.unit} & _DEGREES and "" in (wanted.unit, given.unit):
        radians = [q.value * math.pi / 180 if q.unit else q.value for q in (wanted, given)]
        if algebra.close(*radians):
            return None  # 45° and π/4
    allowed = criteria.tolerance.allows(wanted, given)
    if allowed is not False:
        return allowed
    if _may_be_converted(wanted, given) or _may_be_scaled(wanted, given, criteria.question):
        return None
    if wanted.percent == given.percent:
        return False
    hundredfold = [q if q.percent else _hundredth(q) for q in (wanted, given)]  # 18 for 18 %
    allowed = criteria.tolerance.allows(*hundredfold)
    return allowed if allowed is False or _asks_for_percent(criteria.question) else None


def _hundredth(number: Quantity) -> Quantity:
    place = None if number.place is None else number.place / 100
    return number._replace(value=number.value / 100, place=place)


def _may_be_converted(wanted: Quantity, given: Quantity) -> bool:
    """Whether only one has a unit, and the other may be in another unit: 5 and 500 cm."""
    if bool(wanted.unit) is bool(given.unit) or not units.known(wanted.unit or given.unit):
        return False
    ratio = abs(complex(given.value)) / (abs(complex(wanted.value)) or 1)
    return any(algebra.close(ratio, step) for step in _STEPS)


def _may_be_scaled(wanted: Quantity, given: Quantity, question: str) -> bool:
    """Whether one may be in the thousands or millions of the question: 405 and 405 million."""
    ratio = abs(complex(given.value)) / (abs(complex(wanted.value)) or 1)
    scales = any(algebra.close(ratio, step) for step in _SCALES)
    return scales and _LARGE.search(question) is not None


def _asks_for_percent(question: str) -> bool:
    return bool(_PERCENT.search(question))


def _regions(reference: Region, answer: Region) -> bool:
    if len(reference.pieces) != len(answer.pieces):
        return False
    return all(map(_same_piece, reference.pieces, answer.pieces))


def _same_piece(a: Piece, b: Piece) -> bool:
    ends = algebra.close(a.low, b.low) and algebra.close(a.high, b.high)
    return ends and (a.low_in, a.high_in) == (b.low_in, b.high_in)


def _relations(reference: Relation, answer: Relation) -> bool | None:
    if not any(map(variables, (*reference[1:], *answer[1:]))):  # an identity has no other form
        sides = zip(reference[1:], answer[1:], strict=True)
        return every(algebra.equal(one, other) for one, other in sides) or None
    left, right = (Node("+", (r.left, Node("neg", (r.right,)))) for r in (reference, answer))
    return algebra.equal(left, right, scaled=True)


def _as_relation(leaf: Leaf) -> Relation | None:
    """A named value such as ``y = 2x + 1`` as an equation."""
    name = read_formula(leaf.name) if leaf.name else None
    return Relation(leaf.text, name, leaf.formula) if name and leaf.formula else None


def _groups(reference: Group, answer: Group, criteria: Criteria) -> bool | None:
    wanted, given = reference.items, answer.items
    if len(wanted) != len(given):
        shown = is_read(reference) and is_read(answer) and reference.ordered == answer.ordered
        return False if shown else None
    names = _names(wanted), _names(given)
    if all(names):
        if sorted(names[0]) != sorted(names[1]):
            return every(map(_same(criteria), wanted, given)) or None
        return every(map(_same(criteria), _by_name(wanted), _by_name(given)))
    if any(names):
        # (3, 2) and y = 2, x = 3: coordinates have a fixed order, other names have none, and only
        # equality is shown.
        if all(name in _COORDINATES for name in names[0] or names[1]):
            wanted, given = _by_name(wanted), _by_name(given)
        return every(map(_same(criteria), wanted, given)) or None
    in_order = every(map(_same(criteria), wanted, given))
    if reference.ordered or in_order:
        return in_order
    if answer.ordered:
        return None  # the answer has parts, the reference a list
    return _in_any_order(wanted, given, criteria)


def _same(criteria: Criteria) -> Callable[[Value, Value], bool | None]:
    return lambda wanted, given: same_value(wanted, given, criteria)


def _names(items: tuple[Value, ...]) -> list[str]:
    """The names of the values if each has its own; else empty."""
    names = [item.name for item in items if isinstance(item, Leaf) and item.name]
    return names if len({*names}) == len(items) else []


def _by_name(items: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values sorted by name; those without a name keep their order."""
    return tuple(sorted(items, key=lambda item: item.name if isinstance(item, Leaf) else ""))


def _in_any_order(
    wanted: tuple[Value, ...], given: tuple[Value, ...], criteria: Criteria
) -> bool | None:
    left = list(given)
    unsure = False
    for item in wanted:
        results = [same_value(item, other, criteria) for other in left]
        if True in results:
            left.pop(results.index(True))
        elif all(result is False for result in results):
            return False
        else:
            unsure = True
    return None if unsure else True
