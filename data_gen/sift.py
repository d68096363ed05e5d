"""Sift the candidates: those whose labels agree stay, without duplicates.

The result is that of reading all candidates in order and leaving out each that repeats an earlier
one, in memory that does not grow with their number: the steps are tasks over files.

1. A batch of shards: each candidate is agreed, disputed or left out. For the agreed ones it writes
   their keys and two files of records, sorted by a hash: of the text, and of verdict and question.
2. A range of the first hash: equal texts have one, so their records, from all batches, are together
   and the later ones are exact duplicates.
3. A range of the second hash, without the exact duplicates: only rows with the same verdict and
   question can be near duplicates, so those of a range are found in the order of the rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from gradegpt.records import dump, whole_file

from .candidates import Candidate, formats_of, labels_agree, quote_survives, shown_item, texts_of
from .keys import Keys, concatenated, key_of, table_of
from .quality.duplicates import (
    EXACT,
    NEAR,
    exact_copies,
    exact_record,
    near_copies,
    near_record,
)
from .settings import DataGenSettings
from .shards import Progress, batches_of, read_shard, signature_of
from .tasks import finished

if TYPE_CHECKING:
    from .quality.duplicates import Records, Rows

ROWS: Final = 2**18
"""Rows whose duplicates are searched together: about 100 MB."""


FATES: Final = "fates.npy"
"""The file of all candidates' fates, which the tasks read."""


class Fate(IntEnum):
    """What becomes of a candidate; the names, in lower case, are those of the counts."""

    AGREED = 0
    DISPUTED = 1
    UNLABELLED = 2
    UNSETTLED = 3
    NO_GLOSS = 4
    QUOTE_CUT = 5
    EXACT_DUPLICATE = 6
    NEAR_DUPLICATE = 7


class Batch(NamedTuple):
    """Consecutive shards; what is written for them is in ``folder``."""

    number: int
    paths: Sequence[Path]
    folder: Path

    def file(self, suffix: str) -> Path:
        """A file of the batch."""
        return self.folder / f"{self.number:05d}.{suffix}"


