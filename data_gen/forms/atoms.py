"""One value inside a group: a number, a formula, or words."""

from __future__ import annotations

import random
import re
from typing import Final

from data_gen.forms import formulas, numbers, quantity, words
from data_gen.forms.base import Answer, distinct, undress
from gradegpt.answers.formula import read_formula
from gradegpt.answers.text import fold
from gradegpt.rules.compare import compare
from gradegpt.schema import AnswerType


def is_value(text: str) -> bool:
    """Whether the text reads as a number or formula rather than words."""
    body = undress(text)[1]
    if re.fullmatch(r"[A-Za-z]{2,}", body):
        return False
    right = body.rpartition("=")[2].strip()
    return quantity.read(body) is not None or read_formula(fold(right)) is not None


_SEPARATES: Final = re.compile(
    r"[,，;；、=\n“\"]|[.。]$|^(?:it|it's|that)\b|^[是即]", re.IGNORECASE
)
_IN_WORDS: Final = re.compile(r"[\u3400-\u9fff$%]|(?<![\\A-Za-z])(?!sqrt\()[A-Za-z]{3,}")


def inside(rng: random.Random, answer: Answer) -> list[str]:
    """Other forms of the value that may stand among others."""
    return [m for m in same(rng, answer) if not _SEPARATES.search(m) and len(m) <= 40]


def formal(rng: random.Random, answer: Answer) -> list[str]:
    """Other forms that may stand in brackets: ``(3.0, 2)`` but not ``(three, 2)``."""
    return [m for m in inside(rng, answer) if not _IN_WORDS.search(m)]


def same(rng: random.Random, answer: Answer) -> list[str]:
    """Other forms of the value."""
    left, body, right = undress(answer.text)
    inner = answer._replace(text=body)
    if quantity.read(body) is not None:
        made = numbers.same(rng, inner)
    elif "=" in body or is_value(body):
        made = formulas.same(rng, inner._replace(kind=AnswerType.EXPRESSION))
    else:
        made = words.same(rng, inner)
    return distinct([body, *made] if left or right else made, answer.text)


def _is_other(text: str, new: str) -> bool:
    """Of the part alone: a group whose other parts cannot be read would leave it open."""
    kind = AnswerType.EQUATION if "=" in text else AnswerType.EXPRESSION
    return compare(text, new, kind, tolerance="exact").same is False


def near(rng: random.Random, answer: Answer) -> list[str]:
    """Other values in the same notation."""
    left, body, right = undress(answer.text)
    inner = answer._replace(text=body)
    if not is_value(body):
        others = words.near(rng, inner)
    else:
        family = numbers.near if quantity.read(body) is not None else formulas.near
        others = [new for new in family(rng, inner) if _is_other(body, new)]
    return [f"{left}{made}{right}" for made in others]
