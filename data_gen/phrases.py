"""Phrases of responses, references and attacks: ``text/*.yaml``, each file read once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from gradegpt.answers.options import LETTERS
from gradegpt.core.records import validate
from gradegpt.core.schema import Row
from gradegpt.core.settings import LOADER

R = TypeVar("R", bound=Row)
TEXT: Final = Path(__file__).parent / "text"
_LETTER = re.compile(rf"(?<![A-Za-z])(?!I)[{LETTERS}](?![A-Za-z])")


class Phrases(Row):
    """The phrases of one language by their use; comments in the file explain each list."""

    openers: tuple[str, ...]
    fillers: tuple[str, ...]
    revisions: tuple[str, ...]
    links: tuple[str, ...]
    names: tuple[str, ...]
    copulas: tuple[str, ...]
    choices: tuple[str, ...]
    choice_labels: tuple[str, ...]
    labels: tuple[str, ...]
    dress: tuple[str, ...]
    part_lines: tuple[str, ...]
    no_answers: tuple[str, ...]
    undecided: tuple[str, ...]


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


@cache
def phrases(chinese: bool) -> Phrases:
    """The Chinese or the English phrases."""
    return validate(Phrases, _load("phrases")["zh" if chinese else "en"], "phrases")


@cache
def attacks(chinese: bool) -> Attacks:
    """The Chinese or the English attacks."""
    return validate(Attacks, _load("attacks")["zh" if chinese else "en"], "attacks")


def names_an_option(text: str) -> bool:
    """Whether a letter in the text may be the answer to a choice question."""
    return bool(_LETTER.search(text))


def read_whole(name: str, model: type[R]) -> R:
    """A file of phrases validated as one ``model``."""
    return validate(model, _load(name), name)


@cache
def _load(name: str) -> dict[str, Any]:
    text = (TEXT / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, LOADER)  # type: ignore[no-any-return]  # noqa: S506
