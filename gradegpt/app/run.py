"""Judge a table of items: check it, judge it, write a judgement per row, resume a stopped run.

Nothing here prints. Call ``check_input`` and ``check_output`` before a model is loaded.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from pydantic import model_validator

from gradegpt.core.errors import EngineError, GradeGPTError, OutputError
from gradegpt.core.records import (
    EXISTS,
    ResumableWriter,
    read_rows,
    sha256_file,
    whole_file,
    write_json,
    writing,
)
from gradegpt.core.schema import Item, Judgement, Outcome, Row
from gradegpt.judges.base import BUG, Judge, judge_each
from gradegpt.judges.parallel import ROWS_AT_A_TIME, ParallelJudge
from gradegpt.tables import Form
from gradegpt.tables.inputs import CheckedInput as CheckedInput
from gradegpt.tables.inputs import check_input as check_input
from gradegpt.tables.outputs import Progress as Progress
from gradegpt.tables.outputs import encoding_for, judgements_path, write_table

GIVE_UP_AFTER: Final = 16
"""Failures in one write, without one answer, after which the run stops: the engine is down."""

MANIFEST: Final = ".manifest.json"
"""The suffix of an output's name for the file with its inputs, its judge and its counts."""


class Counts(Row):
    """The numbers of outcomes, which add up to the items, and verdicts, to the judged items."""

    n_items: int = 0
    n_judged: int = 0
    n_undecided: int = 0
    n_unparsed: int = 0
    n_failed: int = 0
    n_correct: int = 0
    n_incorrect: int = 0
    n_invalid: int = 0

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.n_items != self.n_judged + self.n_undecided + self.n_unparsed + self.n_failed:
            raise ValueError("the outcomes do not add up to the items")
        if self.n_judged != self.n_correct + self.n_incorrect + self.n_invalid:
            raise ValueError("the verdicts do not add up to the judged items")
        return self

    def __add__(self, other: Counts) -> Counts:
        others = other.model_dump()
        return Counts(**{name: n + others[name] for name, n in self.model_dump().items()})


def count(judgements: Iterable[Judgement]) -> Counts:
    """Count judgements by outcome and by verdict."""
    ended = Counter(word for j in judgements for word in ("items", j.outcome, j.verdict) if word)
    return Counts(**{f"n_{word}": n for word, n in ended.items()})


class Summary(NamedTuple):
    """The result of a run. ``rows_before`` were written by an earlier run that was stopped."""

    output: Path
    counts: Counts
    rows_before: int
    seconds: float
    failure: str = ""
    """The id of the first of the failed rows, and why it failed."""

    @property
    def rows_per_second(self) -> float:
        """Rows per second of this run."""
        return (self.counts.n_items - self.rows_before) / max(self.seconds, 1e-9)


def check_output(
    path: str | Path,
    source: str | Path,
    *,
    overwrite: bool = False,
    record: str | Path | None = None,
) -> None:
    """Check before any work that ``path`` can be written; a file with failed rows can be.

    ``record`` is the file of the judgements where that is another one.

    Raises:
        OutputError: it is a folder or the input, exists already, or cannot be written.

    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.samefile(source):
        raise OutputError(f"{path}: is the input; choose another name for the output")
    if path.exists() and not overwrite and not _has_failed(_manifest(Path(record or path))):
        raise OutputError(f"{path}: {EXISTS}")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(
            f"{path}: cannot be written (no permission for {path.parent}); choose another path"
        )


def judge_file(
    source: CheckedInput,
    output: str | Path,
    judge: Judge,
    *,
    form: Form = Form.JSONL,
    overwrite: bool = False,
    rows_per_write: int = 64,
    on_progress: Progress | None = None,
) -> Summary:
    """Judge every row of ``source`` into ``output``, in order; rows of an earlier run are kept.

    Rows that failed in the earlier run, because an engine did not answer, are judged again.
    ``<output>.manifest.json`` states the input, the judge and the counts. In a ``form`` other than
    JSON Lines the output has the input's rows with the columns ``tables.outputs.ADDED``, and the
    judgements with their chains are in ``<output>.judgements.jsonl``.

    Raises:
        OutputError: the output exists, cannot be written, or was begun with another input or judge.
        EngineError: the engine cannot work or failed for all items; earlier rows are kept.
        MissingError: the library that writes the form is not installed.

    """
    output = Path(output)
    record = judgements_path(output, form)
    known = None if overwrite or record == output else _finished(record, source, judge)
    if known is not None:  # only the table is missing
        summary = Summary(record, known, source.rows, 0.0)
    else:
        summary = _recorded(
            source, record, judge, overwrite, rows_per_write, on_progress or (lambda *_: None)
        )
    if record == output:
        return summary
    try:
        with whole_file(output, encoding_for(source.table, form)) as out:
            write_table(source, read_rows(record, Judgement), out, form)
    except OutputError as error:
        raise OutputError(f"{error}; the judgements are kept in {record}") from error
    return summary._replace(output=output)


def _recorded(
    source: CheckedInput, output: Path, judge: Judge, overwrite: bool, size: int, report: Progress
) -> Summary:
    started = time.perf_counter()
    made_from = f"{judge.fingerprint}|input:{source.fingerprint}"
    writer = ResumableWriter(output, made_from, overwrite=overwrite)
    if not overwrite and _has_failed(before := _manifest(output)):
        if not _is_of(before, source, judge):
            raise OutputError(f"{output}: {EXISTS}")
        writer.reopen()
    with _report_kept_rows(writer, source.rows), writer:
        rows_before = writer.done - _judge_failed(judge, source, writer, size)
        counts = count(read_rows(writer.partial, Judgement))
        report(writer.done, source.rows)
        for start, judgements in judged(judge, source, size, writer.done):
            left = judgements[writer.done - start :]
            writer.write(left)
            counts += count(left)
            report(writer.done, source.rows)
    seconds = time.perf_counter() - started
    _write_manifest(output, source, judge, counts, seconds if not rows_before else None)
    failure = first_failure(read_rows(output, Judgement)) if counts.n_failed else ""
    return Summary(output, counts, rows_before, seconds, failure)


def _finished(output: Path, source: CheckedInput, judge: Judge) -> Counts | None:
    """The counts of ``output`` if it is this judge's of these rows, without failures; else None."""
    manifest = _manifest(output)
    if _has_failed(manifest) or not _is_of(manifest, source, judge):
        return None
    return Counts(**manifest["counts"])


