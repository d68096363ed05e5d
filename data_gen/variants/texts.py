"""Hard negatives of texts: the opposite trend, another word of a class, a negation, a number."""

from __future__ import annotations

import random
import re
from typing import Final

from gradegpt.answers.words import TRENDS, UNCHANGED, any_of

from ..lexicon import CLASSES
from .edits import numeral_edits

_LONGEST: Final = 120
_CLASS_LONGEST: Final = 30
"""Longest text in which a word is replaced by another of its class, in characters."""
_PLAIN_VERB: Final = re.compile(
    r"不是|(?<![不就还只但可于])是(?!否|不)|不能|(?<![不可功])能(?![力量源否])"
)


def _read_opposites() -> dict[str, list[str]]:
    """For each word its opposites, the most similar first."""
    made: dict[str, list[str]] = {}
    for one, other, *between in TRENDS:
        for mine, theirs in (one.split("/"), other.split("/")), (other.split("/"), one.split("/")):
            for n, word in enumerate(mine):
                first = theirs[min(n, len(theirs) - 1)]
                made[word] = [first, *(w for w in theirs if w != first), *between]
    return made | {word: moved.split("/") for same, moved in UNCHANGED for word in same.split("/")}


_OPPOSITES: Final = _read_opposites()
_CLASS: Final = {w: line.split("/") for line in CLASSES for w in line.split("/")}
_OPPOSITES_RE, _CLASS_RE = any_of(_OPPOSITES), any_of(_CLASS)


def near_texts(rng: random.Random, text: str) -> list[str]:
    """The opposite trend, another word of the class, a negation, another number; may be empty."""
    if len(text) > _LONGEST or "\n" in text:
        return []
    made: list[str] = []
    found = _OPPOSITES_RE.findall(text)
    if found:
        # "First up, then down" has one opposite; "up" also has "unchanged".
        most = len(_OPPOSITES[found[0]]) if len(found) == 1 else 1
        made += [_reversed(text, n) for n in range(most)]
    elif len(text) <= _CLASS_LONGEST and len(named := _CLASS_RE.findall(text)) == 1:
        others = [w for w in _CLASS[named[0]] if w != named[0]]
        made += [text.replace(named[0], w) for w in rng.sample(others, min(4, len(others)))]
    return [*made, *_negated(text), *numeral_edits(rng, text, most=6)]


def _reversed(text: str, n: int) -> str:
    """Every trend word replaced by its opposite, so that "first up, then down" is reversed."""
    return _OPPOSITES_RE.sub(lambda m: _OPPOSITES[m[0]][n % len(_OPPOSITES[m[0]])], text)


def _negated(text: str) -> list[str]:
    """A sentence with a single verb, negated or with its negation removed."""
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
