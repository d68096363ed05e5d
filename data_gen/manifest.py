"""The inputs of a run: fingerprint and manifest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import gradegpt
from gradegpt.judges.rules import VERSION
from gradegpt.records import sha256_file
from gradegpt.tables import files

from .settings import DataGenSettings, DataSettings

_PACKAGES: Final = (Path(__file__).parent, Path(gradegpt.__file__).parent)
_CODE: Final = (".py", ".yaml", ".tsv", ".txt", ".jsonl")


def inputs_of(settings: DataGenSettings) -> Iterator[str]:
    """The input files; data sets of the hub are not listed."""
    yield from (source.path for source in (*settings.sources, *settings.unlabelled))
    yield from (part.path for part in settings.avoid)
    yield from (path for questions in settings.questions for path in files(questions.path))


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
