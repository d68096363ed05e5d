"""Compare two values: numbers, formulas, equations, regions, and groups of these."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from gradegpt.answers import algebra, units
from gradegpt.answers.answer import difference
from gradegpt.answers.formula import variables
from gradegpt.answers.options import asked_questions
from gradegpt.answers.quantity import quantity
from gradegpt.answers.text import fold, plain, signs
from gradegpt.answers.types import Group, Leaf, Quantity, Range, Region, Relation, Value
from gradegpt.answers.values import in_order, is_read
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare.base import Comparison, Criteria, every
from gradegpt.rules.compare.text import compare_text
from gradegpt.rules.cues import cue
from gradegpt.rules.tolerance import EXACT

_ASKED_UNIT = cue("asks for a unit")
_BLANKS = re.compile(r"(?:__|[(（]\s*[)）]).*\w.*(?:__|[(（]\s*[)）])", re.DOTALL)
"""Questions with several blanks, whose answers have an order."""
_JOINS: Final = str.maketrans("", "", "_{} \t\n")
_COORDINATES: Final = ("x", "y", "z")
_SORTED, _PERCENT, _SCALED = map(cue, ("asks to sort", "asks for a percentage", "large unit"))
_STEPS: Final = tuple(x for n in (10, 100, 1000, 60, 3600) for x in (n, 1 / n))
"""Common factors between two units of the same dimension."""
_NUMERAL = re.compile(r"(\d*\.\d+|\d+)")
_ZEROS: Final = 3
"""Least zeros by which a number in such a unit differs."""
_NEAR: Final = 0.05
"""Share by which an end that was rounded may differ."""
_TIMES = re.compile(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])")
"""A multiplication sign, or the name x."""
_DEGREES: Final = {"°", "degree", "degrees", "度"}
_BY_ZERO = re.compile(r"(?:[A-Za-z]|[\w})]\s)0(?![\d.])|[\w})]\s*\(0\)|\d\s+\d")
"""Texts that computer algebra would read as products with 0: g_s0, a value at 0, 9 000."""
_A_WORD = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{3,}")


def compare_values(kind: AnswerType, pair: tuple[Value, Value], criteria: Criteria) -> Comparison:
    """Compare two values of a type; the reason says if only a tolerance makes them equal."""
    wanted, given = pair
    each = isinstance(wanted, Group) and asked_questions(criteria.question) == len(wanted.items)
    if each or _SORTED.search(criteria.question):
        wanted, given = in_order(wanted), in_order(given)
    criteria = criteria._replace(names_matter=kind is AnswerType.EQUATION)
    sets = kind is AnswerType.SET and {type(wanted), type(given)} == {Group}
    if not sets and not isinstance(wanted, Region) and not isinstance(given, Region):
        wanted, given = _only(wanted), _only(given)
    same = same_value(wanted, given, criteria)
    words = {True: "equal", False: "different", None: "not-shown"}[same]
    exactly = same and same_value(wanted, given, criteria._replace(tolerance=EXACT))
    within = "-within-tolerance" if same and not exactly else ""
    return Comparison(same, f"{kind.value}:{words}{within}")


def _only(value: Value) -> Value:
    """The only value of a group of one, such as {5}; a set that holds one pair remains a set."""
    if isinstance(value, Group) and len(value.items) == 1:
        (item,) = value.items
        return value if isinstance(item, Group) else item
    return value


def same_value(reference: Value, answer: Value, criteria: Criteria) -> bool | None:
    """Whether the two values are the same; None if that cannot be shown."""
    match reference, answer:
        case Leaf(), Leaf():
            return _leaves(reference, answer, criteria)
        case Region(), Region():
            return _regions(reference, answer, criteria)
        case Group(), Group():
            return _groups(reference, answer, criteria)
        case (Region(pieces=()), Group(items=items)) | (Group(items=items), Region(pieces=())):
            return not items
        case Group(), Leaf() if _is_one_of_several(reference, answer, criteria):
            return False
        case Range(), Range():
            ends = ((reference.low, answer.low), (reference.high, answer.high))
            return every(same_quantity(wanted, given, criteria) for wanted, given in ends)
        case Range(), Leaf(quantity=Quantity() as given):
            limits = (reference.low, reference.high)
            low, high, value = (complex(q.value).real for q in (*limits, given))
            near = any(same_quantity(end, given, criteria) is not False for end in limits)
            return None if near or low <= value <= high else False  # one inside may be meant
        case ((Leaf() | Relation()), (Leaf() | Relation())):
            return _equations(reference, answer)
        case _:
            return None


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
        sides = difference(reference), difference(answer)
        unknowns = [variables(side) for side in sides if side]
        curves = len(unknowns) > 1 and len(unknowns[0]) > 1 and unknowns[0] == unknowns[1]
        applied = "(" in reference.name + answer.name  # y(x) is no product
        same = _equations(reference, answer)
        return same if curves and not applied else same or None
    if plain(reference.text) == plain(answer.text) != "":
        return True
    if reference.quantity is not None and answer.quantity is not None:
        wanted, given = reference.quantity, answer.quantity
        if not wanted.unit and (unit := _unit_asked(criteria.question, given.unit)):
            same = same_quantity(wanted._replace(unit=unit), given, criteria)
            return same if same is False or units.factor(given.unit, unit) == 1 else None
        same = same_quantity(wanted, given, criteria)
        if same is not False or not (_has_unknowns(reference) or _has_unknowns(answer)):
            return same
    if reference.formula is None or answer.formula is None:
        texts = (reference.text, answer.text)
        if all("\\" in t and not _BY_ZERO.search(t) for t in texts):
            return criteria.prove(*texts)
        words = not any(map(signs, texts)) and all(map(_A_WORD.search, texts))
        return compare_text(*texts).same if words else None
    same = algebra.equal(reference.formula, answer.formula)
    return _but_for_rounding(reference, answer, criteria) if same is False else same


def _but_for_rounding(reference: Leaf, answer: Leaf, criteria: Criteria) -> bool | None:
    """Whether two formulas differ only in numbers that round to one another: 0.85c and 0.847c.

    None if their values are so close that rounding may be the difference.
    """
    texts = [plain(leaf.text) for leaf in (reference, answer)]
    wanted, given = (_NUMERAL.split(text) for text in texts)
    if wanted[::2] == given[::2]:
        pairs = [(quantity(a), quantity(b)) for a, b in zip(wanted, given, strict=True) if a != b]
        return every(criteria.tolerance.allows(a, b) if a and b else None for a, b in pairs)
    left, right = reference.formula, answer.formula
    times = left and right and {*variables(left)} ^ {*variables(right)}
    if times and times <= {"x", "X"} and any(map(_TIMES.search, texts)):
        return None  # 2x(5+4)
    near = left and right and "." in texts[0] + texts[1] and algebra.near(left, right)
    return None if near else False


def _has_unknowns(leaf: Leaf) -> bool:
    """Whether the leaf is a formula with unknowns, whose number is only one of two readings."""
    measured = leaf.quantity is not None and leaf.quantity.unit
    return leaf.formula is not None and not measured and bool(variables(leaf.formula))


def same_quantity(wanted: Quantity, given: Quantity, criteria: Criteria) -> bool | None:
    """Whether the numbers agree within the tolerance, after conversion if both have units."""
    things = wanted.unit.isascii() is not given.unit.isascii()  # 150 pages and 150页
    if things and not any(units.known(q.unit) or units.named(q.unit) for q in (wanted, given)):
        given = given._replace(unit=wanted.unit)
    heat = None
    if wanted.unit and given.unit:
        factor = units.factor(given.unit, wanted.unit)
        exact = given.value if isinstance(given.value, Fraction) else None
        heat = None if exact is None else units.in_scale(exact, given.unit, wanted.unit)
        if heat is not None:
            given = given._replace(value=heat, place=given.place or Fraction(1))
        elif factor is None:
            return None
        elif factor != 1:
            place = None if given.place is None else given.place * factor
            given = given._replace(value=given.value * factor, place=place)
    allowed = criteria.tolerance.allows(wanted, given)
    if allowed is False and _may_be_scaled(wanted, given, criteria.question):
        return None
    if allowed is False and heat is not None and abs(complex(heat) - complex(wanted.value)) < 1:
        return None  # 2 °C is 275 K, rounded
    if allowed is not False:
        return allowed
    if wanted.percent == given.percent:
        return False
    hundredfold = [q if q.percent else _hundredth(q) for q in (wanted, given)]  # 18 for 18 %
    allowed = criteria.tolerance.allows(*hundredfold)
    return allowed if allowed is False or _PERCENT.search(criteria.question) else None


def _unit_asked(question: str, unit: str) -> str:
    """The unit of the same dimension in which the question asks for a number; empty if none."""
    for word in _ASKED_UNIT.finditer(question) if unit else ():
        at = units.unit_at(question, word.end())
        name = question[word.end() : at[1]].strip() if at else ""
        if name and units.factor(unit, name):
            return name
    return ""


def _hundredth(number: Quantity) -> Quantity:
    place = None if number.place is None else number.place / 100
    return number._replace(value=number.value / 100, place=place)


def _may_be_scaled(wanted: Quantity, given: Quantity, question: str) -> bool:
    """Whether one may be in another unit, 5 and 500 cm, or in the millions of the question."""
    if {wanted.unit, given.unit} & _DEGREES and "" in (wanted.unit, given.unit):
        radians = [q.value * math.pi / 180 if q.unit else q.value for q in (wanted, given)]
        if algebra.close(*radians):
            return True  # 45° and π/4
    ratio = abs(complex(given.value)) / (abs(complex(wanted.value)) or 1)
    zeros = round(math.log10(ratio)) if ratio else 0
    if abs(zeros) >= _ZEROS and _SCALED.search(question) and algebra.close(ratio, 10.0**zeros):
        return True
    converted = bool(wanted.unit) is not bool(given.unit)
    converted = converted and units.known(wanted.unit or given.unit)
    return converted and any(algebra.close(ratio, step) for step in _STEPS)


def _regions(reference: Region, answer: Region, criteria: Criteria) -> bool | None:
    """Whether the pieces are the same; None if ends may have been rounded."""
    if len(reference.pieces) != len(answer.pieces):
        return False
    pairs = list(zip(reference.pieces, answer.pieces, strict=True))
    if any((a.low_in, a.high_in) != (b.low_in, b.high_in) for a, b in pairs):
        return False
    ends = [(a, b) for one, other in pairs for a, b in zip(one[::2], other[::2], strict=True)]
    apart = [(float(a), float(b)) for a, b in ends if not algebra.close(a, b)]
    near = all((a % 1 or b % 1) and abs(a - b) <= _NEAR * min(abs(a), abs(b)) for a, b in apart)
    return not apart or (None if near else False)


def _equations(reference: Leaf | Relation, answer: Leaf | Relation) -> bool | None:
    left, right = difference(reference), difference(answer)
    if left is None or right is None:
        return None
    unknowns = variables(left) | variables(right)
    if not unknowns and isinstance(reference, Relation) and isinstance(answer, Relation):
        return None  # all identities hold
    same = algebra.equal(left, right, scaled=True)
    for one, zero in ((answer, left), (reference, right)):
        if same or not isinstance(one, Leaf) or one.formula is None:
            continue
        if one.name in variables(zero) - variables(one.formula):
            return algebra.solves(zero, one.name, one.formula)
    return same


def _groups(reference: Group, answer: Group, criteria: Criteria) -> bool | None:
    wanted, given = reference.items, answer.items
    if len(wanted) != len(given):
        shown = is_read(reference) and is_read(answer) and reference.ordered == answer.ordered
        return False if shown else None
    own = [sorted(v.name if isinstance(v, Leaf) else "" for v in side) for side in (wanted, given)]
    stems = {name.rstrip("_{}0123456789") for side in own for name in side}
    asked = fold(criteria.question).translate(_JOINS)
    fixed = own[0] == own[1] and any(name.translate(_JOINS) in asked for name in own[0])
    if len(stems) == 1 and "" not in stems and not fixed:  # x = 2 or x = 3; x₁ = 2, x₂ = 3
        return _in_any_order(wanted, given, criteria._replace(names_matter=False))
    names = _names(wanted), _names(given)
    if all(names):
        if sorted(names[0]) != sorted(names[1]):
            return _in_turn(wanted, given, criteria) or None
        return _in_turn(_by_name(wanted), _by_name(given), criteria)
    if any(names):
        # (3, 2) and y = 2, x = 3: coordinates have a fixed order, other names have none, so that
        # values in another order may be the same.
        if all(name in _COORDINATES for name in names[0] or names[1]):
            wanted, given = _by_name(wanted), _by_name(given)
        same = _in_turn(wanted, given, criteria)
        numbers = all(isinstance(item, Leaf) and item.quantity for item in (*wanted, *given))
        other = numbers and _in_any_order(wanted, given, criteria) is False
        return same or (False if other else None)
    in_order = _in_turn(wanted, given, criteria)
    if reference.ordered or in_order:
        return in_order
    if answer.ordered:
        return None  # the answer has parts, the reference a list
    same = _in_any_order(wanted, given, criteria)
    return None if same and _BLANKS.search(criteria.question) else same


def _in_turn(
    wanted: tuple[Value, ...], given: tuple[Value, ...], criteria: Criteria
) -> bool | None:
    return every(same_value(*pair, criteria) for pair in zip(wanted, given, strict=True))


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
