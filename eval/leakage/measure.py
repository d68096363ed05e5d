"""Measure which n-grams of a benchmark's items a model predicts, one row per item."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from pydantic import Field

from gradegpt.errors import EngineError
from gradegpt.records import ResumableWriter, read_rows, sha256_file, write_json, write_rows
from gradegpt.run import MANIFEST
from gradegpt.schema import Item, Row

from ..answer.ask import read_questions
from .grams import Gram, Kind, Part, cut, gram, starting_points
from .models import Continues

T = TypeVar("T")
VERSION: Final = "1"


class Measured(Row):
    """An item and its n-grams; none where it is too short, or where the request failed."""

    id: str
    tags: dict[str, str | tuple[str, ...]] = Field(default={})
    n_tokens: int
    grams: tuple[Gram, ...] = ()
    error: str = ""

    def leaked(self, kind: Kind) -> bool:
        """Whether every one of its n-grams counts as predicted."""
        return bool(self.grams) and all(one.hit(kind) for one in self.grams)

    @property
    def leaked_by_any(self) -> bool:
        """OlympicArena counts the union of what the kinds detect."""
        return any(map(self.leaked, Kind))


def measure(
    path: Path,
    out: Path,
    model: Continues[T],
    *,
    k: int = 5,
    n: int = 5,
    at_once: int = 16,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Measured]:
    """Write a row for every item of ``path`` to ``out``, in order, and return them.

    A stopped run resumes with the same call. A finished file of the same model, items and settings
    is reused; its failed rows are asked again.

    Raises:
        InputError: the items cannot be used.
        OutputError: ``out`` exists, or was begun with another model, other items or settings.
        EngineError: the model answers nothing; earlier rows are kept.

    """
    items = [item for item, _ in read_questions(path)]
    made_from = f"leakage-{VERSION}|{model.name}|{k}|{n}|{sha256_file(path)}"
    report = on_progress or (lambda done, total: None)
    if not overwrite and _is_made(out, made_from):
        rows = list(read_rows(out, Measured))
        failed = [at for at, row in enumerate(rows) if row.error]
        again = _predicted([items[at] for at in failed], model, k, n)
        for at, row in zip(failed, again, strict=True):
            rows[at] = row
        write_rows(out, rows)
        report(len(items), len(items))
    else:
        with ResumableWriter(out, made_from, overwrite=overwrite) as writer:
            report(writer.done, len(items))
            for start in range(writer.done, len(items), at_once):
                part = _predicted(items[start : start + at_once], model, k, n)
                if len(part) >= min(at_once, len(items)) and all(row.error for row in part):
                    saved = f"{writer.done:,} of {len(items):,} items are saved in {writer.partial}"
                    raise EngineError(f"{part[0].error}; {saved}; run the same command again")
                writer.write(part)
                report(writer.done, len(items))
        rows = list(read_rows(out, Measured))
    manifest = {
        "made_from": made_from,
        "input": {"path": str(path), "sha256": sha256_file(path)},
        "output": {"path": str(out), "sha256": sha256_file(out)},
        "rows": len(rows),
        "failed": sum(bool(row.error) for row in rows),
    }
    write_json(out.with_name(out.name + MANIFEST), manifest)
    return rows


def _is_made(out: Path, made_from: str) -> bool:
    manifest = out.with_name(out.name + MANIFEST)
    if not out.is_file() or not manifest.is_file():
        return False
    return bool(json.loads(manifest.read_text(encoding="utf-8"))["made_from"] == made_from)


def _predicted(items: Sequence[Item], model: Continues[T], k: int, n: int) -> list[Measured]:
    """A row for each item; the prefixes of all items are continued in one call."""
    texts = [cut(item, model) for item in items]
    starts = [starting_points(len(tokens), k, n) for tokens, _ in texts]
    prefixes = [
        tokens[:start] for (tokens, _), own in zip(texts, starts, strict=True) for start in own
    ]
    replies = iter(model.continue_(prefixes, n) if prefixes else ())
    rows = []
    for item, (tokens, asked), own in zip(items, texts, starts, strict=True):
        predicted = [(start, next(replies)) for start in own]
        errors = [str(one) for _, one in predicted if isinstance(one, EngineError)]
        grams = (
            gram(start, _part(start, asked), tokens[start : start + n], one[:n], model)
            for start, one in predicted
            if not isinstance(one, EngineError)
        )
        rows.append(
            Measured(
                id=item.id, tags=item.tags, n_tokens=len(tokens),
                grams=() if errors else tuple(grams), error=next(iter(errors), ""),
            )
        )  # fmt: skip
    return rows


def _part(start: int, asked: int) -> Part:
    return Part.QUESTION if start < asked else Part.ANSWER
