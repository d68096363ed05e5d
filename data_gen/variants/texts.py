"""Texts with one handle turned: the opposite trend, another of a class, a negation, a figure."""

from __future__ import annotations

import random
import re
from typing import Final

from gradegpt.answers.words import TRENDS, UNCHANGED, any_of

from ..lexicon import CLASSES
from .edits import numeral_edits

_LONGEST: Final = 120
_CLASS_LONGEST: Final = 30
"""A longer text says more than which of a class it is."""
_PLAIN_VERB: Final = re.compile(
    r"不是|(?<![不就还只但可于])是(?!否|不)|不能|(?<![不可功])能(?![力量源否])"
)


def _opposites() -> dict[str, list[str]]:
    """For each word those of its opposite, the likest first."""
    made: dict[str, list[str]] = {}
    for one, other, *between in TRENDS:
        for mine, theirs in (one.split("/"), other.split("/")), (other.split("/"), one.split("/")):
            for n, word in enumerate(mine):
                first = theirs[min(n, len(theirs) - 1)]
                made[word] = [first, *(w for w in theirs if w != first), *between]
    return made | {word: moved.split("/") for same, moved in UNCHANGED for word in same.split("/")}


_UNLIKE: Final = _opposites()
_CLASS: Final = {w: line.split("/") for line in CLASSES for w in line.split("/")}
_UNLIKE_RE, _CLASS_RE = any_of(_UNLIKE), any_of(_CLASS)


def near_texts(rng: random.Random, text: str) -> list[str]:
    """The opposite, another of the same class, another figure; nothing without such a handle."""
    if len(text) > _LONGEST or "\n" in text:
        return []
    made: list[str] = []
    found = _UNLIKE_RE.findall(text)
    if found:
        # "First up, then down" has one opposite; "up" has also "unchanged".
        most = len(_UNLIKE[found[0]]) if len(found) == 1 else 1
        made += [_turned(text, n) for n in range(most)]
    elif len(text) <= _CLASS_LONGEST and len(named := _CLASS_RE.findall(text)) == 1:
        others = [w for w in _CLASS[named[0]] if w != named[0]]
        made += [text.replace(named[0], w) for w in rng.sample(others, min(4, len(others)))]
    return [*made, *_negated(text), *numeral_edits(rng, text, most=6)]


def _turned(text: str, n: int) -> str:
    """Every word of the table replaced, so that "first up, then down" turns as a whole."""
    return _UNLIKE_RE.sub(lambda m: _UNLIKE[m[0]][n % len(_UNLIKE[m[0]])], text)


def _negated(text: str) -> list[str]:
    """A sentence with one plain verb in its opposite."""
    for yes, no in ((" is not ", " is "), (" are not ", " are "), (" cannot ", " can ")):
        if text.count(yes) == 1:
            return [text.replace(yes, no)]
        if text.count(no) == 1 and " not " not in text and "n't" not in text:
            return [text.replace(no, yes)]
    found = _PLAIN_VERB.findall(text)
    if len(found) != 1:
        return []
    word = found[0]
    return [text.replace(word, word[1:] if word[0] == "不" else f"不{word}")]
