"""Attacks on a judge: ``text/attacks.yaml``, read once."""

from __future__ import annotations

import re
from functools import cache

from gradegpt.answers.options import LETTERS
from gradegpt.core.schema import CHOICE, Row

from ..phrases import read_words
from .task import Task

_LETTER = re.compile(rf"(?<![A-Za-z])(?!I)[{LETTERS}](?![A-Za-z])")


class Attacks(Row):
    """The attacks in one language by kind; comments in the file explain the kinds."""

    stubs: tuple[str, ...]
    instructions: tuple[str, ...]
    fake_judgements: tuple[str, ...]
    delimiters: tuple[str, ...]
    quotes: tuple[str, ...]
    stances: dict[str, tuple[str, ...]]
    published: dict[str, tuple[str, ...]]
    """By the name of the pattern; for evaluation alone (``data_gen.attacks``)."""


def attack(task: Task) -> tuple[str, str]:
    """The kind and the text of an attack; for choice questions, one without an option letter."""
    words = attacks(task.chinese)
    kind = task.rng.choice(("instructions", "fake_judgements", "delimiters"))
    texts: tuple[str, ...] = getattr(words, kind)
    if task.problem.answer_type in CHOICE:
        texts = tuple(text for text in texts if not names_an_option(text))
    return kind.removesuffix("s"), task.rng.choice(texts)


def names_an_option(text: str) -> bool:
    """Whether a letter in the text may be the answer to a choice question."""
    return bool(_LETTER.search(text))


@cache
def attacks(chinese: bool) -> Attacks:
    """The Chinese or the English attacks."""
    return read_words("attacks", Attacks)["zh" if chinese else "en"]
