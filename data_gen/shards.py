"""Shards of the work: a file of candidates for each slice of the seeds, written atomically.

A run that was killed reuses its finished shards and makes the rest. The number of processes changes
neither the shards nor their order.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gradegpt.errors import OutputError
from gradegpt.fit import cost
from gradegpt.machine import cores
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
from .quality.duplicates import signature
from .seeds import Seed, avoided_texts, candidates_of
from .settings import Avoid, DataGenSettings

if TYPE_CHECKING:
    from .quality.duplicates import Signature

SHARD: Final = 100
"""Seeds per shard: a few seconds of work."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the number of finished steps and the total."""


def make_shards(
    seeds: Sequence[Seed], settings: DataGenSettings, folder: Path, progress: Progress
) -> list[Path]:
    """Make the missing shards; return the paths of all shards, in order.

    Raises:
        OutputError: a process died; finished shards are kept.

    """
    pieces = [seeds[at : at + SHARD] for at in range(0, len(seeds), SHARD)]
    paths = [folder / f"{index:05d}.jsonl" for index in range(len(pieces))]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    done = len(seeds) - sum(len(pieces[i]) for i in missing)
    progress("writing responses", done, len(seeds))
    for index in _made([(pieces[i], settings, paths[i], i) for i in missing], settings.workers):
        done += len(pieces[index])
        progress("writing responses", done, len(seeds))
    return paths


Work = tuple[Sequence[Seed], DataGenSettings, Path, int]


def _made(work: Sequence[Work], workers: int) -> Iterator[int]:
    count = workers or cores()
    if count < 2 or len(work) < 2:
        yield from map(make_shard, work)
        return
    # Not fork: the caller's threads (a progress bar, a test runner) would be copied in any state.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(make_shard, piece) for piece in work]):
                yield future.result()
        except BrokenProcessPool as error:
            raise OutputError(
                f"{work[0][2].parent}: a process died (out of memory?); "
                "run the same command again to resume, with fewer workers=N if need be"
            ) from error


def make_shard(work: Work) -> int:
    """Write one shard: usable and disputed candidates, then the counts of those left out."""
    seeds, settings, path, index = work
    left_out: Counter[str] = Counter()
    with whole_file(path) as out:
        for seed in seeds:
            for candidate in candidates_of(seed, settings):
                reason = _unusable(candidate, settings)
                if reason:
                    left_out[f"left_out:{reason}"] += 1
                else:
                    out.write(dump(_signed(candidate)) + "\n")
        out.write(dump({"counts": dict(sorted(left_out.items()))}) + "\n")
    return index


def read_shard(path: Path, counts: Counter[str]) -> Iterator[Candidate]:
    """The candidates of a shard; the numbers left out are added to ``counts``."""
    for number, row in read_objects(path):
        if "counts" in row:
            counts.update(row["counts"])
        else:
            yield validate(Candidate, row, f"{path}:{number}")


def _unusable(candidate: Candidate, settings: DataGenSettings) -> str:
    shown = shown_item(candidate.item, settings.prompt_for(candidate.id))
    # The shown texts, too: a cut joins texts that were apart.
    texts = {*texts_of(candidate.item), *texts_of(shown)} if settings.avoid else ()
    if any(map(_evaluation(settings).hit, texts)):
        return "evaluation_ngram"
    longest = settings.quality.longest
    if longest and sum(map(cost, texts_of(shown))) > longest:
        return "too_long"
    if labels_agree(candidate.labels) is False:
        return ""
    if candidate.chain is None and settings.teacher is None:
        return "unsettled" if candidate.labels else "unlabelled"
    if candidate.chain is None:
        return ""
    if settings.kind == "base" and is_tag_alone(candidate.chain):
        return "tag_alone"
    if settings.kind == "judge" and not formats_of(candidate.chain, settings.formats):
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


def _evaluation(settings: DataGenSettings) -> Contamination:
    return _contamination(settings.avoid, settings.quality.ngram)


@cache
def _contamination(avoid: tuple[Avoid, ...], ngram: int) -> Contamination:
    seen = Contamination(ngram)
    for texts in avoided_texts(avoid):
        for text in texts:
            seen.add(text)
    return seen
