"""The data generation run: seeds, candidates, checks, balance, files; the manifest last."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gradegpt.errors import InputError
from gradegpt.records import read_objects, sha256_file, whole_file, write_json
from gradegpt.schema import Verdict

from .artifact_probe import probe_artifacts
from .ask_teacher import ask_teacher
from .candidates import rng_for
from .card import write_card
from .manifest import fingerprint, inputs_of, manifest_of
from .rows import lines_of, write_parquet, write_shuffled
from .seeds import seeds
from .selection import Keys, chosen_rows, in_order, shortfalls
from .settings import DataGenSettings
from .shards import Progress, make_shards
from .sift import Sifted, sift
from .tasks import connected

_COUNTED: Final = (
    "verdict", "lang", "response_lang", "type", "origin", "pattern", "source", "labelled_by",
)  # fmt: skip
_LEAST_FOR_PROBE: Final = 400
_MOST_FOR_PROBE: Final = 100_000


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
    sifted = sift(paths, settings, progress)
    counts.update(sifted.counts)
    chosen = chosen_rows(sifted.keys, settings)
    if not len(chosen["train"]):
        raise InputError(
            f"{settings.name}: no training rows; "
            "name sources, questions, bank or parametric problems"
        )
    lines = lines_of(sifted, chosen, settings, work / "rows", progress)
    # Removed first: the manifest marks the other files as complete.
    (folder / "manifest.json").unlink(missing_ok=True)
    for part, files in lines.items():
        rng = rng_for(part, settings.seed)
        counts[part] = write_shuffled(folder / f"{part}.jsonl", files, rng, work)
        write_parquet(folder / f"{part}.jsonl")
    with whole_file(folder / "disputed.jsonl") as out:
        out.writelines(sifted.disputed)
    manifest = _manifest(settings, counts, sifted, _concatenated(chosen))
    if spent:  # `run`, the requests of this run, depends on what was in the cache
        manifest["teacher"] = {name: value for name, value in spent.items() if name != "run"}
    if command:
        manifest["command"] = command
    if settings.card:
        progress("writing the card", 0, 1)
        write_card(folder, manifest, _written(folder))
        progress("writing the card", 1, 1)
    names = ["disputed.jsonl", *(f"{p}.{form}" for p in lines for form in ("jsonl", "parquet"))]
    names += ["README.md"] if settings.card else []
    manifest["outputs"] = {name: sha256_file(folder / name) for name in sorted(names)}
    write_json(folder / "manifest.json", manifest)
    shutil.rmtree(folder / ".work", ignore_errors=True)
    return manifest


def _concatenated(chosen: dict[str, Keys]) -> Keys:
    import pandas as pd

    return pd.concat([*chosen.values()]).sort_index()


def _written(folder: Path) -> Iterator[dict[str, Any]]:
    for part in ("train", "dev"):
        yield from (row for _, row in read_objects(folder / f"{part}.jsonl"))


def _manifest(
    settings: DataGenSettings, counts: Counter[str], sifted: Sifted, everyone: Keys
) -> dict[str, Any]:
    """The manifest with the counts by verdict, language and so on, and the quality of the rows."""
    for name in _COUNTED:
        counts.update(f"{name}:{value}" for value in everyone[name])
    manifest = manifest_of(settings, counts, inputs_of(settings))
    manifest["quality"] = {
        "exact_duplicates": counts["left_out:exact_duplicate"],
        "near_duplicates": counts["left_out:near_duplicate"],
        "contaminated": counts["left_out:evaluation_ngram"],
        "disputed": counts["disputed"],
        "artifact_probe": _probe(sifted, everyone, settings),
    }
    manifest["shortfalls"] = shortfalls(everyone, settings)
    return manifest


def _probe(sifted: Sifted, everyone: Keys, settings: DataGenSettings) -> dict[str, Any] | None:
    """How well the response alone predicts the verdict of written answers; none for few rows.

    Responses without an answer are left out: they are rightly recognised from the response alone.
    Of more than a hundred thousand rows, it is measured on those with the lowest digests.
    """
    answered = everyone["verdict"] != Verdict.INVALID
    written = everyone[answered & (everyone["origin"] == "synthetic")]
    if not settings.card or len(written) < _LEAST_FOR_PROBE:
        return None
    read = [*sifted.read(in_order(written)[:_MOST_FOR_PROBE].sort_index())]
    return probe_artifacts(
        [candidate.item.response for candidate in read],
        [candidate.verdict is Verdict.CORRECT for candidate in read],
        [candidate.group for candidate in read],
        settings.seed,
    )
