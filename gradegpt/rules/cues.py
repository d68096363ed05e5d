"""The words by which a text announces, denies, doubts or attributes an answer: ``cues.tsv``."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from importlib.resources import files


@cache
def _table() -> dict[str, list[str]]:
    made = defaultdict[str, list[str]](list)
    text = (files(__package__ or "") / "cues.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, pattern = line.split("\t")
            made[kind].append(pattern)
    return dict(made)


@cache
def cue(*kinds: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """A pattern for any cue of these kinds, between two further patterns.

    Raises:
        KeyError: The table has no such kind.

    """
    words = "|".join(word for kind in kinds for word in _table()[kind])
    return re.compile(f"{before}(?:{words}){after}", re.IGNORECASE | re.MULTILINE)


def words(kind: str) -> frozenset[str]:
    """The words of a kind whose rows are words with spaces between them, and Chinese characters."""
    return frozenset(w for row in _table()[kind] for w in (row.split() if row.isascii() else row))
