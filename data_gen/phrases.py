"""The words that responses and references are written with: ``text/phrases.yaml``, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import yaml

from gradegpt.records import validate
from gradegpt.schema import Row

R = TypeVar("R", bound=Row)
FILE: Final = Path(__file__).parent / "text" / "phrases.yaml"


class Phrases(Row):
    """The words of one language, by what they are for; the file says it beside each list."""

    openers: tuple[str, ...]
    fillers: tuple[str, ...]
    ruled_out: tuple[str, ...]
    revisions: tuple[str, ...]
    headings: tuple[str, ...]
    links: tuple[str, ...]
    names: tuple[str, ...]
    copulas: tuple[str, ...]
    choices: tuple[str, ...]
    choice_labels: tuple[str, ...]
    labels: tuple[str, ...]
    dress: tuple[str, ...]
    tails: tuple[str, ...]
    no_answers: tuple[str, ...]
    closings: tuple[str, ...]
    solutions: tuple[str, ...]


def phrases(chinese: bool) -> Phrases:
    """The Chinese or the English words."""
    return _read()["zh" if chinese else "en"]


@cache
def _read() -> dict[str, Phrases]:
    return read_words(FILE, Phrases)


def read_words(file: Path, model: type[R]) -> dict[str, R]:
    """The lists of a YAML file of words, by language, each as a ``model``."""
    text = file.read_text(encoding="utf-8")
    languages = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  BaseLoader makes strings only
    return {name: validate(model, lists, f"{file}: {name}") for name, lists in languages.items()}
