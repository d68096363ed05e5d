"""Free text as words that can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from gradegpt.answers.text import fold

_WORD = re.compile(r"[^\W_]+(?:['’][A-Za-z]+)?")
_GREEK: Final = str.maketrans(
    {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "λ": "lambda"}
)


class Token(NamedTuple):
    """A word in small letters, whether it has a capital, and what stands before it."""

    word: str
    capital: bool
    gap: str


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, in order, without accents, Greek ones spelt out."""
    spelt = unicodedata.normalize("NFKD", fold(text)).translate(_GREEK)
    bare = "".join(c for c in spelt if not unicodedata.combining(c))
    made, end = [], 0
    for m in _WORD.finditer(bare):
        made.append(Token(m[0].casefold(), m[0][0].isupper(), bare[end : m.start()]))
        end = m.end()
    return tuple(made)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text alone."""
    return tuple(token.word for token in tokens(text))
