"""The pre-training mixture of the built-in base: tasks from graded answers, and drills."""

from __future__ import annotations

from collections.abc import Sequence

from gradegpt.importers.labelled import split_of
from gradegpt.records import dump

from .candidates import Candidate, rng_for
from .drills import comparison_drill, pair_of
from .settings import DataGenSettings
from .skills import skill_row


def mixture(candidates: Sequence[Candidate], settings: DataGenSettings) -> dict[str, list[str]]:
    """The lines of train and dev: ``repeats`` tasks per answer, no line twice, then the drills."""
    parts: dict[str, list[str]] = {"train": [], "dev": []}
    seen: set[str] = set()
    pairs = []
    for candidate in candidates:
        part = "dev" if split_of(candidate.group) == "dev" else "train"
        if part == "train" and (pair := pair_of(candidate)):
            pairs.append(pair)
        for index in range(settings.repeats):
            rng = rng_for(f"{index}:{candidate.id}", settings.seed)
            line = dump(skill_row(candidate, rng, settings.prompt_for(candidate.id).budget))
            if line not in seen:
                seen.add(line)
                parts[part].append(line)
    for index in range(settings.drills):
        drill = comparison_drill(rng_for(f"drill:{index}", settings.seed), pairs)
        parts["train"].append(dump(drill))
    return parts
