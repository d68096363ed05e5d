"""Texts of the drawn problems: ``text/problems.yaml``."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

from gradegpt.core.schema import Row

from ..phrases import read_words
from .notation import polynomial, tex

_GAP: Final = re.compile(r"<(\w+)(?::([^<>]+))?>")
Bilingual = tuple[str, str]
"""A text in Chinese and in English."""


class Phrasing(Row):
    """Phrasings of a question in one language, and of each step of its solution."""

    ask: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()


class ProblemText(Row):
    """The texts of one kind of problem by language, and the rows of its table."""

    zh: Phrasing | None = None
    en: Phrasing | None = None
    rows: tuple[tuple[str, ...], ...] = ()


class Statement(NamedTuple):
    """A question with its solution steps, its random generator and its language."""

    question: str
    steps: list[str]
    rng: random.Random
    zh: bool


def render(name: str, rng: random.Random, zh: bool, /, **values: object) -> Statement:
    """The statement of the kind ``name`` in one of its phrasings, filled with ``values``.

    Of a pair of texts (Chinese, English) the one in the language is used. Another tuple holds the
    coefficients of a polynomial in x; lists are joined with commas; numbers are written as LaTeX.
    """
    texts = problem_texts()[name]
    phrasing = texts.zh if zh else texts.en
    if phrasing is None:
        raise ValueError(f"{name}: has no question; write one in text/problems.yaml")
    drawn = {"who": rng.choice(rows_of("people")), "thing": rng.choice(rows_of("things"))}
    fields = {name: _as_text(value, zh) for name, value in (drawn | values).items()}
    steps = [_filled(rng.choice(step), fields) for step in phrasing.steps]
    return Statement(_filled(rng.choice(phrasing.ask), fields), steps, rng, zh)


def _as_text(value: object, zh: bool) -> object:
    match value:
        case (str(), str()):
            return value[not zh]
        case tuple():
            return polynomial(value)
        case list():
            return ", ".join(map(str, value))
        case Decimal() | Fraction():
            return tex(value)
        case _:
            return value


def _filled(template: str, fields: Mapping[str, object]) -> str:
    return _GAP.sub(lambda gap: format(fields[gap[1]], gap[2] or ""), template)


@cache
def problem_texts() -> dict[str, ProblemText]:
    """The texts by the name of the kind."""
    return read_words("problems", ProblemText)


def rows_of(name: str) -> tuple[tuple[str, ...], ...]:
    """The table of a kind."""
    return problem_texts()[name].rows
