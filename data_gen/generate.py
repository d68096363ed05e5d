"""The data generation run: seeds, candidates, checks, balance, files; the manifest last."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from gradegpt.errors import InputError
from gradegpt.records import read_objects, sha256_file, whole_file, write_json
from gradegpt.schema import Verdict

from .ask_teacher import ask_teacher
from .balance import choose, shortfalls
from .candidates import rng_for
from .card import write_card
from .keys import NO_QUESTION, Keys, column, concatenated, numbers, selection_order
from .manifest import count_rows, fingerprint, manifest_of, written_files
from .quality.artifact_probe import probe_artifacts
from .rows import PARTS, judge_lines, write_parquet, write_shuffled
from .seeds import seeds
from .settings import DataGenSettings
from .shards import Progress, make_shards
from .sift import Sifted, sift
from .strata import stratified
from .tasks import connected

_LEAST_FOR_PROBE: Final = 400
_MOST: Final = 100_000
"""Rows that the probe holds in memory."""


def generate(
    settings: DataGenSettings, progress: Progress = lambda *_: None, command: str = ""
) -> dict[str, Any]:
    """Write the set into ``settings.folder``; return the manifest.

    ``command`` is the command that the data card shows.

    Raises:
        MissingError, InputError: a file is missing or a row of it cannot be read.
        OutputError: a process died; the same command resumes the run.
        EngineError: there is no cluster at the address ``settings.on``.

    """
    with connected(settings.on):
        return _generated(settings, progress, command)


def _generated(settings: DataGenSettings, progress: Progress, command: str) -> dict[str, Any]:
    folder, counts = Path(settings.folder), Counter[str]()
    work = (folder / ".work" / fingerprint(settings)).resolve()
    paths = make_shards(seeds(settings, counts), settings, work, progress)
    paths, spent = ask_teacher(paths, settings, work / "asked", progress)
    sifted = sift(paths, settings, work / "sifted", progress)
    counts.update(sifted.counts)
    chosen = _choose_rows(sifted.agreed(), settings)
    lines = judge_lines(sifted, chosen, settings, work / "rows", progress)
    if not any(path.stat().st_size for path in lines["train"]):
        raise InputError(
            f"{settings.name}: no training rows; "
            "name sources, questions, bank or parametric problems"
        )
    # Removed first: the manifest marks the other files as complete.
    (folder / "manifest.json").unlink(missing_ok=True)
    for part, files in lines.items():
        rng = rng_for(part, settings.seed)
        counts[part] = write_shuffled(folder / f"{part}.jsonl", files, rng, work)
    with whole_file(folder / "disputed.jsonl") as out:
        out.writelines(sifted.disputed())
    everyone = concatenated(chosen.values())
    count_rows(counts, everyone)
    manifest = manifest_of(settings, counts, spent)
    if command:
        manifest["command"] = command
    manifest["shortfalls"] = shortfalls(everyone, settings.balance)
    _describe(folder, manifest, sifted, chosen, settings, progress)
    manifest["outputs"] = {name: sha256_file(folder / name) for name in written_files(settings)}
    write_json(folder / "manifest.json", manifest)
    shutil.rmtree(folder / ".work", ignore_errors=True)
    return manifest


def _choose_rows(agreed: Keys, settings: DataGenSettings) -> dict[str, Keys]:
    """The rows of train and dev: by strata if the settings have any, else balanced by cells."""
    if not settings.strata:
        return _split(choose(agreed, settings.balance))
    sizes = {"train": settings.balance.rows, "dev": settings.dev_rows}
    split = _split(agreed)
    return {part: stratified(split[part], settings.strata, sizes[part]) for part in split}


def _split(keys: Keys) -> dict[str, Keys]:
    """Split by question.

    Two questions that look the same in a short prompt would leak: such rows stay in train alone.
    """
    dev, shown = (numbers(keys, name) for name in ("dev", "shown"))
    leaks = np.isin(shown, shown[~dev]) & (shown != NO_QUESTION)
    return {"train": keys.filter(~dev), "dev": keys.filter(dev & ~leaks)}


def _at_most(keys: Keys) -> Any:
    """The numbers of ``_MOST`` rows, or of all: those with the lowest digests, ascending."""
    return np.sort(numbers(keys, "row")[selection_order(keys)[:_MOST]])


def _describe(
    folder: Path,
    manifest: dict[str, Any],
    sifted: Sifted,
    chosen: Mapping[str, Keys],
    settings: DataGenSettings,
    progress: Progress,
) -> None:
    """Parquet files, the artifact probe and the data card."""
    rows = [folder / f"{part}.jsonl" for part in PARTS]
    for path in rows:
        write_parquet(path)
    what = "measuring artifacts, drawing the card"
    progress(what, 0, 2)
    manifest["quality"]["artifact_probe"] = _probe(sifted, chosen, settings)
    progress(what, 1, 2)
    if settings.card:
        write_card(folder, manifest, (row for path in rows for _, row in read_objects(path)))
    progress(what, 2, 2)


def _probe(
    sifted: Sifted, chosen: Mapping[str, Keys], settings: DataGenSettings
) -> dict[str, Any] | None:
    """How well the response alone predicts the verdict of synthetic rows; none for few rows.

    Of more than a hundred thousand rows, it is measured on those with the lowest digests.
    """
    everyone = concatenated(chosen.values())
    written = everyone.filter(column(everyone, "origin").among(["synthetic"]))
    if not settings.quality.artifact_probe or len(written) < _LEAST_FOR_PROBE:
        return None
    rows = _at_most(written)
    parts = [np.intersect1d(numbers(part, "row"), rows) for part in chosen.values()]
    read = [(c.item.response, c.verdict, c.group) for part in parts for c in sifted.read(part)]
    every, answered = (
        probe_artifacts(
            [response for response, *_ in rows],
            [verdict is Verdict.CORRECT for _, verdict, _ in rows],
            [group for *_, group in rows],
            settings.seed,
        ).as_dict()
        for rows in (read, [row for row in read if row[1] is not Verdict.INVALID])
    )
    return every | {"answered": answered["overall"]}
