"""Equivalent forms of an answer, and hard negatives.

An equivalent form is the value of the answer in another style. A hard negative is another value in
the style of the answer, so that the notation does not reveal which one is right.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from gradegpt.answers import Answer, read
from gradegpt.answers.types import Group, Leaf, Relation
from gradegpt.core.schema import AnswerType
from gradegpt.rules.compare import compare

from ..forms import Digits, Notation, Style, UnwritableError, candidates, write
from ..forms.write import write_value
from .answer_text import AnswerText, is_known, is_phrase, notation_signs, strip_markup
from .edits import is_natural
from .equivalents import rearranged
from .hard_negatives import hard_negative_texts, style_of
from .texts import is_year, rewritten, unit_in_question

__all__ = [
    "negative_forms",
    "notation_signs",
    "parts_of",
    "same_forms",
]

_SURE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION)
"""Types for which the rules must prove a hard negative different: two formulas may be equal."""
_SAME_SIGNS: Final = (
    AnswerType.NUMBER,
    AnswerType.SET,
    AnswerType.INTERVAL,
    AnswerType.TUPLE,
    AnswerType.EXPRESSION,
    AnswerType.EQUATION,
)
_ASKS_PERCENT: Final = re.compile(r"\bwhat percent|百分之几", re.IGNORECASE)
_ROUND: Final = re.compile(r"保留|精确|约|近似|round|nearest|decimal|significant", re.IGNORECASE)
_MONEY: Final = re.compile(r"(?:\$|[￥¥])$")
AnswerForm = str | tuple[Answer, Style]
"""A text, or an answer and the style in which it is written when it is needed."""


def same_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Other forms of exactly this answer, each on one line; none of them is ``answer`` itself.

    They come in a random order and are compared lazily.
    """
    given, seen = answer.strip(), {answer.strip()}
    for form in _shuffled(rng, _forms(rng, AnswerText(answer, kind, question, chinese)), question):
        if form not in seen and "\n" not in form and _agrees(given, form, kind, question):
            seen.add(form)
            yield form


def negative_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Answers of the same type and notation that certainly differ, lazily in a random order."""
    left, body, right = strip_markup(answer)
    made = hard_negative_texts(rng, AnswerText(body, kind, question, chinese)) if body else []
    for other in rng.sample(made, len(made)):
        text = f"{left}{other}{right}"
        alike = kind not in _SAME_SIGNS or (
            notation_signs(other) == notation_signs(body) and is_natural(body, other)
        )
        if alike and text != answer.strip() and _differs(answer, text, kind, question):
            yield text


def parts_of(text: str) -> list[str]:
    """The parts of an answer with several parts, in its style; none where its style is unknown."""
    value = read(text, AnswerType.MULTI_PART).value
    style = style_of(text, AnswerType.MULTI_PART, "")
    if style is None or not isinstance(value, Group):
        return []
    bare = replace(style, form="", wrapper="{}", last="")
    return [write_value(item, _part_style(item, bare)) for item in value.items]


def _part_style(item: object, style: Style) -> Style:
    joint = "和" if style.chinese else " and "
    if isinstance(item, Group):
        return replace(style, form="tuple") if item.ordered else replace(style, joint=joint)
    return replace(style, form="brackets") if not isinstance(item, Leaf | Relation) else style


# --- forms ----------------------------------------------------------------------------------------


def _forms(rng: random.Random, given: AnswerText) -> list[AnswerForm]:
    """All candidate forms of the answer, most of them not written yet."""
    left, body, right = strip_markup(given.text)
    given = given._replace(text=body)
    if given.kind is AnswerType.CODE or not body:
        return []
    if is_year(body, given.question):
        return [f"{body}年", f"in {body}", f"the year {body}", f"${body}$"]
    answer = given.answer
    if not is_known(answer):
        return [body, *rewritten(body)]
    if is_phrase(answer):
        answer = read(body, AnswerType.TEXT, given.question)
    named = [s for s in candidates(answer, given.question) if _suits(s, given)]
    if _MONEY.search(left) and "$" not in right:
        return _in_money(answer, named, left)
    made: list[AnswerForm] = [body, *((answer, style) for style in named)]
    for other in rearranged(rng, answer):
        made += [(other, style) for style in named if style.form != "indexed"]
    return [*made, *_by_question(answer, given)]


def _suits(style: Style, given: AnswerText) -> bool:
    """Whether the question permits the style: no trailing zeros if it asks to round."""
    if style.digits is Digits.ZEROS and "." in given.text:
        return not _ROUND.search(given.question)
    return style.unit != "" or unit_in_question(given.question) != ""


def _in_money(answer: Answer, named: Iterable[Style], left: str) -> list[AnswerForm]:
    digits = (Digits.PLAIN, Digits.ZEROS, Digits.GROUPED)
    plain = [s for s in named if s.digits in digits and s.notation is Notation.PLAIN]
    texts = [write(answer, style) for style in plain]
    texts += [f"{text}0" for text in texts if text.endswith(".0")]
    name = " dollars" if "$" in left else "元"
    return [*(f"{left}{text}" for text in texts), *(f"{text}{name}" for text in texts)]


def _by_question(answer: Answer, given: AnswerText) -> list[AnswerForm]:
    """Forms of a number with and without the unit that the question asks for."""
    value = answer.value
    if not isinstance(value, Leaf) or value.quantity is None or given.kind is not AnswerType.NUMBER:
        return []
    amount, unit = value.quantity, unit_in_question(given.question)
    made: list[AnswerForm] = []
    if _ASKS_PERCENT.search(given.question) and not amount.unit:
        made += [f"{amount.value}%"] if str(amount.value).isdigit() else []
    if unit and not amount.unit:
        other = value._replace(quantity=amount._replace(unit=unit), formula=None)
        made += [(replace(answer, value=other), style) for style in (Style(), Style(unit=unit))]
    if unit and unit == amount.unit:
        bare = replace(answer, value=value._replace(quantity=amount._replace(unit="")))
        made += [(bare, style) for style in candidates(bare)]
    return made


def _shuffled(rng: random.Random, forms: list[AnswerForm], question: str) -> Iterator[str]:
    for form in rng.sample(forms, len(forms)):
        if isinstance(form, str):
            yield form.strip()
            continue
        try:
            yield write(*form, question)
        except UnwritableError:
            continue


# --- comparison by the rules ----------------------------------------------------------------------


def _agrees(answer: str, form: str, kind: AnswerType, question: str) -> bool:
    """Whether the rules do not call the two different, in either order."""
    pairs = ((answer, form), (form, answer))
    return all(_same(*pair, kind, question) is not False for pair in pairs)


def _differs(answer: str, other: str, kind: AnswerType, question: str) -> bool:
    """Whether the rules call the two different or, if they need not prove it, never the same."""
    if kind in _SURE:
        return _same(answer, other, kind, question) is False
    pairs = ((answer, other), (other, answer))
    return all(_same(*pair, kind, question) is not True for pair in pairs)


def _same(answer: str, other: str, kind: AnswerType, question: str) -> bool | None:
    pair = (read(text, kind, question) for text in (answer, other))
    return compare(*pair, question=question, tolerance="exact").same
