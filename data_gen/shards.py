"""Shards of the work: a file of candidates for each slice of the seeds, written atomically.

A run that was killed reuses its finished shards and makes the rest. The number of processes changes
neither the shards nor their order. The work is done in this process, in processes of this machine,
or on Ray.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradegpt.chains.fit import cost
from gradegpt.core.errors import OutputError
from gradegpt.core.machine import cores
from gradegpt.core.records import dump, read_objects, validate, whole_file
from gradegpt.tables.importers.labelled import PartSettings

from .candidates import Candidate, as_taught, labels_agree, texts_of
from .duplicates import signature
from .ngrams import Contamination
from .seeds import Seed, avoided_texts, candidates_of
from .settings import DataGenSettings
from .truth import formats_of, shown_item

if TYPE_CHECKING:
    from .duplicates import Signature

T = TypeVar("T")
R = TypeVar("R")


def connected(on: str) -> AbstractContextManager[Any]:
    """Ray while the context is open, if the work is done there; ``finished`` uses the connection.

    Raises:
        EngineError, MissingError: there is no cluster at the address, or no Ray.

    """
    if not on:
        return nullcontext()
    from gradegpt.app.cluster.pipeline import connect

    return connect(None if on == "ray" else on)


def finished(
    function: Callable[[T], R], tasks: Sequence[T], settings: DataGenSettings
) -> Iterator[R]:
    """The results of the tasks.

    Raises:
        OutputError: a process died.

    """
    count = settings.workers or cores()
    if settings.on:
        from gradegpt.app.cluster.pipeline import piped

        yield from piped(function, tasks)
    elif count < 2 or len(tasks) < 2:
        yield from map(function, tasks)
    else:
        yield from _in_processes(function, tasks, count, settings.folder)


def _in_processes(
    function: Callable[[T], R], tasks: Sequence[T], count: int, folder: Path
) -> Iterator[R]:
    # Not fork: the caller's threads (a progress bar, a test runner) would be copied in any state.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(function, tasks)
        except BrokenProcessPool as error:
            raise OutputError(
                f"{folder}: a process died (out of memory?); "
                "run the same command again to resume, with fewer workers=N if need be"
            ) from error


SHARD: Final = 100
"""Seeds per shard: a few seconds of work."""

StageProgress = Callable[[str, int, int], None]
"""Called with the name of the stage, the number of finished steps and the total."""


def make_shards(
    seeds: Iterable[Seed], settings: DataGenSettings, folder: Path, progress: StageProgress
) -> list[Path]:
    """Make the missing shards; return the paths of all shards, in order.

    Raises:
        OutputError: a process died; finished shards are kept.

    """
    left, work, paths, done = iter(seeds), list[Work](), list[Path](), 0
    folder.mkdir(parents=True, exist_ok=True)
    while piece := list(islice(left, SHARD)):
        paths.append(folder / f"{len(paths):05d}.jsonl")
        if paths[-1].exists():
            done += len(piece)
        else:
            work.append((piece, settings, paths[-1]))
    total = done + sum(len(piece) for piece, *_ in work)
    progress("writing responses", done, total)
    for size in finished(make_shard, work, settings):
        done += size
        progress("writing responses", done, total)
    return paths


Work = tuple[list[Seed], DataGenSettings, Path]


def make_shard(work: Work) -> int:
    """Write one shard; return the number of its seeds."""
    seeds, settings, path = work
    write_shard((c for seed in seeds for c in candidates_of(seed, settings)), settings, path)
    return len(seeds)


def write_shard(candidates: Iterable[Candidate], settings: DataGenSettings, path: Path) -> None:
    """Write the usable and the disputed candidates, then the counts of those left out."""
    left_out: Counter[str] = Counter()
    with whole_file(path) as out:
        for given in candidates:
            candidate = as_taught(given, settings.prompt)
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
    kept = labels_agree(candidate.labels) is False or settings.teacher is not None
    return "" if kept else why_unusable(candidate, settings)


def why_unusable(candidate: Candidate, settings: DataGenSettings) -> str:
    """Why a candidate makes no row: no verdict, or none of the formats; empty where it does."""
    if candidate.chain is None:
        return candidate.flaw or ("unsettled" if candidate.labels else "unlabelled")
    least = 1 if candidate.source in settings.trusted else settings.agreeing
    if candidate.origin == "real" and len(candidate.labels) < least:
        return "unconfirmed"
    if formats_of(candidate.chain, settings.formats):
        return ""
    return candidate.flaw or "no_gloss"


def _signed(candidate: Candidate) -> Candidate:
    text = "\n".join(texts_of(candidate.item))
    packed = base64.b64encode(signature(text).tobytes()).decode()
    return candidate.model_copy(update={"signature": packed})


def signature_of(candidate: Candidate) -> Signature:
    """The candidate's MinHash signature as an array."""
    import numpy as np

    return np.frombuffer(base64.b64decode(candidate.signature), dtype=np.uint32)


@cache
def _contamination(avoid: tuple[PartSettings, ...]) -> Contamination:
    seen = Contamination()
    for texts in avoided_texts(avoid):
        for text in texts:
            seen.add(text)
    return seen
