"""Exact duplicates by their bytes, near duplicates by MinHash (Broder 1997) and banding.

Near duplicates are searched within a class of rows that the caller names: rows with the same
verdict and question. Similar rows with different verdicts are a contrast to learn from.
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
"""Number of bands and rows per band. Two texts of similarity 0.9 share a band with a probability of
98.9 %, of 0.5 with 3 %; the bands that minimise both errors at 0.9 would miss a third of the
duplicates."""
_MAX_MATCHES: Final = 64
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


class NearDuplicates:
    """An index of the kept rows, which finds near duplicates within a class.

    One index serves all classes: each signature is combined (exclusive or) with 64 words of its
    class, so that signatures of two classes never share a band. A row that shares bands with 64
    others without being their duplicate is not indexed: templates fill a band, and this bounds the
    time of later queries. A duplicate within such a group may be missed.
    """

    def __init__(self, threshold: float = 0.9) -> None:
        from datasketch import MinHashLSH

        self.threshold = threshold
        self._index = MinHashLSH(num_perm=PERMUTATIONS, params=_BANDS)
        self._kept: list[Signature] = []

    def seen(self, key_class: str, signature: Signature) -> bool:
        """Whether the row is a near duplicate of a kept row of its class; if not, it is kept."""
        import numpy as np

        masked = signature ^ np.frombuffer(_class_mask(key_class), dtype="<u4")
        row = _minhash(masked)
        matches = self._index.query(row)
        if matches:
            alike = (np.stack([self._kept[i] for i in matches]) == masked).mean(axis=1)
            if float(alike.max()) >= self.threshold:
                return True
        if len(matches) < _MAX_MATCHES:
            self._index.insert(len(self._kept), row, check_duplication=False)
            self._kept.append(masked)
        return False


def _class_mask(key_class: str) -> bytes:
    return hashlib.shake_128(key_class.encode("utf-8", "surrogatepass")).digest(4 * PERMUTATIONS)


@lru_cache(maxsize=1)
def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    import numpy as np

    drawn = hashlib.shake_128(b"gradegpt minhash").digest(16 * PERMUTATIONS)
    multipliers, offsets = np.frombuffer(drawn, dtype="<u8").reshape(2, PERMUTATIONS)
    return multipliers | np.uint64(1), offsets


def _minhash(hashvalues: Signature) -> object:
    from datasketch import MinHash

    # The index uses the values alone; constant permutations save drawing them for every row.
    unused = [1] * PERMUTATIONS
    return MinHash(hashvalues=hashvalues, permutations=(unused, unused), scheme="affine32")
