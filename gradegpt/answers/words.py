"""Free text as words that can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from gradegpt.answers.text import fold

_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_GREEK: Final = str.maketrans(
    {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "λ": "lambda"}
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order: small letters without accents, Greek ones spelt out."""
    text = unicodedata.normalize("NFKD", fold(text)).casefold().translate(_GREEK)
    return tuple(_WORD.findall("".join(c for c in text if not unicodedata.combining(c))))
