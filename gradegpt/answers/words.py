"""Free text as words that can be compared: framing words removed, synonyms unified."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_WORD = re.compile(r"[^\W_]+(?:['’][A-Za-z]+)?")
_OVERLAY: Final = "\u0338"
"""The stroke of ≠ and ∦, which is no accent."""
_GREEK: Final = str.maketrans(
    {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "λ": "lambda"}
)

_TABLE: Final = [
    line.split("\t")
    for line in Path(__file__).with_name("trends.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
TRENDS: Final = [line for kind, *line in _TABLE if kind == "part"]
"""Synonyms for a trend, those for its opposite in the same order, and for no change."""
UNCHANGED: Final = [(line[1], line[2]) for line in _TABLE if line[0] == "same"]
"""Synonyms for no change, and words for a change."""
_FIRST: Final = [
    [words.partition("/")[0] for words in line[1:3]] for line in _TABLE if line[0] != "same"
]
OPPOSITE: Final = {a: b for x, y in _FIRST for a, b in ((x, y), (y, x))}
"""A whole answer and its opposite, both as ``meaning`` returns them."""


def any_of(table: Iterable[str]) -> re.Pattern[str]:
    """A pattern for one of the words, the longest first; English ones only as whole words."""
    ordered = sorted(table, key=len, reverse=True)
    english, chinese = ("|".join(w for w in ordered if w.isascii() is e) for e in (True, False))
    bounded = rf"(?<![A-Za-z])(?<!\d )(?:{english})(?![A-Za-z])"
    return re.compile("|".join(filter(None, (english and bounded, chinese))))


_GROUPS: Final = [words.split("/") for line in TRENDS for words in line[:2]]
SYNONYMS: Final = {
    word: group
    for group in (*_GROUPS, *(words.split("/") for words, _ in UNCHANGED))
    for word in group
    if len(group) > 1
}
TREND: Final = any_of(SYNONYMS)
_SENSE_OF: Final = {
    word: words.partition("/")[0]
    for line in TRENDS + [line for kind, *line in _TABLE if kind == "sense"]
    for words in line[:2]
    for word in words.split("/")
}
"""Words for a change or a direction beside a number, each with the first of its synonyms."""
_SENSE: Final = any_of(_SENSE_OF)
_ENDINGS: Final = ("ing", "ed", "es", "s", "d", "e")
MAX_MEANING: Final = 60
"""Most characters of a text that is compared by its trend."""


def meaning(text: str) -> str:
    """A short text with each trend by its first synonym."""
    text = fold(text).strip(" .,;:'\"“”")
    calm = text.rstrip("!")
    text = calm if len(calm) > 1 and calm[-2:].isalpha() else text  # not 5!
    short = 0 < len(text) <= MAX_MEANING
    return TREND.sub(lambda m: SYNONYMS[m[0]][0], text) if short else text


def opposed(one: str, other: str) -> bool:
    """Whether beside equal numbers the second has the opposite of a sense of the first."""
    mine = _senses(one) if any(map(str.isdigit, one)) else set[str]()
    theirs = _senses(other) if mine else mine  # the other text may be long
    return any(OPPOSITE[sense] in theirs for sense in mine - theirs)


def _senses(text: str) -> set[str]:
    return {_SENSE_OF[word] for word in _SENSE.findall(fold(text).lower())}


def stem(word: str) -> str:
    """An English word in lower case without its ending."""
    word = word.removesuffix("'s").removesuffix("’s")
    ending = next(filter(word.endswith, _ENDINGS), "") if len(word) > 3 else ""
    return word.removesuffix(ending)


class Words(NamedTuple):
    """Free text, which has no other value than its words."""

    text: str


class Token(NamedTuple):
    """A word in lower case, whether it was capitalised, and the characters before it."""

    word: str
    capital: bool
    gap: str


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, in order, without accents, Greek letters spelt out."""
    bare, made, end = _bare(text), list[Token](), 0
    for m in _WORD.finditer(bare):
        if bare[m.start() - 1 : m.start()] != "\\":  # a command is a sign
            made.append(Token(m[0].casefold(), m[0][0].isupper(), bare[end : m.start()]))
            end = m.end()
    return tuple(made)


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case."""
    if "\\" in text:
        return tuple(token.word for token in tokens(text))
    return tuple(map(str.casefold, _WORD.findall(_bare(text))))


def _bare(text: str) -> str:
    text = fold(text)
    if text.isascii():
        return text
    spelt = unicodedata.normalize("NFKD", text).translate(_GREEK)
    return "".join(c for c in spelt if c == _OVERLAY or not unicodedata.combining(c))
