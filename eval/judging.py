"""Read labelled rows, write them without labels, and write each judge's judgements."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import typer

from gradegpt.app.console import complaint_of, progress
from gradegpt.app.run import MANIFEST, CheckedInput, check_input, judge_file
from gradegpt.app.summary import cost
from gradegpt.core.errors import InputError, OutputError, SettingsError
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import Example, Item, Judgement, Outcome, Row
from gradegpt.judges.base import Judge, judge_each
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables.importers.labelled import item_key, read_examples

from .settings import RowsSettings

T = TypeVar("T")
ROWS_PER_WRITE: Final = 64
Advance = Callable[[int, int], None]


class Judged(Row):
    """One judge's judgements, in the order of the rows. ``reused``: made by an earlier run."""

    name: str
    fingerprint: str
    judgements: tuple[Judgement, ...]
    reused: bool


def read_sources(settings: RowsSettings) -> list[Example]:
    """All labelled rows that the settings choose, source after source.

    Raises:
        SettingsError: there is no source.
        InputError: a source has no row, or a row cannot be used.

    """
    if not settings.sources:
        raise SettingsError("sources: names no file; give sources='[{path: graded.csv}]'")
    examples: list[Example] = []
    for source in settings.sources:
        before = len(examples)
        examples += read_examples(source)
        if len(examples) == before:
            split = f" in split {source.split!r}" if source.split else ""
            raise InputError(
                f"{source.path}: no labelled row{split}; check the file, its 'fields' and 'split'"
            )
    rows = [e if e.id else e.model_copy(update={"id": str(n)}) for n, e in enumerate(examples, 1)]
    if settings.left_open:
        ruled = judge_each(RuleJudge(), rows)
        rows = [e for e, j in zip(rows, ruled, strict=True) if j.outcome is not Outcome.JUDGED]
    return _drawn(rows, settings.sample, settings.seed) if settings.sample else rows


def seen_by(judges: Sequence[JudgeSettings], items: Sequence[Item]) -> str:
    """How many rows have questions on which ``gradegpt finetune`` trained or calibrated a judge."""
    names = {getattr(judge, name, None) for judge in judges for name in ("model", "adapter")}
    parts = (
        f"{name}/work/data/examples/{part}.jsonl" for name in names for part in ("train", "dev")
    )
    files = [path for path in map(Path, parts) if path.is_file()]
    seen = {item_key(row) for file in files for row in read_rows(file, Example)}
    n = sum(item_key(item) in seen for item in items)
    told = f"{n:,} of the {len(items):,} rows have questions that made this judge"
    return f"{told}; measure it on others, such as {files[0].with_name('test.jsonl')}" if n else ""


def _drawn(examples: Sequence[Example], count: int, seed: int) -> list[Example]:
    """Of each source at most ``count`` rows, in order."""
    sources: dict[str, list[Example]] = {}
    for example in examples:
        sources.setdefault(example.source, []).append(example)
    kept: list[Example] = []
    for name, rows in sources.items():
        chosen = random.Random(f"{seed}:{name}").sample(range(len(rows)), min(count, len(rows)))
        kept += (rows[n] for n in sorted(chosen))
    if len(kept) < len(examples):
        drawn = f"{len(kept):,} of {len(examples):,} rows are drawn, at most {count} of a source"
        typer.echo(f"{drawn}; sample=0 takes all", err=True)
    return kept


def paired(items: Sequence[Item], judgements: Sequence[Judgement]) -> list[tuple[Item, Judgement]]:
    """Each item with its judgement.

    Raises:
        InputError: items and judgements are not of the same rows.

    """
    how = "give the file that was judged"
    if len(items) != len(judgements) or not items:
        raise InputError(f"{len(items)} items and {len(judgements)} judgements; {how}")
    pairs = list(zip(items, judgements, strict=True))
    for number, (item, judgement) in enumerate(pairs, 1):
        if item.id and item.id != judgement.id:
            raise InputError(
                f"row {number}: item {item.id!r} beside judgement {judgement.id!r}; {how}"
            )
    return pairs


