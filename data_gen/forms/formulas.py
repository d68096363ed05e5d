"""Expressions and equations: other notations, terms, factors and sides in another order."""

from __future__ import annotations

import random
import re
from typing import Final

from data_gen.forms import numbers, quantity
from data_gen.forms.base import HAN, Answer, distinct, in_math
from data_gen.forms.edits import REACTION, formula_edits, numeral_edits, sign_edits, without_a_term
from data_gen.forms.render import Notation, UnwritableError, render
from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.text import fold
from gradegpt.answers.values import split_top

_NAME: Final = re.compile(r"\\?[A-Za-zα-ω]+(?:_\{?\w+\}?|[₀-₉ₙ])?(?:\s*\([^()=]{1,8}\))?'*")
_IN_WORDS: Final = re.compile(r"[\u3400-\u9fff$]|(?:^|[ -])(?!sqrt)[a-z]{3,}(?![a-z(])")
_PROSE: Final = re.compile(
    r"(?<![\\A-Za-z{])(?!sin|cos|tan|log|sqrt|exp|arc|lim|max|min)[A-Za-z]{4,}"
)
_NAMES: Final = re.compile(r"[A-Z]{2}|\\(?:mathrm|text|rm|overrightarrow|vec)|~")
"""Letters that stand for one thing, such as the segment AB or a unit, and are no product."""
_MAX: Final = 120
_ARROW: Final = re.compile(r"\s*(?:=+|→|⟶|-+>|\\(?:right|longright)arrow|\\to(?![a-z]))\s*")
_INDICES: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_POWER: Final = re.compile(r"\^(?:\{[23]\}|[23](?!\d))")
_RAISED: Final = str.maketrans({"²": "^2", "³": "^3"})


def same(rng: random.Random, answer: Answer) -> list[str]:
    """The formula, or the equation, written otherwise."""
    text = answer.text
    if len(text) > _MAX or HAN.search(text):
        return []
    if REACTION.search(text):
        return _reaction(text)
    if "matrix}" in text:
        return _matrix(text)
    sides = [s.strip() for s in split_top(text, "=")]
    if len(sides) == 1:
        return [*respaced(text), *_notations(rng, text), *numbers.same(rng, answer)]
    if len(sides) == 2 and all(sides):
        return _equation(rng, answer, *sides)
    return respaced(text)


def respaced(text: str) -> list[str]:
    """With dollars, powers as ``^`` or raised, and other blanks."""
    made = [in_math(text), text.translate(_RAISED), _POWER.sub(_raise, text)]
    made.append(re.sub(r"(?<=[\w)²³])\s*([-+=])\s*(?=[\w(√\\])", r" \1 ", text))
    if not re.search(r"[A-Za-z]\s+[A-Za-z\d]", text):
        made.append(re.sub(r"(?<=[\w)²³])\s+([-+=])\s+", r"\1", text))
    return [*made, in_math(made[1])]


def _raise(match: re.Match[str]) -> str:
    return "²" if "2" in match[0] else "³"


def _notations(rng: random.Random, text: str) -> list[str]:
    tree = None if _NAMES.search(text) else read_formula(fold(text).strip())
    if tree is None:
        return []
    made = _written(rng, tree)
    return [*made, *(in_math(m) for m in made[:3])]


def _written(rng: random.Random, tree: Node) -> list[str]:
    made = []
    for notation in Notation:
        for order in (None, rng, rng):
            try:
                made.append(render(tree, notation, order))
            except UnwritableError:
                break
    return distinct(made)


def _equation(rng: random.Random, answer: Answer, left: str, right: str) -> list[str]:
    spaced = re.sub(r"\s*=\s*", " = ", answer.text)
    made = [*respaced(answer.text), spaced, spaced.replace(" = ", "=")]
    if _NAME.fullmatch(left):
        forms = _side(rng, answer, right)
        made += [f"{left}={form}" for form in forms]
        made += [in_math(f"{left}={form}") for form in forms[:4]]
        if len(left) == 1 and (number := quantity.read(right)) is not None:
            made += [right, in_math(right), f"{right}={left}", *forms]
            return [*made, *numbers.spelled_out(number.number)]
    made += [f"{right}={left}", f"{right} = {left}", in_math(f"{right}={left}")]
    named = _NAMES.search(answer.text) is not None
    trees = [None if named else read_formula(fold(side)) for side in (left, right)]
    if trees[0] is not None and trees[1] is not None:
        made += _moved(rng, trees[0], trees[1])
    return made


def _side(rng: random.Random, answer: Answer, side: str) -> list[str]:
    part = answer.part(side)
    number = quantity.read(side) is not None
    forms = numbers.same(rng, part) if number else _notations(rng, side)
    return [form for form in forms if not _IN_WORDS.search(form)]


def _moved(rng: random.Random, left: Node, right: Node) -> list[str]:
    """Both sides in other notations, turned in sign, and all on one side."""
    zero = right.op == "num" and not right.value
    made = []
    for notation in Notation:
        try:
            shown = [render(side, notation, rng) for side in (left, right)]
            turned = [render(Node("neg", (side,)), notation) for side in (left, right)]
            moved = render(Node("+", (left, Node("neg", (right,)))), notation)
        except UnwritableError:
            continue
        made += [f"{shown[0]}={shown[1]}", f"{shown[1]}={shown[0]}"]
        made += [f"{turned[0]}={'0' if zero else turned[1]}"] if left.op == "+" else []
        made += [] if zero else [f"{moved}=0"]
    return made


def _matrix(text: str) -> list[str]:
    """Other brackets, and other blanks between the entries."""
    other = ("p", "b") if "pmatrix" in text else ("b", "p")
    made = [text, text.replace(f"{other[0]}matrix", f"{other[1]}matrix")]
    made += [re.sub(r"\s*(\\\\|&)\s*", r"\1", m) for m in made]
    return [*made, *(in_math(m) for m in made)]


def _reaction(text: str) -> list[str]:
    """Another arrow, other indices, reagents in the other order; never the sides exchanged."""
    found = _ARROW.search(text)
    if found is None or len(_ARROW.findall(text)) > 1:
        return []
    before, after = text[: found.start()].strip(), text[found.end() :].strip()
    turned = " + ".join(re.split(r"\s*\+\s*", before)[::-1])
    arrows = ("=", " = ", "→", " → ", " -> ")
    made = [f"{left}{arrow}{after}" for arrow in arrows for left in (before, turned)]
    flat = [m.translate(_INDICES) for m in made[:6:2]]
    latex = re.sub(r"([₀-₉])", lambda m: f"_{m[1].translate(_INDICES)}", f"{before} = {after}")
    arrowed = latex.replace(" = ", " \\rightarrow ")
    return [*made, *flat, f"${arrowed}$", f"${latex}$"]


def near(rng: random.Random, answer: Answer) -> list[str]:
    """Another coefficient, sign, exponent or function, or a term less, in the answer's notation."""
    text = answer.text
    if len(text) > _MAX:
        return []
    made = numeral_edits(rng, text)
    if _PROSE.search(text):
        return made
    made += [*sign_edits(rng, text), *without_a_term(text)]
    # What cannot be read cannot be told from itself with two unknowns exchanged: \vec{a}+\vec{b}.
    known = all(read_formula(fold(side).strip()) is not None for side in text.split("="))
    return [*made, *formula_edits(rng, text)] if known else made
