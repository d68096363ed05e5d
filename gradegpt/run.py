"""Judge a file of items: check it, judge it, write a judgement a row, go on where a run stopped.

Nothing here prints. ``check_input`` and ``check_output`` come before a model is loaded.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from pydantic import ValidationError, model_validator

from gradegpt.errors import EngineError, GradeGPTError, InputError, OutputError
from gradegpt.judges.base import Judge
from gradegpt.records import (
    EXISTS,
    ResumableWriter,
    complaints,
    parse_line,
    read_lines,
    read_rows,
    sha256_file,
    write_json,
)
from gradegpt.schema import Example, Item, Judgement, Outcome, Row
from gradegpt.settings import suggest

SHOWN: Final = 20
"""Complaints about an input file that are listed; the rest are counted."""
GIVE_UP_AFTER: Final = 16
"""Failures in one write, without one answer, after which the engine is taken to be down."""

MANIFEST: Final = ".manifest.json"
"""What is put behind a file's name for what says what it was made from."""
_FIELDS: Final = frozenset(Item.model_fields)
_LABELS: Final = frozenset(Example.model_fields) - _FIELDS

Progress = Callable[[int, int], None]
"""Called with the rows that are written and the rows that there are."""


class Counts(Row):
    """How many items ended how. Outcomes add up to the items, verdicts to the judged ones."""

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


class CheckedInput(NamedTuple):
    """A file whose every row is an item. ``sha256`` is of its bytes when it was checked."""

    path: Path
    rows: int
    sha256: str
    ignore_extra: bool


class Summary(NamedTuple):
    """What a run did. ``rows_before`` were written by an earlier run that was stopped."""

    output: Path
    counts: Counts
    rows_before: int
    seconds: float
    failure: str = ""
    """Why the first of the failed rows failed."""

    @property
    def rows_per_second(self) -> float:
        """Rows of this run a second."""
        return (self.counts.n_items - self.rows_before) / max(self.seconds, 1e-9)


def check_input(path: str | Path, *, ignore_extra: bool = False) -> CheckedInput:
    """Read the whole file; report every row that is no item. Labels of an ``Example`` may be there.

    Raises:
        MissingError: no such file.
        InputError: ``file:line: field: what``, up to 20 and how many more; or no row at all.

    """
    path = Path(path)
    wrong: list[str] = []
    rows = n_wrong = 0
    for number, raw in read_lines(path):
        rows += 1
        _, found = _read_item(raw, path, number, ignore_extra)
        n_wrong += len(found)
        wrong += found[: SHOWN - len(wrong)]
    if n_wrong:
        raise InputError(_listed(path, wrong, n_wrong))
    if not rows:
        raise InputError(f"{path}: no rows; every line holds one item as a JSON object")
    return CheckedInput(path, rows, sha256_file(path), ignore_extra)


def check_output(path: str | Path, source: str | Path, *, overwrite: bool = False) -> None:
    """Find out before any work whether ``path`` can be written; one with failed rows can.

    Raises:
        OutputError: a folder, the input, there already, or in a place that cannot be written.

    """
    path = Path(path)
    if path.is_dir():
        raise OutputError(f"{path}: a folder; give the name of a file to write")
    if path.exists() and path.samefile(source):
        raise OutputError(f"{path}: is the input; choose another name for the output")
    if path.exists() and not overwrite and not _has_failed(_manifest(path)):
        raise OutputError(f"{path}: {EXISTS}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from error
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path}: cannot be written (no permission for {path.parent})")


def judge_file(
    source: CheckedInput,
    output: str | Path,
    judge: Judge,
    *,
    overwrite: bool = False,
    rows_per_write: int = 64,
    on_progress: Progress | None = None,
) -> Summary:
    """Judge every row of ``source`` into ``output``, in order; what an earlier run wrote is kept.

    Rows that failed then, because an engine did not answer, are asked about again.
    ``<output>.manifest.json`` says what the rows were made from.

    Raises:
        OutputError: the output exists, cannot be written, or was begun with another input or judge.
        EngineError: the engine cannot work or failed on all it was asked; rows before it are kept.

    """
    output, started = Path(output), time.perf_counter()
    report = on_progress or (lambda done, total: None)
    made_from = f"{judge.fingerprint}|input:{source.sha256}"
    writer = ResumableWriter(output, made_from, overwrite=overwrite)
    if not overwrite and _has_failed(before := _manifest(output)):
        if (before["judge"], before["input"]["sha256"]) != (judge.fingerprint, source.sha256):
            raise OutputError(f"{output}: {EXISTS}")
        writer.begin_again()
    with _saying_what_is_kept(writer, source.rows), writer:
        rows_before = writer.done - _ask_again(judge, source, writer, rows_per_write)
        counts = count(read_rows(writer.partial, Judgement))
        report(writer.done, source.rows)
        for start, items in _in_writes(source, rows_per_write):
            if start + len(items) > writer.done:
                # A write that was cut short is judged again as a whole, for the same bytes: a
                # model's last digits depend on what shares its batch.
                judgements = _judge(judge, items)[writer.done - start :]
                writer.write(judgements)
                counts += count(judgements)
                report(writer.done, source.rows)
    _write_manifest(output, source, judge, counts)
    seconds = time.perf_counter() - started
    return Summary(
        output, counts, rows_before, seconds, _failure(output) if counts.n_failed else ""
    )