def write_items(rows: Sequence[Item], path: Path) -> CheckedInput:
    """Write the items without their labels, so that no judge can use a label."""
    names = set(Item.model_fields) - {"meta"}  # which may hold the reason of a label
    write_rows(path, (row.model_dump(mode="json", include=names) for row in rows))
    return check_input(path)


def judge_items(
    name: str, judge: Judge, items: CheckedInput, path: Path, *, overwrite: bool = False
) -> Judged:
    """Write the judgements of ``items`` to ``path``, or reuse those of the same judge and items.

    Rows that failed are judged again; what fails is said on stderr.

    Raises:
        OutputError: ``path`` holds other judgements, and ``overwrite`` is not set.

    """
    made = _made_from(path)
    same = made[:2] == (judge.fingerprint, items.sha256)
    reused = same and not made[2]
    if not same and path.exists() and not overwrite:
        raise OutputError(
            f"{path}: made from other rows or another judge; add --overwrite to replace it, or -o "
            "with another folder"
        )
    summary = None
    with progress(name) as advance:
        if reused:
            advance(items.rows, items.rows)
        else:
            summary = judge_file(
                items, path, judge,
                overwrite=overwrite, rows_per_write=ROWS_PER_WRITE, on_progress=advance,
            )  # fmt: skip
    judgements = tuple(read_rows(path, Judgement))
    if summary is not None:
        read = sum(judgement.prompt_tokens for judgement in judgements)
        written = sum(judgement.completion_tokens for judgement in judgements)
        typer.echo(f"{name}: {cost(summary, read, written)}", err=True)
        if complaint := complaint_of(summary):
            typer.echo(f"{name}: {complaint}", err=True)
    if len(judgements) != items.rows:
        raise OutputError(
            f"{path}: {len(judgements)} judgements for {items.rows} rows; "
            "delete the file to judge again"
        )
    return Judged(name=name, fingerprint=judge.fingerprint, judgements=judgements, reused=reused)


class Recorded:
    """A judge that returns the recorded judgements of these items and calls no engine."""

    name = "recorded"

    def __init__(self, judged: Judged, items: CheckedInput) -> None:
        self.fingerprint = judged.fingerprint
        pairs = zip(read_rows(items.path, Item), judged.judgements, strict=True)
        self._recorded = {item.model_dump_json(): judgement for item, judgement in pairs}

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """The judgements of an earlier run of this evaluation."""
        return [self._recorded[item.model_dump_json()] for item in items]


def from_records(judge: Judge, done: Sequence[Judged], items: CheckedInput) -> Judge:
    """The judge, or its recorded judgements of these items; a cascade is replaced part by part."""
    if isinstance(judge, CascadeJudge):
        stages = (s._replace(judge=from_records(s.judge, done, items)) for s in judge.stages)
        return CascadeJudge(stages, judge.policy)
    recorded = next((one for one in done if one.fingerprint == judge.fingerprint), None)
    return judge if recorded is None else Recorded(recorded, items)


def _made_from(path: Path) -> tuple[str, str, int]:
    """The judge's fingerprint, the digest of the items and the failed rows of a finished file."""
    manifest = path.with_name(path.name + MANIFEST)
    if not path.is_file() or not manifest.is_file():
        return "", "", 0
    made = json.loads(manifest.read_text(encoding="utf-8"))
    return made["judge"], made["input"]["sha256"], made["counts"]["n_failed"]


def tagged(
    rows: Iterable[T], tags_of: Callable[[T], Mapping[str, str | Sequence[str]]]
) -> dict[str, dict[str, list[T]]]:
    """Rows by tag and value; a row with several values of a tag is under each."""
    groups: dict[str, dict[str, list[T]]] = {}
    for row in rows:
        for tag, values in tags_of(row).items():
            for value in (values,) if isinstance(values, str) else values:
                groups.setdefault(tag, {}).setdefault(value, []).append(row)
    return groups
