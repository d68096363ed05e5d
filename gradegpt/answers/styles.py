"""Which styles can write an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Final

from gradegpt.answers import units
from gradegpt.answers.answer import Answer
from gradegpt.answers.numbers import Digits, decimal, digit_forms
from gradegpt.answers.options import options
from gradegpt.answers.render import Notation, UnwritableError
from gradegpt.answers.style import Style
from gradegpt.answers.types import (
    AnswerType,
    Group,
    Leaf,
    Options,
    Range,
    Region,
    Relation,
    Truth,
    Value,
    Words,
)
from gradegpt.answers.words import variants
from gradegpt.answers.write import COORDINATES, HAN, write

DOLLARS: Final = "${}$"
_LATEX: Final = Style(notation=Notation.LATEX)
_MAX_DIGITS: Final = 6
"""Digits of a number in a converted unit."""
_MAX_OPTION: Final = 60
_MAX_BLANKS: Final = 5
"""Blanks in a number in words: what has more reads as prose."""
_FEW: Final = 4
"""Answers that a word stands between, each from the next."""
_MAX_TOLD: Final = 80
"""Longest text of several options: a longer answer is not taken for nothing but one."""
_MAX_NAME: Final = 12
_SAYS: Final = re.compile(r"[，；、：\s是为]|^[因先会不向能有使]")
"""Signs of a Chinese text that is a statement rather than a name."""
_SENTENCE: Final = re.compile(
    r"^(?:it|it's|this|that|he|she|they|there|the answer)\b|\w+ (?:is|are|was|were) ", re.IGNORECASE
)
_WORDS: Final = (
    Style(digits=Digits.WORDS), Style(digits=Digits.WORDS, chinese=True),
    Style(digits=Digits.PARTS), Style(digits=Digits.PARTS, chinese=True),
)  # fmt: skip
_GROUPED: Final = re.compile(r"-?\d{1,3}(?:[,，、]\d{3})+(?:\.\d+)?")
"""Several numbers that look like one."""
TRUTHS: Final = (
    "正确|错误", "对|错", "√|×", "是|否", "成立|不成立", "True|False", "true|false", "T|F",
    "Yes|No", "correct|incorrect", "Correct|Incorrect", "right|wrong", "TRUE|FALSE", "yes|no",
    "说法正确|说法错误", "这个说法是对的|这个说法是错的", "该命题成立|该命题不成立",
    "The statement is true.|The statement is false.", "It is true|It is false",
    "That is correct.|That is incorrect.",
)  # fmt: skip
"""Pairs of words for true and false."""
_SINGLE: Final = (
    "{}", "({})", "{}.", "（{}）", "{})", "${}$", "选项{}", "选{}", "{}项", "{}选项", "option {}",
    "Option {}", "choice {}", "\\text{{}}", "选{}。",
)  # fmt: skip
_SEVERAL: Final = (
    ("", ""), ("、", ""), (",", ""), (", ", ""), (" ", ""), ("，", ""), ("、", "和"),
    (", ", " and "),
)  # fmt: skip
_KEYED: Final = (
    ("#. ", " "), ("#. ", "; "), ("#.", " "), ("(#) ", " "), ("", " "), ("", ", "), ("", "、"),
    ("", "; "), ("", ","),
)  # fmt: skip
_MARKS: Final = (
    ("(1) ", "; "), ("(1) ", ", "), ("(1) ", " "), ("(1)", "；"), ("(1)", ";"), ("(1) ", "\n"),
    ("（1）", ""), ("（1）", "，"), ("（1）", "；"), ("(1)", ""), ("① ", " "), ("①", "；"),
    ("第一空", "，"), ("first: ", ", "), ("(1) ", "；"), ("（1）", " "), ("（1） ", "；"),
)  # fmt: skip
_LISTED: Final = (
    (", ", ""), ("、", ""), (",", ""), ("，", ""), ("; ", ""), ("、", "和"), (", ", " and "),
    (", ", " or "), ("或", ""), ("和", ""), (" or ", ""), (" and ", ""),
)  # fmt: skip
"""Joints between answers in any order, and before the last of them."""


def styles(answer: Answer, question: str = "") -> Iterator[Style]:
    """The styles that write the answer, the plainest first."""
    return (style for style, _ in written(answer, question))


def written(answer: Answer, question: str = "") -> Iterator[tuple[Style, str]]:
    """Each of the styles with what it writes, no text twice."""
    seen: set[str] = set()
    several = isinstance(answer.value, Group)
    for style in candidates(answer, question):
        try:
            text = write(answer, style, question)
        except UnwritableError:
            continue
        prose = style.digits is Digits.WORDS and text.count(" ") > _MAX_BLANKS
        if text not in seen and not prose and not (several and _GROUPED.fullmatch(text)):
            seen.add(text)
            yield style, text


def candidates(answer: Answer, question: str = "") -> Iterable[Style]:
    """The styles for such answers; some may not be able to write this one."""
    match answer.value:
        case Options():
            return _of_options(answer.value, question)
        case Truth():
            return (Style(form=pair) for pair in TRUTHS)
        case Words():
            return _of_words(answer)
        case Region():
            return _of_region(answer.value)
        case Relation() | Leaf():
            return _of_one(answer.value, answer.kind is AnswerType.EQUATION)
        case Range():
            return (Style(), _LATEX)
        case Group(ordered=False):
            return _of_several(answer.value, answer.kind is AnswerType.SET)
        case Group():
            of = _of_tuple if answer.kind is AnswerType.TUPLE else _of_parts
            return of(answer.value)


# --- words and options ----------------------------------------------------------------------------


def _of_words(answer: Answer) -> Iterator[Style]:
    said = answer.said
    yield Style()
    if answer.kind is AnswerType.CODE or not said or len(said) > _MAX_OPTION or "\n" in said:
        return
    frames = _in_chinese(said) if HAN.search(said) else _in_english(said)
    for variant in range(variants(said)):
        yield from (Style(form=form, variant=variant) for form in ("{}", *frames))


def _in_chinese(said: str) -> tuple[str, ...]:
    if variants(said) > 1 and len(said) < 5:
        return ("{}。", "“{}”", *(() if said[0] == "会" else ("会{}", "{}了")))
    named = len(said) <= _MAX_NAME and not _SAYS.search(said)
    return ("{}。", "“{}”", *(("是{}", "是{}。", "即{}") if named else ()))


def _in_english(said: str) -> tuple[str, ...]:
    if variants(said) > 1 and len(said.split()) < 4 and said.split()[0].endswith(("s", "es")):
        return ("{}.", '"{}"', "It {}", "it {}.")
    told = _SENTENCE.search(said)
    return ("{}.", '"{}"', *(() if told else ("It is {}", "It's {}.", "that is {}")))


def _of_options(value: Options, question: str) -> Iterator[Style]:
    listed = options(question)
    if value.ordered:
        yield from (Style(form=form, joint=joint) for form, joint in _KEYED)
        return
    if value.letters[0].isdigit():
        shown = [(form, joint) for form in ("circled", "each") for joint in ("", "、", ", ")]
        yield from (Style(form=form, joint=joint) for form, joint in shown)
        return
    told = _are_told(value.letters, listed)
    if len(value.letters) == 1:
        yield from (Style(form=form) for form in _SINGLE)
        if listed:
            yield from (Style(form="place", joint=joint) for joint in ("个选项", "项", ""))
        forms = ("@", "@.", "#. @", "(#) @", "#、@", "#：@") if told else ()
        yield from (Style(form=form) for form in forms)
    else:
        yield from _of_several_options(value.letters, listed, told=told)


def _are_told(named: Sequence[str], listed: Mapping[str, str]) -> bool:
    """Whether the texts of the options are short and differ, so that they may stand for them."""
    short = all(0 < len(t) <= _MAX_OPTION and "\n" not in t for t in listed.values())
    together = sum(len(listed.get(x, "")) + 4 for x in named) < _MAX_TOLD
    differ = len({*listed.values()}) == len(listed)
    return short and together and differ and {*named} <= {*listed}


def _of_several_options(
    named: Sequence[str], listed: Mapping[str, str], *, told: bool
) -> Iterator[Style]:
    for joint, last in _SEVERAL:
        yield from (Style(form=form, joint=joint, last=last) for form in ("{}", "选{}", "选项{}"))
    yield Style(form="each", joint="")
    yield Style(form="options {}", last=" and ")
    if len(listed) == len(named) + 1 > 3 and {*named} < {*listed}:
        yield from (Style(form="except", joint=joint) for joint in ("、", ""))
    if told:
        texts = "".join(listed.values())
        joints = (("、", ""), ("、", "和")) if HAN.search(texts) else ((", ", " and "), ("; ", ""))
        yield from (Style(form="@", joint=joint, last=last) for joint, last in joints)


# --- one value ------------------------------------------------------------------------------------


def _of_one(value: Leaf | Relation, equation: bool) -> Iterator[Style]:
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
        yield from _WORDS if amount is not None and isinstance(amount.value, Fraction) else ()
        return
    bare = [s for s in bare if s.digits is not Digits.PERCENT and s.notation is not Notation.CODE]
    yield from bare
    for name in units.names(amount.unit):
        if name[0] == " " or isinstance(amount.value, Fraction):
            yield from (replace(s, unit=name) for s in bare if _fits(s, name))
        yield from (replace(s, unit=name) for s in _WORDS if _told_with(s, name))
    yield from _converted(amount.value, amount.unit)


def _formulas() -> list[Style]:
    plain = [Style(notation=n, spaced=s) for n in Notation for s in (False, True)]
    return [*plain, replace(_LATEX, dress=DOLLARS), replace(_LATEX, dress="\\({}\\)")]


def _in_digits(value: Fraction) -> Iterator[Style]:
    for digits in digit_forms(value):
        yield Style(digits=digits)
        if digits is Digits.SCIENTIFIC:
            yield Style(digits=digits, notation=Notation.CODE)
        if digits is Digits.FRACTION:
            yield replace(_LATEX, digits=Digits.DISPLAYED)
        if digits is not Digits.GROUPED:
            yield replace(_LATEX, digits=digits)
            yield replace(_LATEX, digits=digits, dress=DOLLARS)
            yield replace(_LATEX, digits=digits, dress="\\({}\\)")


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


# --- several values -------------------------------------------------------------------------------


def _items(values: Sequence[Value], *, each: bool) -> list[Style]:
    """The styles of values among others; with ``each``, between dollars one by one."""
    leaves = [i for v in values for i in (v.items if isinstance(v, Group) else (v,))]
    broken = any(_is_broken(leaf) for leaf in leaves)
    formal = any(isinstance(x, Leaf) and x.formula is not None for x in leaves)
    made = [Style()]
    if not formal:
        return made
    made.append(_LATEX)
    made += (
        [Style(digits=Digits.FRACTION), replace(_LATEX, digits=Digits.FRACTION)] if broken else []
    )
    made += [replace(s, math=DOLLARS) for s in made if s.latex] if each else []
    return [*made, Style(notation=Notation.CODE), Style(notation=Notation.RAISED)]


def _is_broken(value: Value) -> bool:
    size = value.quantity.value if isinstance(value, Leaf) and value.quantity else 1
    return isinstance(size, Fraction) and size.denominator > 1


def _of_tuple(group: Group) -> Iterator[Style]:
    short = 2 <= len(group.items) <= len(COORDINATES)
    forms = ["tuple", "left", *(["named", "coordinates"] if short else [])]
    for style, form, joint in product(_items(group.items, each=False), forms, (",", ", ")):
        for spaced in (False, True) if form == "named" else (False,):
            made = replace(style, form=form, joint=joint, spaced=spaced)
            if form != "left":
                yield made
            if style.latex:
                yield replace(made, dress=DOLLARS)
        if form == "named" and joint == ",":
            yield replace(style, form=form, joint="，")
            yield replace(style, form=form, joint=" and ", spaced=True)
        elif form == "tuple" and not style.latex:
            yield replace(style, form="wide", joint="，")


def _of_several(group: Group, braced: bool) -> Iterator[Style]:
    """A set, or answers in any order."""
    inside = _items(group.items, each=False)
    if not group.items:
        yield from (Style(), _LATEX, replace(_LATEX, dress=DOLLARS))
        return
    if not braced:
        yield from _answers(group)
    if len(inside) > 1 or braced:
        for style, joint in product(inside, (",", ", ")):
            made = replace(style, form="braces", joint=joint)
            yield from (made, replace(made, dress=DOLLARS)) if style.latex else (made,)
    if braced:
        plain = [s for s in inside if not s.latex]
        yield from (replace(s, form="member") for s in plain)
        if len(group.items) > 1:
            yield from (replace(s, form="told", joint="、", last="和", chinese=True) for s in plain)
            yield from (replace(s, form="told", last=" and ") for s in plain)
            yield from _answers(group)


def _answers(group: Group) -> Iterator[Style]:
    """Joined by a sign or a word, under a name, or two as ±."""
    inside = _items(group.items, each=True)
    if len(inside) < 2:
        texts = " ".join(i.text for i in group.items if isinstance(i, Leaf))
        last = " and " if texts.count(" ") < _MAX_BLANKS else ""
        joints = (("、", ""), ("、", "和")) if HAN.search(texts) else ((", ", last),)
        yield from (Style(joint=joint, last=last) for joint, last in ((", ", ""), *joints))
        return
    among = [s for s in inside if not s.latex or s.math == DOLLARS]
    whole = [replace(s, dress=DOLLARS) for s in inside if s.latex and s.math != DOLLARS]
    few = len(group.items) <= _FEW
    for style, (joint, last) in product(among, _LISTED):
        if few or last or joint[0] in ",，、;":
            yield replace(style, joint=joint, last=last)
    signs = (", ", ",", "; ", *((" \\text{ or } ",) if few else ()))
    yield from (replace(s, joint=j) for s, j in product(whole, signs))
    names = {leaf.name[:1] for leaf in group.items if isinstance(leaf, Leaf)}
    if names == {""} or len(names) > 1 or any(isinstance(i, Group) for i in group.items):
        return
    for style, spaced in product([*among, *whole], (False, True)):
        made = replace(style, spaced=spaced)
        yield from (replace(made, form=form) for form in ("each", "indexed"))
        if few and not style.latex:
            either = product(("each", "once"), ("或", " or "))
            yield from (replace(made, form=form, joint=joint) for form, joint in either)
    if _opposite(group):
        yield from (Style(form="pm"), replace(_LATEX, form="pm", dress=DOLLARS))


def _opposite(group: Group) -> bool:
    """Whether these are two numbers that differ in sign alone."""
    sizes = [i.quantity.value for i in group.items if isinstance(i, Leaf) and i.quantity]
    return len(sizes) == len(group.items) == 2 and sizes[0] == -sizes[1] != 0


def _of_parts(group: Group) -> Iterator[Style]:
    inside = [s for s in _items(group.items, each=True) if not s.latex or s.math == DOLLARS]
    for style, (form, joint) in product(inside, _MARKS):
        if joint or style.notation is not Notation.CODE:
            yield replace(style, form=form, joint=joint, chinese="（" in form or "第" in form)
    if not any(isinstance(i, Group | Region) for i in group.items):
        yield from (replace(s, joint=j) for s, j in product(inside, (", ", "; ", "；", "，", "、")))
    if all(isinstance(i, Leaf) and i.quantity for i in group.items):
        for form, joint in (("（1）", "；"), ("第一空", "，")):
            yield replace(_WORDS[1], form=form, joint=joint)
        for form, joint in (("(1) ", "; "), ("first: ", ", ")):
            yield replace(_WORDS[0], form=form, joint=joint)
        yield Style(form="(1) ", joint="; ", digits=Digits.ZEROS)


# --- regions --------------------------------------------------------------------------------------


def _of_region(region: Region) -> Iterator[Style]:
    if not region.pieces:
        yield from (Style(), _LATEX, replace(_LATEX, dress=DOLLARS))
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
