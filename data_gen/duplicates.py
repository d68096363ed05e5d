"""Exact duplicates by their bytes, near duplicates by MinHash (Broder 1997) and banding.

Near duplicates are searched within a class of rows that the caller names: rows with the same
verdict and question. Similar rows with different verdicts are a contrast to learn from.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .ngrams import digests, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signature = NDArray[np.uint32]

SHINGLE: Final = 5
"""Tokens in a shingle."""
PERMUTATIONS: Final = 64
BANDS: Final = 8
"""Bands of eight minima each. Two texts of similarity 0.9 share a band with a probability of
98.9 %, of 0.5 with 3 %; the bands that minimise both errors at 0.9 would miss a third of the
duplicates."""
MAX_MATCHES: Final = 64
_BLOCK: Final = 4096


def exact_key(text: str) -> bytes:
    """A digest that is equal for texts which differ only in blanks and in composed accents.

    NFC, not NFKC: x² and x2 are different answers.
    """
    normalised = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(normalised.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def signature(text: str) -> Signature:
    """64 minima over the text's shingles; the share of equal ones estimates the Jaccard similarity.

    A text shorter than a shingle is one shingle; a text without tokens is compared by its bytes.
    """
    import numpy as np

    words = tokens(text)
    shingles = digests(words or [exact_key(text).hex()], min(max(len(words), 1), SHINGLE))
    multipliers, offsets = _permutations()
    minima = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
    for start in range(0, len(shingles), _BLOCK):
        block = shingles[start : start + _BLOCK]
        # Multiply-add-shift: the upper half of the product depends on all bits of the shingle.
        mixed = (multipliers[:, None] * block[None, :] + offsets[:, None]) >> np.uint64(32)
        np.minimum(minima, mixed.min(axis=1).astype(np.uint32), out=minima)
    return minima


def near_copies(signatures: Signature, threshold: float) -> Iterator[int]:
    """The places of the rows that are near duplicates of an earlier row that is kept.

    Only rows that share a band of their signatures, ``[n, 64]``, are compared. A row that shares
    bands with 64 others without being their duplicate is not compared with later rows: templates
    fill a band, and this bounds the time. A duplicate within such a group may be missed.
    """
    kept: list[int] = []
    for place, own in enumerate(signatures):
        equal = signatures[kept] == own
        equal = equal[equal.reshape(-1, BANDS, PERMUTATIONS // BANDS).all(axis=2).any(axis=1)]
        if len(equal) and equal.mean(axis=1).max() >= threshold:
            yield place
        elif len(equal) < MAX_MATCHES:
            kept.append(place)


@lru_cache(maxsize=1)
def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    import numpy as np

    drawn = hashlib.shake_128(b"gradegpt minhash").digest(16 * PERMUTATIONS)
    multipliers, offsets = np.frombuffer(drawn, dtype="<u8").reshape(2, PERMUTATIONS)
    return multipliers | np.uint64(1), offsets
