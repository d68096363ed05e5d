"""The same answer in other forms, and hard negatives that only reading tells from the answer.

A form is the answer's value in another style; a hard negative is another value, written in the
style that the answer is written in: nothing in its looks tells right from wrong.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from gradegpt.answers import Answer, Digits, Notation, Style, UnwritableError, read, write
from gradegpt.answers.options import letters
from gradegpt.answers.styles import candidates
from gradegpt.answers.types import Group, Leaf, Relation
from gradegpt.answers.write import write_value
from gradegpt.rules.compare import compare
from gradegpt.schema import CHOICE, AnswerType

from .asked import Asked, is_known, is_phrase
from .edits import is_natural
from .equivalents import rearranged
from .hard_negatives import misses, style_of
from .looks import look, undress
from .unread import asked_unit, is_year, rewritten

__all__ = ["equivalent_form", "hard_negative", "look", "near_misses", "parts_of", "same_forms"]

_SURE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION)
"""Where a hard negative must be shown to be another value, for two formulas may be one."""
_SAME_LOOK: Final = (
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
Form = str | tuple[Answer, Style]
"""A form, or what writes it when it is asked for."""


def same_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Other ways to write exactly this answer, on one line; none of them is ``answer`` itself.

    In a drawn order, each compared when it is asked for: who wants one does not wait for all.
    """
    given, seen = answer.strip(), {answer.strip()}
    for form in _drawn(rng, _forms(rng, Asked(answer, kind, question, chinese)), question):
        if form not in seen and "\n" not in form and _agrees(given, form, kind, question):
            seen.add(form)
            yield form


def near_misses(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Answers of the same type and the same look that are certainly not this answer, likewise."""
    left, body, right = undress(answer)
    made = misses(rng, Asked(body, kind, question, chinese)) if body else []
    for other in rng.sample(made, len(made)):
        text = f"{left}{other}{right}"
        alike = kind not in _SAME_LOOK or (look(other) == look(body) and is_natural(body, other))
        if alike and text != answer.strip() and _differs(answer, text, kind, question):
            yield text


def equivalent_form(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str:
    """The reference in a drawn form, on one line and readable without the question."""
    made = [reference.strip(), *_forms(rng, Asked(reference, kind, question, chinese))]
    by_letter = kind in CHOICE and letters(reference) is not None
    for form in _drawn(rng, made, question):
        alone = "\n" not in form and not (by_letter and letters(form) is None)
        if form and alone and _agrees(reference, form, kind, question):
            return form
    return " ".join(reference.split())


def hard_negative(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str | None:
    """A hard negative in a drawn form, or none where none is sure."""
    miss = next(near_misses(rng, reference, kind, question=question, chinese=chinese), None)
    return None if miss is None else equivalent_form(rng, miss, kind, question, chinese)


def parts_of(text: str) -> list[str]:
    """The parts of an answer of several parts, as they stand in it; none where no style has it."""
    value = read(text, AnswerType.MULTI_PART).value
    style = style_of(text, AnswerType.MULTI_PART, "")
    if style is None or not isinstance(value, Group):
        return []
    bare = replace(style, form="", wrapper="{}", last="")
    return [write_value(item, _among(item, bare)) for item in value.items]


def _among(item: object, style: Style) -> Style:
    joint = "和" if style.chinese else " and "
    if isinstance(item, Group):
        return replace(style, form="tuple") if item.ordered else replace(style, joint=joint)
    return replace(style, form="brackets") if not isinstance(item, Leaf | Relation) else style


# --- forms ----------------------------------------------------------------------------------------


def _forms(rng: random.Random, asked: Asked) -> list[Form]:
    """All that the answer may be written as; most of it still to be written."""
    left, body, right = undress(asked.text)
    asked = asked._replace(text=body)
    if asked.kind is AnswerType.CODE or not body:
        return []
    if is_year(body, asked.question):
        return [f"{body}年", f"in {body}", f"the year {body}", f"${body}$"]
    answer = asked.answer
    if not is_known(answer):
        return [body, *rewritten(body)]
    if is_phrase(answer):
        answer = read(body, AnswerType.TEXT, asked.question)
    named = [s for s in candidates(answer, asked.question) if _suits(s, asked)]
    if _MONEY.search(left) and "$" not in right:
        return _in_money(answer, named, left)
    made: list[Form] = [body, *((answer, style) for style in named)]
    for other in rearranged(rng, answer):
        made += [(other, style) for style in named if style.form != "indexed"]
    return [*made, *_by_question(answer, asked)]


def _suits(style: Style, asked: Asked) -> bool:
    """Whether what the question says lets this style be: no zeros where it asks to round."""
    if style.digits is Digits.ZEROS and "." in asked.text:
        return not _ROUND.search(asked.question)
    return style.unit != "" or asked_unit(asked.question) != ""


def _in_money(answer: Answer, named: Iterable[Style], left: str) -> list[Form]:
    digits = (Digits.PLAIN, Digits.ZEROS, Digits.GROUPED)
    plain = [s for s in named if s.digits in digits and s.notation is Notation.PLAIN]
    texts = [write(answer, style) for style in plain]
    texts += [f"{text}0" for text in texts if text.endswith(".0")]
    name = " dollars" if "$" in left else "元"
    return [*(f"{left}{text}" for text in texts), *(f"{text}{name}" for text in texts)]


def _by_question(answer: Answer, asked: Asked) -> list[Form]:
    """A number with the unit that the question asks for, or without it."""
    value = answer.value
    if not isinstance(value, Leaf) or value.quantity is None or asked.kind is not AnswerType.NUMBER:
        return []
    amount, unit = value.quantity, asked_unit(asked.question)
    made: list[Form] = []
    if _ASKS_PERCENT.search(asked.question) and not amount.unit:
        made += [f"{amount.value}%"] if str(amount.value).isdigit() else []
    if unit and not amount.unit:
        other = value._replace(quantity=amount._replace(unit=unit), formula=None)
        made += [(replace(answer, value=other), style) for style in (Style(), Style(unit=unit))]
    if unit and unit == amount.unit:
        bare = replace(answer, value=value._replace(quantity=amount._replace(unit="")))
        made += [(bare, style) for style in candidates(bare)]
    return made


def _drawn(rng: random.Random, forms: list[Form], question: str) -> Iterator[str]:
    for form in rng.sample(forms, len(forms)):
        if isinstance(form, str):
            yield form.strip()
            continue
        try:
            yield write(*form, question)
        except UnwritableError:
            continue


# --- what the rules say ---------------------------------------------------------------------------


def _agrees(answer: str, form: str, kind: AnswerType, question: str) -> bool:
    """The rules do not call them different, either way round."""
    pairs = ((answer, form), (form, answer))
    return all(_same(*pair, kind, question) is not False for pair in pairs)


def _differs(answer: str, other: str, kind: AnswerType, question: str) -> bool:
    """The rules show it where two formulas may be one, and nowhere call the two the same."""
    if kind in _SURE:
        return _same(answer, other, kind, question) is False
    pairs = ((answer, other), (other, answer))
    return all(_same(*pair, kind, question) is not True for pair in pairs)


def _same(answer: str, other: str, kind: AnswerType, question: str) -> bool | None:
    pair = (read(text, kind, question) for text in (answer, other))
    return compare(*pair, question=question, tolerance="exact").same
