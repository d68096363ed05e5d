"""The pre-training mixture of the built-in base: tasks from graded answers, and drills."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from gradegpt.importers.labelled import split_of
from gradegpt.records import dump

from .candidates import Candidate, rng_for
from .drills import comparison_drill, pair_of
from .settings import DataGenSettings
from .skills import skill_row


def mixture(
    candidates: Iterable[Candidate], settings: DataGenSettings
) -> Iterator[tuple[str, str]]:
    """Lines with their part: ``repeats`` tasks per answer, no line twice, then the drills."""
    seen: set[bytes] = set()
    pairs = []
    for candidate in candidates:
        part = "dev" if split_of(candidate.group) == "dev" else "train"
        if settings.drills and part == "train" and (pair := pair_of(candidate)):
            pairs.append(pair)
        for index in range(settings.repeats):
            rng = rng_for(f"{index}:{candidate.id}", settings.seed)
            line = dump(skill_row(candidate, rng, settings.prompt_for(candidate.id).budget))
            if (digest := _digest(line)) not in seen:
                seen.add(digest)
                yield part, line
    for index in range(settings.drills):
        yield "train", dump(comparison_drill(rng_for(f"drill:{index}", settings.seed), pairs))


def _digest(line: str) -> bytes:
    return hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
