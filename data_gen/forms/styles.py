"""The styles that can write an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gradegpt.answers.answer import Answer
from gradegpt.answers.types import (
    AnswerType,
    Group,
    Leaf,
    Options,
    Range,
    Region,
    Relation,
    Truth,
)
from gradegpt.answers.words import Words

from .groups import of_parts, of_several, of_tuple
from .numbers import Digits
from .render import UnwritableError
from .style import LATEX, MAX_BLANKS, Style
from .values import of_one, of_region
from .words import TRUTHS, of_options, of_words
from .write import write

__all__ = ["TRUTHS", "candidates", "styles", "written"]

_GROUPED: Final = re.compile(r"-?\d{1,3}(?:[,，、]\d{3})+(?:\.\d+)?")
"""Several numbers that would be read as one with grouped digits."""


def styles(answer: Answer, question: str = "") -> Iterator[Style]:
    """The styles that write the answer, the plainest first."""
    return (style for style, _ in written(answer, question))


def written(answer: Answer, question: str = "") -> Iterator[tuple[Style, str]]:
    """Each of the styles with the text that it writes, without duplicates."""
    seen: set[str] = set()
    several = isinstance(answer.value, Group)
    for style in candidates(answer, question):
        try:
            text = write(answer, style, question)
        except UnwritableError:
            continue
        prose = style.digits is Digits.WORDS and text.count(" ") > MAX_BLANKS
        if text not in seen and not prose and not (several and _GROUPED.fullmatch(text)):
            seen.add(text)
            yield style, text


def candidates(answer: Answer, question: str = "") -> Iterable[Style]:
    """The styles for answers of this kind, some of which may be unable to write this one."""
    match answer.value:
        case Options():
            return of_options(answer.value, question)
        case Truth():
            return (Style(form=pair) for pair in TRUTHS)
        case Words():
            return of_words(answer)
        case Region():
            return of_region(answer.value)
        case Relation() | Leaf():
            return of_one(answer.value, answer.kind is AnswerType.EQUATION)
        case Range():
            return (Style(), LATEX)
        case Group(ordered=False):
            return of_several(answer.value, answer.kind is AnswerType.SET)
        case Group():
            of = of_tuple if answer.kind is AnswerType.TUPLE else of_parts
            return of(answer.value)
