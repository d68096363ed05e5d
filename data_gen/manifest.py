"""The inputs and the contents of a run: fingerprint, counts, manifest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import gradegpt
from gradegpt.judges.rules import VERSION
from gradegpt.records import sha256_file

from .keys import NAMES, Keys, tally
from .settings import DataGenSettings
from .sources import files

_PACKAGES: Final = (Path(__file__).parent, Path(gradegpt.__file__).parent)
_CODE: Final = (".py", ".yaml", ".tsv", ".txt", ".jsonl", ".j2")


def count_rows(counts: Counter[str], chosen: Keys) -> None:
    """Add to ``counts`` the number of rows by verdict, language, type, origin and so on."""
    for name in NAMES:
        counts.update({f"{name}:{value}": n for value, n in tally(chosen, name).items()})


def inputs_of(settings: DataGenSettings) -> Iterator[str]:
    """The input files; data sets of the hub are not listed."""
    yield from (source.path for source in (*settings.sources, *settings.unlabelled))
    yield from (part.path for part in settings.avoid)
    asked = (*settings.questions, *(outputs.questions for outputs in settings.outputs))
    patterns = [questions.path for questions in asked]
    patterns += [path for outputs in settings.outputs for path in outputs.paths]
    yield from (path for pattern in patterns for path in files(pattern))


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
    settings: DataGenSettings, counts: Counter[str], spent: dict[str, Any]
) -> dict[str, Any]:
    """The manifest without the digests of the output files."""
    inputs = sorted({*inputs_of(settings)})
    manifest: dict[str, Any] = {
        "stage": "data_gen",
        "version": gradegpt.__version__,
        "rules": VERSION,
        "settings": settings.model_dump(mode="json", exclude={"workers", "on"}),
        "inputs": {path: sha256_file(path) for path in inputs},
        "counts": dict(sorted(counts.items())),
        "quality": {
            "exact_duplicates": counts["left_out:exact_duplicate"],
            "near_duplicates": counts["left_out:near_duplicate"],
            "contaminated": counts["left_out:evaluation_ngram"],
            "disputed": counts["disputed"],
        },
    }
    if spent:  # `run`, the requests of this run, depends on what was in the cache
        manifest["teacher"] = {name: value for name, value in spent.items() if name != "run"}
    return manifest


def written_files(settings: DataGenSettings) -> list[str]:
    """The files that a run writes, without the plots and the manifest."""
    card = ("README.md", "card.html") if settings.card else ()
    return ["train.jsonl", "dev.jsonl", "disputed.jsonl", "train.parquet", "dev.parquet", *card]