def _judge_failed(judge: Judge, source: CheckedInput, writer: ResumableWriter, size: int) -> int:
    """Judge the rows that failed in an earlier run again; return their number."""
    written = enumerate(read_rows(writer.partial, Judgement))
    failed = {n for n, row in written if row.outcome is Outcome.FAILED}
    if not failed:
        return 0
    rows = itertools.chain.from_iterable(_in_writes(source, size))
    left = [item for n, item in enumerate(rows) if n in failed]
    parts = (left[start : start + size] for start in range(0, len(left), size))
    judgements = itertools.chain.from_iterable(_checked(judge_each(judge, part)) for part in parts)
    kept = enumerate(read_rows(writer.partial, Judgement))
    writer.replace([next(judgements) if n in failed else row for n, row in kept])
    return len(failed)


def first_failure(judgements: Iterable[Judgement]) -> str:
    """The id of the first that failed, and why; empty where none did."""
    failed = (row for row in judgements if row.outcome is Outcome.FAILED)
    return next((f"{row.id}: {row.reason}" for row in failed), "")


def _manifest(output: Path) -> dict[str, Any]:
    path = output.with_name(output.name + MANIFEST)
    there = output.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if there else {}


def _has_failed(manifest: dict[str, Any]) -> bool:
    return bool(manifest.get("counts", {}).get("n_failed"))


def _is_of(manifest: dict[str, Any], source: CheckedInput, judge: Judge) -> bool:
    same_input = manifest.get("input", {}) | {"path": source.table.name} == source.manifest
    return same_input and manifest.get("judge") == judge.fingerprint


def _in_writes(source: CheckedInput, size: int) -> Iterator[list[Item]]:
    items = (item for _, item in source.items())
    while some := list(itertools.islice(items, size)):
        yield some


def judged(
    judge: Judge, source: CheckedInput, size: int, done: int = 0
) -> Iterator[tuple[int, list[Judgement]]]:
    """The judgements of the rows after the first ``done``, ``size`` at a time, and where they are.

    A write that was cut short is judged again as a whole, for the same bytes: the last digits of a
    model's confidence depend on the other rows of the batch. A judge on several cores sets its own
    size, and goes on while its judgements are written.

    Raises:
        EngineError: the engine cannot work or failed for all items.

    """
    if done == source.rows:
        return
    parallel = judge if isinstance(judge, ParallelJudge) else None
    size = ROWS_AT_A_TIME if parallel else size
    start = done - done % size
    batches = itertools.islice(_in_writes(source, size), start // size, None)
    made = parallel.judge_batches(batches) if parallel else map(partial(judge_each, judge), batches)
    for judgements in made:
        yield start, _checked(judgements)
        start += len(judgements)


def _checked(judgements: list[Judgement]) -> list[Judgement]:
    check_answered(judgements)
    return judgements


def check_answered(judgements: Sequence[Judgement]) -> None:
    """Raise ``EngineError`` where so many of a batch failed, and none answered: it is down.

    A bug that some rows meet stops nothing, as long as others are judged.
    """
    answered = {j.method for j in judgements if j.outcome is not Outcome.FAILED}
    failed = [
        j for j in judgements
        if j.outcome is Outcome.FAILED and not (answered and j.reason.startswith(BUG))
    ]  # fmt: skip
    if len(failed) >= GIVE_UP_AFTER and failed[-1].method not in answered:
        raise EngineError(f"all {len(failed)} items failed: {failed[-1].reason}")


@contextmanager
def _report_kept_rows(writer: ResumableWriter, rows: int) -> Iterator[None]:
    """Add to an error of the engine or the disk how many rows are kept and how to resume."""
    try:
        yield
    except EngineError as error:
        raise type(error)(f"{error}; {_kept(writer, rows)}") from error
    except GradeGPTError:
        raise
    except OSError as error:
        what = error.strerror or error
        raise OutputError(f"{writer.path}: {what}; {_kept(writer, rows)}") from error


def _kept(writer: ResumableWriter, rows: int) -> str:
    kept = f"{writer.done:,} of {rows:,} rows are kept in {writer.partial}"
    return f"{kept}; run the same command again to resume"


def _write_manifest(
    output: Path, source: CheckedInput, judge: Judge, counts: Counts, seconds: float | None
) -> None:
    """Write the manifest; ``seconds`` are None where an earlier run judged some of the rows."""
    manifest = {
        "judge": judge.fingerprint,
        "input": source.manifest,
        "output": {"path": str(output), "sha256": sha256_file(output)},
        "counts": counts.model_dump(),
        **({} if seconds is None else {"seconds": round(seconds, 3)}),
    }
    write_json(output.with_name(output.name + MANIFEST), manifest)
