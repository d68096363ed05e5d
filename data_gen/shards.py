"""Shards of the work: a file of candidates for each slice of the seeds, written atomically.

A run that was killed reuses its finished shards and makes the rest. The number of processes changes
neither the shards nor their order.
"""

from __future__ import annotations

import base64
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gradegpt.fit import cost
from gradegpt.ngrams import Contamination
from gradegpt.records import dump, read_objects, validate, whole_file

from .candidates import (
    Candidate,
    formats_of,
    is_tag_alone,
    labels_agree,
    quote_survives,
    shown_item,
    texts_of,
)
from .duplicates import signature
from .seeds import Seed, avoided_texts, candidates_of
from .settings import Avoid, DataGenSettings
from .tasks import finished

if TYPE_CHECKING:
    from .duplicates import Signature

SHARD: Final = 100
"""Seeds per shard: a few seconds of work."""
_NGRAM: Final = 13
"""Candidates that share this many consecutive tokens with an evaluation file are left out."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the number of finished steps and the total."""


def make_shards(
    seeds: Iterable[Seed], settings: DataGenSettings, folder: Path, progress: Progress
) -> list[Path]:
    """Make the missing shards; return the paths of all shards, in order.

    Raises:
        OutputError: a process died; finished shards are kept.

    """
    pieces = _write_pieces(seeds, folder / "seeds")
    total = sum(piece.size for piece in pieces)
    paths = [folder / f"{index:05d}.jsonl" for index in range(len(pieces))]
    work = [
        (piece, settings, path) for piece, path in zip(pieces, paths, strict=True)
        if not path.exists()
    ]  # fmt: skip
    done = total - sum(piece.size for piece, *_ in work)
    progress("writing responses", done, total)
    for size in finished(make_shard, work, settings):
        done += size
        progress("writing responses", done, total)
    return paths


class Piece(NamedTuple):
    """The seeds of a shard: ``size`` of them, pickled from byte ``start`` of a file."""

    path: Path
    start: int
    size: int


Work = tuple[Piece, DataGenSettings, Path]


def _write_pieces(seeds: Iterable[Seed], path: Path) -> list[Piece]:
    """Write the seeds to a file, so that neither this process nor a task holds all of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    left, pieces = iter(seeds), []
    with path.open("wb") as file:
        while piece := list(islice(left, SHARD)):
            pieces.append(Piece(path, file.tell(), len(piece)))
            pickle.dump(piece, file)
    return pieces


def make_shard(work: Work) -> int:
    """Write one shard; return the number of its seeds."""
    piece, settings, path = work
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        seeds: list[Seed] = pickle.load(file)
    write_shard((c for seed in seeds for c in candidates_of(seed, settings)), settings, path)
    return piece.size


def write_shard(candidates: Iterable[Candidate], settings: DataGenSettings, path: Path) -> None:
    """Write the usable and the disputed candidates, then the counts of those left out."""
    left_out: Counter[str] = Counter()
    with whole_file(path) as out:
        for candidate in candidates:
            reason = _unusable(candidate, settings)
            if reason:
                left_out[f"left_out:{reason}"] += 1
            else:
                out.write(dump(_signed(candidate)) + "\n")
        out.write(dump({"counts": dict(sorted(left_out.items()))}) + "\n")


def read_shard(path: Path, counts: Counter[str]) -> Iterator[Candidate]:
    """The candidates of a shard; the numbers left out are added to ``counts``."""
    for number, row in read_objects(path):
        if "counts" in row:
            counts.update(row["counts"])
        else:
            yield validate(Candidate, row, f"{path}:{number}")


def _unusable(candidate: Candidate, settings: DataGenSettings) -> str:
    shown = shown_item(candidate.item, settings.prompt)
    # The shown texts, too: a cut joins texts that were apart.
    texts = {*texts_of(candidate.item), *texts_of(shown)} if settings.avoid else ()
    if any(map(_contamination(settings.avoid).hit, texts)):
        return "evaluation_ngram"
    longest = settings.longest
    if longest and sum(map(cost, texts_of(shown))) > longest:
        return "too_long"
    if labels_agree(candidate.labels) is False:
        return ""
    if candidate.chain is None and settings.teacher is None:
        return "unsettled" if candidate.labels else "unlabelled"
    if candidate.chain is None:
        return ""
    if not formats_of(candidate.chain, settings.formats):
        return "tag_alone" if is_tag_alone(candidate.chain) else "no_gloss"
    return "" if quote_survives(candidate.chain, shown) else "quote_cut"


def _signed(candidate: Candidate) -> Candidate:
    text = "\n".join(texts_of(candidate.item))
    packed = base64.b64encode(signature(text).tobytes()).decode()
    return candidate.model_copy(update={"signature": packed})


def signature_of(candidate: Candidate) -> Signature:
    """The candidate's MinHash signature as an array."""
    import numpy as np

    return np.frombuffer(base64.b64decode(candidate.signature), dtype=np.uint32)


@cache
def _contamination(avoid: tuple[Avoid, ...]) -> Contamination:
    seen = Contamination(_NGRAM)
    for texts in avoided_texts(avoid):
        for text in texts:
            seen.add(text)
    return seen