def _ask_again(judge: Judge, source: CheckedInput, writer: ResumableWriter, size: int) -> int:
    """Judge the rows that failed before once more; how many they are."""
    written = enumerate(read_rows(writer.partial, Judgement))
    failed = {n for n, row in written if row.outcome is Outcome.FAILED}
    if not failed:
        return 0
    rows = itertools.chain.from_iterable(items for _, items in _in_writes(source, size))
    left = [item for n, item in enumerate(rows) if n in failed]
    told = itertools.chain.from_iterable(
        _judge(judge, left[start : start + size]) for start in range(0, len(left), size)
    )
    kept = enumerate(read_rows(writer.partial, Judgement))
    writer.replace([next(told) if n in failed else row for n, row in kept])
    return len(failed)


def _failure(output: Path) -> str:
    rows = read_rows(output, Judgement)
    return next(row.reason for row in rows if row.outcome is Outcome.FAILED)


def _manifest(output: Path) -> dict[str, Any]:
    path = output.with_name(output.name + MANIFEST)
    there = output.is_file() and path.is_file()
    return dict(json.loads(path.read_text(encoding="utf-8"))) if there else {}


def _has_failed(manifest: dict[str, Any]) -> bool:
    return bool(manifest.get("counts", {}).get("n_failed"))


def _in_writes(source: CheckedInput, size: int) -> Iterator[tuple[int, list[Item]]]:
    lines = read_lines(source.path)
    for start in itertools.count(step=size):
        items = [_checked(raw, source, n) for n, raw in itertools.islice(lines, size)]
        if not items:
            return
        yield start, items


def _checked(raw: bytes, source: CheckedInput, number: int) -> Item:
    item, wrong = _read_item(raw, source.path, number, source.ignore_extra)
    if item is None:
        raise InputError(_listed(source.path, wrong, len(wrong)))
    return item


def _read_item(
    raw: bytes, path: Path, number: int, ignore_extra: bool
) -> tuple[Item | None, list[str]]:
    """The item on a line and no complaint, or no item and at least one."""
    where = f"{path}:{number}"
    try:
        row = parse_line(raw, where)
    except InputError as error:
        return None, [str(error)]
    extra = [] if ignore_extra else [name for name in row if name not in _FIELDS | _LABELS]
    wrong = [f"{where}: {name}: {_unknown(name)}" for name in extra]
    try:
        item = Item.model_validate({name: row[name] for name in row if name in _FIELDS})
    except ValidationError as error:
        return None, wrong + [f"{where}: {complaint}" for complaint in complaints(error)]
    if wrong:
        return None, wrong
    return (item if item.id else item.model_copy(update={"id": str(number)})), []


def _unknown(name: str) -> str:
    near = suggest(name, sorted(_FIELDS))
    advice = "put it under 'meta' or pass --ignore-extra"
    return f"unknown field{near} Else {advice}" if near else f"unknown field; {advice}"


def _listed(path: Path, wrong: Sequence[str], n_wrong: int) -> str:
    if n_wrong == 1:
        return wrong[0]
    more = [f"... and {n_wrong - len(wrong):,} more"] if n_wrong > len(wrong) else []
    head = f"{path}: {n_wrong:,} complaints, nothing was judged"
    return "\n  ".join([head, *wrong, *more])


def _judge(judge: Judge, items: Sequence[Item]) -> list[Judgement]:
    judgements = judge.judge(items)
    failed = [j for j in judgements if j.outcome is Outcome.FAILED]
    if len(failed) >= GIVE_UP_AFTER:
        answered = {j.method for j in judgements if j.outcome is not Outcome.FAILED}
        if failed[-1].method not in answered:
            raise EngineError(f"all {len(failed)} items asked about failed: {failed[-1].reason}")
    return judgements


@contextmanager
def _saying_what_is_kept(writer: ResumableWriter, rows: int) -> Iterator[None]:
    """Add to an error of the engine or the disk how much is safe and how to go on."""
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
    safe = f"{writer.done:,} of {rows:,} rows are safe in {writer.partial}"
    return f"{safe}; run the same command again to go on"


def _write_manifest(output: Path, source: CheckedInput, judge: Judge, counts: Counts) -> None:
    manifest = {
        "judge": judge.fingerprint,
        "input": {"path": str(source.path), "rows": source.rows, "sha256": source.sha256},
        "output": {"path": str(output), "sha256": sha256_file(output)},
        "counts": counts.model_dump(),
    }
    write_json(output.with_name(output.name + MANIFEST), manifest)
