"""Ask a teacher for the verdicts of candidates, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradegpt.records import write_rows

from .candidates import Candidate, labels_agree, rng_for
from .settings import DataGenSettings
from .shards import Progress, batches_of, read_shard
from .teacher import Teacher, Vote


def ask_teacher(
    paths: Sequence[Path], settings: DataGenSettings, folder: Path, progress: Progress
) -> tuple[list[Path], dict[str, Any]]:
    """The shards with a teacher's labels, and what was spent; the same shards without a teacher."""
    if settings.teacher is None:
        return [*paths], {}
    every = (candidate for path in paths for candidate in read_shard(path, Counter()))
    total = sum(_to_ask(candidate, settings) for candidate in every)
    labelled: list[Path] = []
    done = 0
    with Teacher(settings.teacher) as teacher:
        for number, batch in enumerate(batches_of(paths)):
            counts: Counter[str] = Counter()
            candidates = [c for path in batch for c in read_shard(path, counts)]
            report = partial(_report, progress, done, total)
            done += _label(candidates, settings, teacher, report)
            labelled.append(folder / f"{number:05d}.jsonl")
            write_rows(labelled[-1], [*candidates, {"counts": dict(sorted(counts.items()))}])
        return labelled, teacher.meter.summary()


def _report(progress: Progress, before: int, total: int, done: int) -> None:
    progress("asking the teacher", before + done, total)


def _label(
    candidates: list[Candidate],
    settings: DataGenSettings,
    teacher: Teacher,
    report: Callable[[int], None],
) -> int:
    """Add a teacher's verdict to the labels, and its chain to candidates without one."""
    asked = [i for i, c in enumerate(candidates) if _to_ask(c, settings)]
    votes = teacher.label([candidates[i].item for i in asked], report)
    for index, vote in zip(asked, votes, strict=True):
        candidates[index] = _with_vote(candidates[index], vote)
    return len(asked)


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
