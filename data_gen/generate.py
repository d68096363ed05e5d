"""The data generation run: seeds, candidates, checks, balance, files; the manifest last."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import gradegpt
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_objects, sha256_file, whole_file, write_json
from gradegpt.judges.rules import VERSION

from .asking import ask_teacher
from .candidates import rng_for
from .card import write_card
from .readings import write_readings
from .rows import lines_of
from .seeds import seeds
from .selection import Keys, chosen_rows, shortfalls
from .settings import DataGenSettings, DataSettings
from .shards import StageProgress, connected, make_shards
from .sift import Sifted, sift

_COUNTED: Final = (
    "verdict", "lang", "response_lang", "type", "origin", "pattern", "source", "labelled_by",
)  # fmt: skip


def generate(
    settings: DataGenSettings, progress: StageProgress = lambda *_: None, command: str = ""
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


def _generated(settings: DataGenSettings, progress: StageProgress, command: str) -> dict[str, Any]:
    folder, counts = settings.folder, Counter[str]()
    work = (folder / ".work" / fingerprint(settings)).resolve()
    paths = make_shards(seeds(settings, counts), settings, work, progress)
    paths, readings, spent = ask_teacher(paths, settings, work / "asked", progress)
    sifted = sift(paths, settings, progress)
    counts.update(sifted.counts)
    chosen = chosen_rows(sifted.keys, settings)
    if not len(chosen["train"]):
        raise InputError(
            f"{settings.name}: no training rows; name sources, bank or parametric problems"
        )
    lines = lines_of(sifted, chosen, settings, progress)
    # Removed first: the manifest marks the other files as complete.
    (folder / "manifest.json").unlink(missing_ok=True)
    if unused := len(sifted.keys) - sum(map(len, chosen.values())):
        counts["left_out:balance"] = unused
    for part, rows in lines.items():
        rng_for(part, settings.seed).shuffle(rows)
        counts[part] = len(rows)
        with whole_file(folder / f"{part}.jsonl") as out:
            out.writelines(rows)
    with whole_file(folder / "disputed.jsonl") as out:
        out.writelines(sifted.disputed)
    if settings.teacher is not None:
        write_readings(folder / "readings.jsonl", readings)
    manifest = _manifest(settings, counts, sifted, chosen)
    if spent:  # `run`, the requests of this run, depends on what was in the cache
        manifest["teacher"] = {name: value for name, value in spent.items() if name != "run"}
    if command:
        manifest["command"] = command
    write_card(folder, manifest, _written(folder))
    names = ["README.md", "disputed.jsonl", *(f"{part}.jsonl" for part in lines)]
    names += ["readings.jsonl"] * (settings.teacher is not None)
    manifest["outputs"] = {name: sha256_file(folder / name) for name in sorted(names)}
    write_json(folder / "manifest.json", manifest)
    shutil.rmtree(folder / ".work", ignore_errors=True)
    return manifest


def _written(folder: Path) -> Iterator[dict[str, Any]]:
    for part in ("train", "dev"):
        yield from (row for _, row in read_objects(folder / f"{part}.jsonl"))


def _manifest(
    settings: DataGenSettings, counts: Counter[str], sifted: Sifted, chosen: Mapping[str, Keys]
) -> dict[str, Any]:
    """The manifest with the counts by verdict, language and so on, and the quality of the rows."""
    everyone = sifted.keys.loc[sorted(n for keys in chosen.values() for n in keys.index)]
    for name in _COUNTED:
        counts.update(f"{name}:{value}" for value in everyone[name])
    manifest = manifest_of(settings, counts, inputs_of(settings))
    manifest["quality"] = {
        "exact_duplicates": counts["left_out:exact_duplicate"],
        "near_duplicates": counts["left_out:near_duplicate"],
        "contaminated": counts["left_out:evaluation_ngram"],
        "disputed": counts["disputed"],
    }
    manifest["shortfalls"] = shortfalls(everyone, settings)
    return manifest


_PACKAGES: Final = (Path(__file__).parent, Path(gradegpt.__file__).parent)
_CODE: Final = (".py", ".yaml", ".tsv", ".txt", ".jsonl", ".gz")


def inputs_of(settings: DataGenSettings) -> Iterator[str]:
    """The input files."""
    yield from (source.path for source in (*settings.sources, *settings.unlabelled))
    yield from (part.path for part in settings.avoid)
    yield from settings.readings


def fingerprint(settings: DataGenSettings) -> str:
    """A digest of all that the candidates depend on: settings, input files and code."""
    digest = hashlib.sha256(f"{gradegpt.__version__}|{VERSION}|".encode())
    digest.update(settings.model_dump_json(exclude={"out", "workers", "on"}).encode())
    code = (p for package in _PACKAGES for p in package.rglob("*") if p.suffix in _CODE)
    inputs = (Path(path) for path in sorted({*inputs_of(settings)}))
    for path in (*sorted(code), *inputs):
        digest.update(sha256_file(path).encode())
    return digest.hexdigest()[:16]


def manifest_of(
    settings: DataSettings, counts: Counter[str], inputs: Iterable[str] = ()
) -> dict[str, Any]:
    """The manifest without the digests of the output files."""
    return {
        "stage": "data_gen",
        "version": gradegpt.__version__,
        "rules": VERSION,
        "settings": settings.model_dump(mode="json", exclude={"workers", "on"}),
        "inputs": {path: sha256_file(path) for path in sorted({*inputs})},
        "counts": dict(sorted(counts.items())),
    }
