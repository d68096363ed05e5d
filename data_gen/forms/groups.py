"""Styles of several values: sets, tuples, answers in any order, parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Final

from gradegpt.answers.types import Group, Leaf, Region, Value

from .numbers import Digits
from .render import Notation
from .style import BOTH, DOLLARS, IN_WORDS, LATEX, MAX_BLANKS, Style, vary
from .write import COORDINATES, HAN

_FEW: Final = 4
"""The most answers that are joined by a word between each two of them."""
_MARKS: Final = (
    ("(1) ", "; "), ("(1) ", ", "), ("(1) ", " "), ("(1)", "；"), ("(1)", ";"), ("(1) ", "\n"),
    ("（1）", ""), ("（1）", "，"), ("（1）", "；"), ("(1)", ""), ("① ", " "), ("①", "；"),
    ("第一空", "，"), ("first: ", ", "), ("(1) ", "；"), ("（1）", " "), ("（1） ", "；"),
)  # fmt: skip
_LISTED: Final = (
    (", ", ""), ("、", ""), (",", ""), ("，", ""), ("; ", ""), ("、", "和"), (", ", " and "),
    (", ", " or "), ("或", ""), ("和", ""), (" or ", ""), (" and ", ""),
)  # fmt: skip
"""Separators between answers in any order, and before the last of them."""


def _items(values: Sequence[Value], *, each: bool) -> list[Style]:
    """The styles of the values in a group; with ``each``, also each between dollar signs."""
    leaves = [i for v in values for i in (v.items if isinstance(v, Group) else (v,))]
    broken = any(_is_broken(leaf) for leaf in leaves)
    formal = any(isinstance(x, Leaf) and x.formula is not None for x in leaves)
    if not formal:
        return [Style()]
    digits = (Digits.PLAIN, Digits.FRACTION)[: 1 + broken]
    made = [*vary([Style()], digits=digits, notation=(Notation.PLAIN, Notation.LATEX))]
    made += [replace(s, math=DOLLARS) for s in made if s.latex] if each else []
    return [*made, Style(notation=Notation.CODE), Style(notation=Notation.RAISED)]


def _is_broken(value: Value) -> bool:
    size = value.quantity.value if isinstance(value, Leaf) and value.quantity else 1
    return isinstance(size, Fraction) and size.denominator > 1


def of_tuple(group: Group) -> Iterator[Style]:
    """A tuple: in each kind of brackets, or by the names of its coordinates."""
    short = 2 <= len(group.items) <= len(COORDINATES)
    forms = ["tuple", "left", *(["named", "coordinates"] if short else [])]
    for style, form, joint in product(_items(group.items, each=False), forms, (",", ", ")):
        made = replace(style, form=form, joint=joint)
        for shown in vary([made], spaced=BOTH[: 1 + (form == "named")]):
            yield from (shown,) if form != "left" else ()
            yield from (replace(shown, wrapper=DOLLARS),) if style.latex else ()
        if form == "named" and joint == ",":
            yield replace(made, joint="，")
            yield replace(made, joint=" and ", spaced=True)
        elif form == "tuple" and not style.latex:
            yield replace(style, form="wide", joint="，")


def of_several(group: Group, braced: bool) -> Iterator[Style]:
    """A set, or answers in any order."""
    inside = _items(group.items, each=False)
    if not group.items:
        yield from (Style(), LATEX, replace(LATEX, wrapper=DOLLARS))
        return
    if not braced:
        yield from _answers(group)
    if len(inside) > 1 or braced:
        for made in vary(inside, form=("braces",), joint=(",", ", ")):
            yield from (made, replace(made, wrapper=DOLLARS)) if made.latex else (made,)
    if braced:
        plain = [s for s in inside if not s.latex]
        yield from vary(plain, form=("member",))
        if len(group.items) > 1:
            yield from (
                replace(s, form="words", joint="、", last="和", chinese=True) for s in plain
            )
            yield from (replace(s, form="words", last=" and ") for s in plain)
            yield from _answers(group)


def _answers(group: Group) -> Iterator[Style]:
    """Joined by a sign or a word, under a name, or two as ±."""
    inside = _items(group.items, each=True)
    if len(inside) < 2:
        texts = " ".join(i.text for i in group.items if isinstance(i, Leaf))
        last = " and " if texts.count(" ") < MAX_BLANKS else ""
        joints = (("、", ""), ("、", "和")) if HAN.search(texts) else ((", ", last),)
        yield from (Style(joint=joint, last=last) for joint, last in ((", ", ""), *joints))
        return
    among = [s for s in inside if not s.latex or s.math == DOLLARS]
    whole = [replace(s, wrapper=DOLLARS) for s in inside if s.latex and s.math != DOLLARS]
    few = len(group.items) <= _FEW
    for style, (joint, last) in product(among, _LISTED):
        if few or last or joint[0] in ",，、;":
            yield replace(style, joint=joint, last=last)
    signs = (", ", ",", "; ", *((" \\text{ or } ",) if few else ()))
    yield from vary(whole, joint=signs)
    names = {leaf.name[:1] for leaf in group.items if isinstance(leaf, Leaf)}
    if names == {""} or len(names) > 1 or any(isinstance(i, Group) for i in group.items):
        return
    for style in vary([*among, *whole], spaced=BOTH):
        yield from vary([style], form=("each", "indexed"))
        if few and not style.latex:
            yield from vary([style], form=("each", "once"), joint=("或", " or "))
    if _opposite(group):
        yield from (Style(form="pm"), replace(LATEX, form="pm", wrapper=DOLLARS))


def _opposite(group: Group) -> bool:
    """Whether these are two numbers that differ only in sign."""
    sizes = [i.quantity.value for i in group.items if isinstance(i, Leaf) and i.quantity]
    return len(sizes) == len(group.items) == 2 and sizes[0] == -sizes[1] != 0


def of_parts(group: Group) -> Iterator[Style]:
    """The parts of an answer: after marks of each kind, or joined by separators."""
    inside = [s for s in _items(group.items, each=True) if not s.latex or s.math == DOLLARS]
    for style, (form, joint) in product(inside, _MARKS):
        if joint or style.notation is not Notation.CODE:
            yield replace(style, form=form, joint=joint, chinese="（" in form or "第" in form)
    if not any(isinstance(i, Group | Region) for i in group.items):
        yield from vary(inside, joint=(", ", "; ", "；", "，", "、"))
    if all(isinstance(i, Leaf) and i.quantity for i in group.items):
        for form, joint in (("（1）", "；"), ("第一空", "，")):
            yield replace(IN_WORDS[1], form=form, joint=joint)
        for form, joint in (("(1) ", "; "), ("first: ", ", ")):
            yield replace(IN_WORDS[0], form=form, joint=joint)
        yield Style(form="(1) ", joint="; ", digits=Digits.ZEROS)
