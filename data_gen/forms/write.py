"""Write an answer: the inverse of ``read``, in every style that ``styles`` yields for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from gradegpt.answers import units
from gradegpt.answers.answer import Answer, difference
from gradegpt.answers.formula import Node
from gradegpt.answers.options import HAN_ORDINALS, ORDINALS
from gradegpt.answers.text import CIRCLED
from gradegpt.answers.types import (
    Group,
    Leaf,
    Options,
    Range,
    Region,
    Relation,
    Truth,
    Value,
)
from gradegpt.answers.words import SYNONYMS, TREND, Words

from .choices import write_options
from .numbers import Digits, closed_form, spell, write_number
from .regions import write_region
from .render import Notation, UnwritableError, render
from .style import Style

HAN: Final = re.compile(r"[\u3400-\u9fff]")
_MARKS: Final = (CIRCLED, HAN_ORDINALS, "123456789")
MAX_MARKS: Final = 9
_NAMED: Final = ORDINALS[:3]
COORDINATES: Final = "xyz"


def write(answer: Answer, style: Style, question: str = "") -> str:
    """The answer in that style; ``question`` has the texts of the options.

    Raises:
        UnwritableError: The style cannot write this answer.

    """
    return style.wrapper.replace("{}", _body(answer, style, question))


def _body(answer: Answer, style: Style, question: str) -> str:
    value = answer.value
    if isinstance(value, Options):
        return write_options(value, style.form, style.joint, style.last, question)
    if isinstance(value, Truth):
        return style.form.split("|")[not value.holds]
    if isinstance(value, Words):
        said = answer.text or value.text
        return (style.form or "{}").replace("{}", with_synonyms(said, style.variant))
    return write_value(value, style)


def write_value(value: Value, style: Style) -> str:
    """A mathematical value in that style.

    Raises:
        UnwritableError: The style cannot write it.

    """
    match value:
        case Leaf():
            return _leaf(value, style)
        case Relation():
            return _equation(value.left, value.right, style)
        case Region():
            return write_region(value, lambda end: _number(end, style), style)
        case Range():
            ends = (Leaf("", "", end) for end in (value.low._replace(unit=""), value.high))
            return " to ".join(_amount(end, style) for end in ends)
        case Group():
            return _group(value, style)


def with_synonyms(text: str, variant: int) -> str:
    """The text with each word for a trend replaced by the ``variant``-th synonym after it."""

    def other(match: re.Match[str]) -> str:
        group = SYNONYMS[match[0]]
        return group[(group.index(match[0]) + variant) % len(group)]

    return TREND.sub(other, text)


def variants(text: str) -> int:
    """The number of variants of the text that ``with_synonyms`` can write."""
    return max((len(SYNONYMS[word]) for word in TREND.findall(text)), default=1)


# --- one value ------------------------------------------------------------------------------------


def _leaf(leaf: Leaf, style: Style) -> str:
    zero = difference(leaf) if style.form in ("turned", "zero") else None
    if zero is not None and style.form == "zero":
        return _equation(zero.args[0], zero.args[1].args[0], style)
    shown = _amount(leaf, style)
    if zero is not None:
        shown = f"{shown}{style.equals}{leaf.name}"
    elif style.form == "named" and leaf.name:
        shown = f"{leaf.name}{style.equals}{shown}"
    return style.math.replace("{}", shown)


def _equation(left: Node, right: Node, style: Style) -> str:
    sides = [left, right]
    if style.form == "zero":
        sides = [Node("+", (left, Node("neg", (right,)))), Node("num", value=Fraction(0))]
    shown = [_formula(side, style) for side in sides]
    shown = shown[::-1] if style.form == "turned" else shown
    return style.math.replace("{}", style.equals.join(shown))


def _formula(node: Node, style: Style) -> str:
    text = render(node, style.notation)
    return re.sub(r"(?<=[\w)²³}])([-+])(?=[\w(√\\])", r" \1 ", text) if style.spaced else text


def _amount(leaf: Leaf, style: Style) -> str:
    """The number with its unit, or the formula, or the text."""
    amount = leaf.quantity
    if amount is None:
        return leaf.text if leaf.formula is None else _formula(leaf.formula, style)
    value, unit = amount.value, style.unit
    if unit is None:
        tight = not amount.unit[:1].isascii() or amount.unit[:1] in "%°"
        unit = f"{'' if tight else ' '}{amount.unit}" if amount.unit else ""
    elif unit and amount.unit:
        factor = units.factor(amount.unit, unit.strip())
        if factor is None:
            raise UnwritableError(f"{amount.unit} cannot be converted to {unit.strip()}")
        value *= factor
    if leaf.formula is not None and not amount.unit and not isinstance(value, Fraction):
        return _formula(leaf.formula, style)
    if isinstance(value, complex):
        raise UnwritableError("a complex number without a formula")
    shown = _number(value, style)
    return ("两" if shown == "二" and HAN.match(unit) else shown) + _unit(unit, style)


def _unit(unit: str, style: Style) -> str:
    if not style.latex or not unit:
        return unit
    if unit.strip() == "°":
        return "^\\circ"
    return f"{chr(92)} \\mathrm{{{unit.strip()}}}" if unit.isascii() else unit


def _number(value: Fraction | float, style: Style) -> str:
    """A number in digits or words; an irrational one as a formula."""
    if not isinstance(value, Fraction):
        return _formula(closed_form(value), style)
    if style.digits not in (Digits.WORDS, Digits.PARTS):
        code = style.notation is Notation.CODE
        return write_number(value, style.digits, latex=style.latex, code=code)
    text = spell(value, chinese=style.chinese, parts=style.digits is Digits.PARTS)
    if text is None:
        raise UnwritableError(f"{value} is too long in words")
    return text


# --- several values -------------------------------------------------------------------------------


def join(texts: Sequence[str], style: Style) -> str:
    """The texts with the style's separators between them."""
    if style.last and len(texts) > 1:
        return f"{style.joint.join(texts[:-1])}{style.last}{texts[-1]}"
    return style.joint.join(texts)


