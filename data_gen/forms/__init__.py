"""The same answer in other forms, and near misses that only reading tells from the answer.

A near miss is written as the answer is; who wants it in another form asks ``same_forms`` for one,
as for the answer. Then nothing in the looks of a form tells right from wrong.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Final

from data_gen.forms import (
    answers,
    atoms,
    choices,
    collections,
    formulas,
    intervals,
    numbers,
    parts,
    quantity,
    words,
)
from data_gen.forms.base import Answer, distinct, look, undress
from gradegpt.answers.options import letters
from gradegpt.rules.compare import compare
from gradegpt.schema import CHOICE, AnswerType

__all__ = ["look", "near_misses", "right_form", "same_forms", "wrong_form"]

_BUILDER: Final = re.compile(r"[{|]|\\mid")
Family = Callable[[random.Random, Answer], list[str]]


def _number_same(rng: random.Random, answer: Answer) -> list[str]:
    """A number that is not read as one, such as log 2, is still a formula."""
    return numbers.same(rng, answer) or formulas.same(rng, answer)


def _number_near(rng: random.Random, answer: Answer) -> list[str]:
    formula = quantity.read(answer.text) is None and atoms.is_value(answer.text)
    return formulas.near(rng, answer) if formula else numbers.near(rng, answer)


def _set_same(rng: random.Random, answer: Answer) -> list[str]:
    """A set without braces is a list of answers in any order."""
    listed = collections.elements(answer.text) is None and not _BUILDER.search(answer.text)
    return answers.same_answers(rng, answer) if listed else collections.same_set(rng, answer)


def _set_near(rng: random.Random, answer: Answer) -> list[str]:
    listed = collections.elements(answer.text) is None and not _BUILDER.search(answer.text)
    return answers.near_answers(rng, answer) if listed else collections.near_set(rng, answer)


_FAMILIES: Final[dict[AnswerType, tuple[Family, Family]]] = {
    AnswerType.SINGLE_CHOICE: (choices.same, choices.near),
    AnswerType.MULTIPLE_CHOICE: (choices.same, choices.near),
    AnswerType.TRUE_FALSE: (words.same_truth, words.near_truth),
    AnswerType.NUMBER: (_number_same, _number_near),
    AnswerType.SET: (_set_same, _set_near),
    AnswerType.INTERVAL: (intervals.same, intervals.near),
    AnswerType.EXPRESSION: (formulas.same, formulas.near),
    AnswerType.EQUATION: (formulas.same, formulas.near),
    AnswerType.TUPLE: (collections.same_tuple, collections.near_tuple),
    AnswerType.MULTI_PART: (parts.same_parts, parts.near_parts),
    AnswerType.MULTI_ANSWER: (answers.same_answers, answers.near_answers),
    AnswerType.TEXT: (words.same, words.near),
}
"""What writes an answer of a type otherwise, and what changes it; code is left as it is."""
_SURE: Final = (AnswerType.NUMBER, AnswerType.EXPRESSION)
"""Where a near miss must be shown to be another value, for two formulas may be one."""
_SAME_LOOK: Final = (
    AnswerType.NUMBER,
    AnswerType.SET,
    AnswerType.INTERVAL,
    AnswerType.TUPLE,
    AnswerType.EXPRESSION,
    AnswerType.EQUATION,
)


def same_forms(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Other ways to write exactly this answer, on one line; none of them is ``answer`` itself.

    In a drawn order, each compared when it is asked for: who wants one does not wait for all.
    """
    made = [f for f in _written(rng, Answer(answer, kind, question, chinese)) if "\n" not in f]
    drawn = rng.sample(made, len(made))
    return (form for form in drawn if _agrees(answer, form, kind, question))


def near_misses(
    rng: random.Random, answer: str, kind: AnswerType, *, question: str = "", chinese: bool
) -> Iterator[str]:
    """Answers of the same type and the same look that are certainly not this answer, likewise."""
    made = _changed(rng, Answer(answer, kind, question, chinese))
    drawn = rng.sample(made, len(made))
    return (other for other in drawn if _differs(answer, other, kind, question))


def right_form(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str:
    """The reference in a drawn form, on one line and readable without the question."""
    made = [reference.strip(), *_written(rng, Answer(reference, kind, question, chinese))]
    by_letter = kind in CHOICE and letters(reference) is not None
    for form in rng.sample(made, len(made)):
        alone = "\n" not in form and not (by_letter and letters(form) is None)
        if alone and _agrees(reference, form, kind, question):
            return form
    return " ".join(reference.split())


def wrong_form(
    rng: random.Random, reference: str, kind: AnswerType, question: str, chinese: bool
) -> str | None:
    """A near miss in a drawn form, or none where none is sure."""
    miss = next(near_misses(rng, reference, kind, question=question, chinese=chinese), None)
    return None if miss is None else right_form(rng, miss, kind, question, chinese)


def _written(rng: random.Random, answer: Answer) -> list[str]:
    if answer.kind not in _FAMILIES or not answer.text.strip():
        return []
    body = undress(answer.text)[1]
    same, _ = _FAMILIES[answer.kind]
    return distinct([body, *same(rng, answer._replace(text=body))], answer.text.strip())


def _changed(rng: random.Random, answer: Answer) -> list[str]:
    if answer.kind not in _FAMILIES or not answer.text.strip():
        return []
    left, body, right = undress(answer.text)
    _, near = _FAMILIES[answer.kind]
    others = near(rng, answer._replace(text=body))
    made = distinct((f"{left}{other}{right}" for other in others), answer.text.strip())
    if answer.kind in _SAME_LOOK:
        return [other for other in made if look(other) == look(answer.text)]
    return made


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
    return compare(answer, other, kind, question=question, tolerance="exact").same
