"""Exact duplicates by their bytes, near duplicates by MinHash (Broder 1997) and banding.

Near duplicates are searched within a class of rows that the caller names: rows with the same
verdict and question. Similar rows with different verdicts are a contrast to learn from. As rows of
two classes are never compared, any part of the rows that holds whole classes is searched by itself.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gradegpt.ngrams import digests, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signature = NDArray[np.uint32]
    Bands = NDArray[np.uint64]
    Rows = NDArray[np.int64]
    Records = NDArray[np.void]

SHINGLE: Final = 5
"""Tokens in a shingle."""
PERMUTATIONS: Final = 64
BANDS: Final = 8
"""Bands of eight minima each. Two texts of similarity 0.9 share a band with a probability of
98.9 %, of 0.5 with 3 %; the bands that minimise both errors at 0.9 would miss a third of the
duplicates."""
MAX_MATCHES: Final = 64
_BLOCK: Final = 4096

EXACT: Final[Any] = [("hash", "<u8"), ("rest", "<u8"), ("row", "<i8")]
"""Fields of a record for exact duplicates: the halves of the row's key, and its number."""
NEAR: Final[Any] = [("hash", "<u8"), ("row", "<i8"), ("signature", "<u4", (PERMUTATIONS,))]
"""Fields of a record for near duplicates: the hash of its class, its number, its signature."""


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


def exact_record(text: str, row: int) -> tuple[int, int, int]:
    """The values of an ``EXACT`` record."""
    key = exact_key(text)
    return int.from_bytes(key[:8]), int.from_bytes(key[8:]), row


def near_record(key_class: str, signature: Signature, row: int) -> tuple[int, int, Signature]:
    """The values of a ``NEAR`` record.

    The signature is combined (exclusive or) with 64 words of its class, so that signatures of two
    classes never share a band.
    """
    import numpy as np

    mask = hashlib.shake_128(key_class.encode("utf-8", "surrogatepass")).digest(4 * PERMUTATIONS)
    return int.from_bytes(exact_key(key_class)[:8]), row, signature ^ np.frombuffer(mask, "<u4")


def exact_copies(records: Records) -> Rows:
    """The numbers of the rows that are equal to an earlier row."""
    import numpy as np

    ordered = records[np.lexsort((records["row"], records["rest"], records["hash"]))]
    keys = ordered[["hash", "rest"]]
    copies: Rows = ordered["row"][1:][keys[1:] == keys[:-1]]
    return copies


def near_copies(read: Callable[[], Iterable[Records]], threshold: float) -> Rows:
    """The numbers of the rows that are near duplicates of an earlier row that is kept.

    A row that shares bands with 64 others without being their duplicate is not compared with later
    rows: templates fill a band, and this bounds the time. A duplicate within such a group may be
    missed.

    Args:
        read: Yields the records in parts, the same ones each time. It is called twice, and only the
            signatures of rows that share a band are kept: 90 bytes a row and 700 of such a row.
        threshold: The estimated Jaccard similarity from which a row is a duplicate.

    """
    import numpy as np

    # Copies: a view would keep the signatures.
    parts = [(part["row"].copy(), _bands(part["signature"])) for part in read()]
    if not parts:
        return np.empty(0, dtype=np.int64)
    rows, bands = (np.concatenate(column) for column in zip(*parts, strict=True))
    del parts
    shared = np.stack([_repeated(bands[:, band]) for band in range(BANDS)], axis=1)
    order = np.flatnonzero(shared.any(axis=1))
    order = order[np.argsort(rows[order])]
    signatures = _signatures(read(), order)
    values = (bands[place][shared[place]].tolist() for place in order)
    seen = np.array([*_seen(signatures, values, threshold)], dtype=np.int64)
    copies: Rows = rows[order[seen]]
    return copies


def _seen(signatures: Signature, bands: Iterable[list[int]], threshold: float) -> Iterator[int]:
    """The places of the near duplicates of an earlier signature, ``[n, 64]``, that is kept."""
    index: defaultdict[int, list[int]] = defaultdict(list)
    for place, values in enumerate(bands):
        others = list({other for value in values for other in index[value]})
        equal = signatures[others] == signatures[place]
        # The values are hashes: that a band is really shared is seen here.
        equal = equal[equal.reshape(-1, BANDS, PERMUTATIONS // BANDS).all(axis=2).any(axis=1)]
        if len(equal) and equal.mean(axis=1).max() >= threshold:
            yield place
        elif len(equal) < MAX_MATCHES:
            for value in values:
                index[value].append(place)


def _bands(signatures: Signature) -> Bands:
    """A hash of each band, ``[n, 8]``, by multilinear hashing; it depends on the band's place."""
    import numpy as np

    multipliers, _ = _permutations()
    products = signatures.astype(np.uint64) * multipliers
    sums: Bands = products.reshape(-1, BANDS, PERMUTATIONS // BANDS).sum(axis=2, dtype=np.uint64)
    return sums


def _repeated(values: Bands) -> NDArray[np.bool_]:
    """Which of the values occur more than once."""
    import numpy as np

    order = np.argsort(values)
    same = values[order[1:]] == values[order[:-1]]
    repeated = np.zeros(len(values), dtype=np.bool_)
    repeated[order[1:][same]] = repeated[order[:-1][same]] = True
    return repeated


def _signatures(parts: Iterable[Records], places: Rows) -> Signature:
    """The signatures at some places of the records, ``[n, 64]``."""
    import numpy as np

    found = np.empty((len(places), PERMUTATIONS), dtype=np.uint32)
    order, start = np.argsort(places), 0
    for part in parts:
        low, high = np.searchsorted(places, (start, start + len(part)), sorter=order)
        found[order[low:high]] = part["signature"][places[order[low:high]] - start]
        start += len(part)
    return found


@lru_cache(maxsize=1)
def _permutations() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    import numpy as np

    drawn = hashlib.shake_128(b"gradegpt minhash").digest(16 * PERMUTATIONS)
    multipliers, offsets = np.frombuffer(drawn, dtype="<u8").reshape(2, PERMUTATIONS)
    return multipliers | np.uint64(1), offsets