_LABELS: Final = ("each", "once", "indexed", "pm")
_TUPLES: Final = {
    "tuple": "({})", "named": "{}", "wide": "（{}）", "left": "\\left({}\\right)",
    "coordinates": "(#) = ({})",
}  # fmt: skip
"""Templates for the items; # is for the names of the coordinates."""


def _group(group: Group, style: Style) -> str:
    if group.ordered:
        return _tuple(group, style) if style.form in _TUPLES else _parts(group, style)
    if not group.items:
        return "\\varnothing" if style.latex else "∅"
    if style.form in _LABELS:
        return _named(group, style)
    braces = "\\{{}\\}" if style.latex else "{{}}"
    frames = {
        "braces": braces,
        "member": f"{style.name}{style.element}{braces}",
        "words": "由{}组成的集合" if style.chinese else "the set of {}",
    }
    items = [_inner(item, style) for item in group.items]
    return frames.get(style.form, "{}").replace("{}", join(items, style))


def _tuple(group: Group, style: Style) -> str:
    items = [_inner(item, style) for item in _by_name(group.items)]
    names = COORDINATES[: len(items)]
    if style.form == "named":
        items = [f"{n}{style.equals}{i}" for n, i in zip(names, items, strict=True)]
    frame = _TUPLES[style.form].replace("#", ", ".join(names))
    return frame.replace("{}", join(items, style))


def _by_name(items: tuple[Value, ...]) -> list[Value]:
    """The items in the order of their coordinates, without those names."""
    leaves = [i for i in items if isinstance(i, Leaf) and i.name and i.name in COORDINATES]
    if len(leaves) < len(items):
        return [*items]
    return [i._replace(name="") for i in sorted(leaves, key=lambda i: i.name)]


def _parts(group: Group, style: Style) -> str:
    items = [_inner(item, style) for item in group.items]
    return join([mark(n, style.form) + item for n, item in enumerate(items)], style)


def mark(n: int, first: str) -> str:
    """The mark of part ``n``, counted from 0, if that of the first part is ``first``.

    Raises:
        UnwritableError: There is no mark of this kind for so many parts.

    """
    if first and n >= (len(_NAMED) if "first" in first else MAX_MARKS):
        raise UnwritableError(f"part {n + 1}: there are no marks like {first!r} for it")
    if "first" in first:
        return first.replace("first", _NAMED[n])
    return first and first.translate({ord(marks[0]): marks[n] for marks in _MARKS})


def _named(group: Group, style: Style) -> str:
    """``x=1 or x=2``, ``x=1 or 2``, ``x_1=1, x_2=2``, ``x=±2``."""
    stated = next((i.name for i in group.items if isinstance(i, Leaf)), "")
    name = re.sub(r"_?\{?\d\}?$", "", stated) or style.name
    items = [_inner(item, replace(style, form="", math="{}")) for item in group.items]
    if style.form == "pm":
        items = [("\\pm " if style.latex else "±") + items[0].lstrip("-")]
    elif style.form == "once":
        return f"{name}{style.equals}{join(items, style)}"
    names = [f"{name}_{n}" if style.form == "indexed" else name for n in range(1, len(items) + 1)]
    each = [f"{n}{style.equals}{item}" for n, item in zip(names, items, strict=True)]
    return join([style.math.replace("{}", e) for e in each], style)


def _inner(value: Value, style: Style) -> str:
    """A value inside a group: a tuple in brackets, several values joined by a word."""
    inner = replace(style, form="", last="", joint=", ", wrapper="{}")
    match value:
        case Group(ordered=True):
            return style.math.replace("{}", _tuple(value, replace(inner, form="tuple", math="{}")))
        case Group():
            return _group(value, replace(inner, joint="和" if style.chinese else " and "))
        case Region():
            return style.math.replace("{}", write_value(value, replace(inner, form="brackets")))
        case Leaf() if value.name and not style.form and not isinstance(value.quantity, tuple):
            return write_value(value, replace(inner, form="named"))
        case _:
            return write_value(value, inner)
