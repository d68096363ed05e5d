"""Ask a teacher for the verdicts of candidates, shard by shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradegpt.records import write_rows

from .candidates import Candidate, labels_agree, rng_for
from .settings import DataGenSettings
from .shards import Progress, read_shard
from .teacher import Teacher, Vote


def ask_teacher(
    paths: Sequence[Path], settings: DataGenSettings, folder: Path, progress: Progress
) -> tuple[list[Path], dict[str, Any]]:
    """The shards with a teacher's labels, and what was spent; the same shards without a teacher."""
    if settings.teacher is None:
        return [*paths], {}
    labelled: list[Path] = []
    with Teacher(settings.teacher) as teacher:
        for number, path in enumerate(paths):
            progress("asking the teacher", number, len(paths))
            counts: Counter[str] = Counter()
            candidates = _labelled([*read_shard(path, counts)], settings, teacher)
            labelled.append(folder / path.name)
            write_rows(labelled[-1], [*candidates, {"counts": dict(sorted(counts.items()))}])
        progress("asking the teacher", len(paths), len(paths))
        return labelled, teacher.meter.summary()


def _labelled(
    candidates: list[Candidate], settings: DataGenSettings, teacher: Teacher
) -> list[Candidate]:
    """The candidates with a teacher's verdict, and its chain for those without one."""
    asked = [c for c in candidates if _to_ask(c, settings)]
    votes = teacher.label([c.item for c in asked])
    voted = {id(c): vote for c, vote in zip(asked, votes, strict=True)}
    return [_with_vote(c, voted[id(c)]) if id(c) in voted else c for c in candidates]


def _to_ask(candidate: Candidate, settings: DataGenSettings) -> bool:
    chance = rng_for(f"teacher:{candidate.id}", settings.seed).random()
    return candidate.chain is None or chance < settings.check


def _with_vote(candidate: Candidate, vote: Vote) -> Candidate:
    if vote.verdict is None:
        return candidate
    labels = candidate.labels | {"teacher": vote.verdict}
    # A teacher's chain reads better than a template's: it is used where the labels agree.
    chain = vote.chain if labels_agree(labels) and vote.chain is not None else candidate.chain
    return candidate.model_copy(update={"labels": labels, "chain": chain})