class Sifted(NamedTuple):
    """The candidates with their fates.

    ``starts``: the number of the first candidate of each batch, and the number of all. ``fates``:
    one byte a candidate. ``counts``: how many were left out, and why.
    """

    batches: list[Batch]
    starts: Rows
    fates: Any
    counts: Counter[str]

    def agreed(self) -> Keys:
        """The keys of the agreed candidates, in order."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = [table_of(())]
        for batch, start in zip(self.batches, self.starts, strict=False):
            keys = pq.read_table(batch.file("keys.parquet"))
            rows = keys["row"].to_numpy() + start
            keys = keys.set_column(0, "row", pa.array(rows))
            tables.append(keys.filter(self.fates[rows] == Fate.AGREED))
        return concatenated(tables)

    def disputed(self) -> Iterator[str]:
        """The lines of the disputed candidates, with all labels."""
        for batch in self.batches:
            with batch.file("disputed.jsonl").open(encoding="utf-8") as lines:
                yield from lines

    def read(self, rows: Rows) -> Iterator[Candidate]:
        """Some candidates, by their ascending numbers."""
        for batch in self.batches:
            wanted = {*self.within(batch, rows).tolist()}
            if wanted:
                yield from (candidate for _, candidate in read_batch(batch, wanted))

    def within(self, batch: Batch, rows: Rows) -> Rows:
        """Those of some ascending rows that a batch has, counted from its first row."""
        first, end = self.starts[batch.number : batch.number + 2]
        found: Rows = rows[slice(*rows.searchsorted((first, end)))] - first
        return found


def read_batch(batch: Batch, rows: Container[int]) -> Iterator[tuple[int, Candidate]]:
    """Some candidates of a batch with their numbers within it."""
    candidates = enumerate(_candidates(batch, Counter()))
    yield from ((row, candidate) for row, candidate in candidates if row in rows)


def sift(
    paths: Sequence[Path], settings: DataGenSettings, folder: Path, progress: Progress
) -> Sifted:
    """Sift the candidates of some shards; files are written into ``folder``.

    Raises:
        OutputError: a process died.

    """
    folder.mkdir(parents=True, exist_ok=True)
    batches = [Batch(n, part, folder) for n, part in enumerate(batches_of(paths))]
    counts: Counter[str] = Counter()
    what = "checking labels"
    progress(what, 0, len(batches))
    sort = partial(_sort_batch, settings=settings)
    for done, left_out in enumerate(finished(sort, batches, settings), start=1):
        counts.update(left_out)
        progress(what, done, len(batches))
    fates = [np.load(batch.file("fates.npy")) for batch in batches]
    starts = np.cumsum([0, *map(len, fates)])
    sifted = Sifted(batches, starts, np.concatenate([np.empty(0, np.uint8), *fates]), counts)
    _mark_duplicates(sifted, settings, folder, progress)
    found = np.bincount(sifted.fates, minlength=len(Fate)).tolist()
    counts["disputed"] = found[Fate.DISPUTED]
    for fate in Fate:
        if fate not in (Fate.AGREED, Fate.DISPUTED) and found[fate]:
            counts[f"left_out:{fate.name.lower()}"] += found[fate]
    return sifted


def _sort_batch(batch: Batch, settings: DataGenSettings) -> Counter[str]:
    """Step 1, of a batch; return the counts of its shards."""
    import pyarrow.parquet as pq

    counts: Counter[str] = Counter()
    fates, keys, exact, near = bytearray(), [], [], []
    with whole_file(batch.file("disputed.jsonl")) as disputed:
        for row, candidate in enumerate(_candidates(batch, counts)):
            fates.append(fate := _fate(candidate, settings))
            if fate is Fate.DISPUTED:
                disputed.write(dump(candidate) + "\n")
            if fate is Fate.AGREED:
                keys.append(key_of(candidate, row, settings))
                exact.append(exact_record("\0".join(texts_of(candidate.item)), row))
                compared_within = f"{candidate.verdict}|{candidate.group}"
                near.append(near_record(compared_within, signature_of(candidate), row))
    pq.write_table(table_of(keys), batch.file("keys.parquet"))
    _save_sorted(batch.file("exact.npy"), np.array(exact, EXACT))
    _save_sorted(batch.file("near.npy"), np.array(near, NEAR))
    np.save(batch.file("fates.npy"), np.frombuffer(fates, np.uint8))
    return counts


def _save_sorted(path: Path, records: Records) -> None:
    np.save(path, records[np.argsort(records["hash"], kind="stable")])


def _candidates(batch: Batch, counts: Counter[str]) -> Iterator[Candidate]:
    return (candidate for path in batch.paths for candidate in read_shard(path, counts))


def _fate(candidate: Candidate, settings: DataGenSettings) -> Fate:
    """What becomes of a candidate by itself."""
    if labels_agree(candidate.labels) is False:
        return Fate.DISPUTED
    if candidate.chain is None:
        return Fate.UNSETTLED if candidate.labels else Fate.UNLABELLED
    if "teacher" not in candidate.labels:
        return Fate.AGREED  # its chain was checked when the shard was written
    if not formats_of(candidate.chain, settings.formats):
        return Fate.NO_GLOSS
    shown = shown_item(candidate.item, settings.prompt)
    return Fate.AGREED if quote_survives(candidate.chain, shown) else Fate.QUOTE_CUT


class Range(NamedTuple):
    """The part ``number`` of ``parts`` equal ranges of a hash, over all batches."""

    number: int
    parts: int
    folder: Path
    starts: Rows

    def records(self, suffix: str) -> Iterator[Records]:
        """The records of agreed rows in the range, batch by batch, with the numbers of all rows."""
        fates = np.load(self.folder / FATES, mmap_mode="r")
        low, high = (2**64 * n // self.parts for n in (self.number, self.number + 1))
        for number, start in enumerate(self.starts[:-1]):
            stored = np.load(Batch(number, (), self.folder).file(suffix), mmap_mode="r")
            begin, end = (bisect_left(stored["hash"], bound) for bound in (low, high))
            found = np.array(stored[begin:end])
            found["row"] += start
            yield found[fates[found["row"]] == Fate.AGREED]


def _mark_duplicates(
    sifted: Sifted, settings: DataGenSettings, folder: Path, progress: Progress
) -> None:
    """Steps 2 and 3."""
    parts = max(1, -(-len(sifted.fates) // ROWS))
    tasks = [Range(n, parts, folder, sifted.starts) for n in range(parts)]
    near = partial(_near_duplicates, threshold=settings.quality.near_duplicate)
    steps = ((Fate.EXACT_DUPLICATE, _exact_duplicates), (Fate.NEAR_DUPLICATE, near))
    done = 0
    for fate, find in steps:
        np.save(folder / FATES, sifted.fates)
        for rows in finished(find, tasks, settings):
            sifted.fates[rows] = fate
            done += 1
            progress("finding duplicates", done, len(steps) * parts)


def _exact_duplicates(part: Range) -> Rows:
    return exact_copies(np.concatenate([np.empty(0, EXACT), *part.records("exact.npy")]))


def _near_duplicates(part: Range, threshold: float) -> Rows:
    return near_copies(partial(part.records, "near.npy"), threshold)
