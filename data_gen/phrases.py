"""Phrases for responses and references: ``text/phrases.yaml``, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from gradegpt.core.records import validate
from gradegpt.core.schema import Row

R = TypeVar("R", bound=Row)
TEXT: Final = Path(__file__).parent / "text"


class Phrases(Row):
    """The phrases of one language by their use; comments in the file explain each list."""

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
    undecided: tuple[str, ...]
    reasons: tuple[str, ...]
    part_lines: tuple[str, ...]
    keyed_lines: tuple[str, ...]
    part_headings: tuple[str, ...]


@cache
def phrases(chinese: bool) -> Phrases:
    """The Chinese or the English phrases."""
    return read_words("phrases", Phrases)["zh" if chinese else "en"]


def read_words(name: str, model: type[R]) -> dict[str, R]:
    """A file of phrases, each language validated as a ``model``."""
    return {lang: validate(model, held, f"{name}: {lang}") for lang, held in _load(name).items()}


def read_whole(name: str, model: type[R]) -> R:
    """A file of phrases validated as one ``model``."""
    return validate(model, _load(name), name)


@cache
def read_lists(name: str) -> dict[str, tuple[str, ...]]:
    """A file of phrases as lists by name."""
    return {key: tuple(held) for key, held in _load(name).items()}


def _load(name: str) -> dict[str, Any]:
    text = (TEXT / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.BaseLoader)  # type: ignore[no-any-return]  # noqa: S506  BaseLoader makes strings only


_LEXICON: Final = read_lists("lexicon")
CLASSES: Final = _LEXICON["classes"]
"""Lines of words of which no two mean the same, for hard negatives."""
NO_OPTION_ZH: Final = _LEXICON["no_option_zh"]
NO_OPTION_EN: Final = _LEXICON["no_option_en"]
"""Answers that choose no option."""
