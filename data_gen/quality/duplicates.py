"""Duplicates: exact ones by their bytes, near ones by MinHash (Broder 1997) and banding.

A class of rows is given by the caller. Here it is the verdict and the question, because two rows
that differ in their verdict are a contrast to learn from, however alike they are.
"""

from __future__ import annotations

import hashlib
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gradegpt.ngrams import digests, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signature = NDArray[np.uint32]

SHINGLE: Final = 5
"""Tokens in a shingle."""
PERMUTATIONS: Final = 64
_BANDS: Final = (8, 8)
"""Bands and rows of each. Two texts of similarity 0.9 meet in a band with 98.9 %, of 0.5 with 3 %;
the bands that minimise both errors at 0.9 would miss one duplicate in three."""
_CROWDED: Final = 64
_BLOCK: Final = 4096


def exact_key(text: str) -> bytes:
    """Equal for texts that differ in blanks and in the encoding of accents alone.

    NFC, not NFKC: x² and x2 are different answers.
    """
    normalised = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(normalised.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def signature(text: str) -> Signature:
    """64 minima over the text's shingles; the share of equal ones estimates the Jaccard similarity.

    A text shorter than a shingle is one shingle; one without any token is compared by its bytes.
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


class NearDuplicates:
    """Which rows of a class are nearly equal to one kept before.

    One index serves all classes: a class's own 64 words are laid over its signatures (exclusive
    or), so that those of two classes never meet in a band. A row that meets 64 others without being
    their duplicate is not indexed: templates crowd a band, and this bounds the time of every later
    look-up. What it can cost is a duplicate inside such a crowd.
    """

    def __init__(self, threshold: float = 0.9) -> None:
        from datasketch import MinHashLSH

        self.threshold = threshold
        self._index = MinHashLSH(num_perm=PERMUTATIONS, params=_BANDS)
        self._kept: list[Signature] = []

    def seen(self, key_class: str, signature: Signature) -> bool:
        """Whether a kept row of the class is nearly equal. Keeps this one if not."""
        import numpy as np

        laid = signature ^ np.frombuffer(_overlay(key_class), dtype="<u4")
        row = _minhash(laid)
        met = self._index.query(row)
        if met:
            alike = (np.stack([self._kept[i] for i in met]) == laid).mean(axis=1)
            if float(alike.max()) >= self.threshold:
                return True
        if len(met) < _CROWDED:
            self._index.insert(len(self._kept), row, check_duplication=False)
            self._kept.append(laid)
        return False


def _overlay(key_class: str) -> bytes:
    return hashlib.shake_128(key_class.encode("utf-8", "surrogatepass")).digest(4 * PERMUTATIONS)


@lru_cache(maxsize=1)
def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    import numpy as np

    drawn = hashlib.shake_128(b"gradegpt minhash").digest(16 * PERMUTATIONS)
    multipliers, offsets = np.frombuffer(drawn, dtype="<u8").reshape(2, PERMUTATIONS)
    return multipliers | np.uint64(1), offsets


def _minhash(hashvalues: Signature) -> object:
    from datasketch import MinHash

    # The index reads the values alone; given ones save it from drawing permutations for every row.
    unused = [1] * PERMUTATIONS
    return MinHash(hashvalues=hashvalues, permutations=(unused, unused), scheme="affine32")
