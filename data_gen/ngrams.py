"""N-gram overlap: which n-grams of a text occur in other texts, such as evaluation files.

Thirteen tokens is the length that GPT-3 used (Brown et al. 2020, appendix C): shorter n-grams are
shared by chance. An n-gram is stored as 64 bits by multilinear hashing (Lemire and Kaser 2014):
token digests times one odd number per position, summed. One numpy expression hashes a text, and
between a million n-grams and another million a collision occurs about once in ten million runs.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Digests = NDArray[np.uint64]

N: Final = 13
"""Tokens in an n-gram."""
MIN_WHOLE: Final = 6
"""Tokens of a text; one with fewer is never compared with another."""

HAN: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+|\d+")


def tokens(text: str) -> list[str]:
    """Han characters, runs of letters and runs of digits, after NFKC and case folding.

    >>> tokens("解 x²＋1 = ５, 则 X 为?")
    ['解', 'x', '2', '1', '5', '则', 'x', '为']
    """
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def digests(words: list[str], n: int) -> Digests:
    """A 64-bit hash of each run of ``n`` words, in order; empty for fewer words."""
    import numpy as np

    count = len(words) - n + 1
    if count < 1:
        return np.empty(0, dtype=np.uint64)
    each = np.fromiter(map(_digest, words), dtype=np.uint64, count=len(words))
    # The length is part of the sum: a whole text of eight tokens differs from an n-gram of eight.
    sums = np.full(count, _digest(f"length {n}"), dtype=np.uint64)
    for place in range(n):
        sums += each[place : place + count] * np.uint64(_odd(place))
    return sums


class Contamination:
    """The n-grams of texts that must not be trained on.

    A text shorter than ``n`` tokens has no n-gram. It is compared only as a whole, with texts of
    the same tokens, and only if it has at least six tokens: benchmarks contain one-line questions,
    and equal ones are leaks, but two authors may independently write a bare sum or a phrase of five
    tokens, and inside of longer texts even longer phrases are shared by chance.
    """

    def __init__(self, n: int = N) -> None:
        self.n = n
        self._added = array("Q")
        self._sorted: Digests | None = None

    def __len__(self) -> int:
        return len(self._seen())

    def add(self, text: str) -> None:
        """Add this text to those that later texts are compared with."""
        words = tokens(text)
        self._added.frombytes(digests(words, self._length(words)).tobytes())

    def hit(self, text: str) -> str | None:
        """The first n-gram shared with an added text, its tokens joined by spaces; else None."""
        words, seen = tokens(text), self._seen()
        if not len(seen):
            return None
        n = self._length(words)
        found = digests(words, n)
        nearest = seen[seen.searchsorted(found).clip(max=len(seen) - 1)]
        shared = (nearest == found).nonzero()[0].tolist()
        return " ".join(words[shared[0] : shared[0] + n]) if shared else None

    def _seen(self) -> Digests:
        """The distinct hashes in order, eight bytes each: a set would take ten times as much."""
        import numpy as np

        if self._added or self._sorted is None:
            added = np.frombuffer(self._added, dtype=np.uint64)
            known = added if self._sorted is None else np.concatenate([self._sorted, added])
            self._sorted, self._added = np.unique(known), array("Q")
        return self._sorted

    def _length(self, words: list[str]) -> int:
        return self.n if len(words) >= self.n else max(len(words), MIN_WHOLE)


@lru_cache(maxsize=1 << 18)
def _digest(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())


@lru_cache(maxsize=1 << 10)
def _odd(place: int) -> int:
    return _digest(f"place {place}") | 1
