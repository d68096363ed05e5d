"""Judge a table on the command line: progress bar, summary and exit codes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gradegpt.app.run import (
    Counts,
    Summary,
    check_output,
    count,
    first_failure,
    judge_file,
    judged,
)
from gradegpt.app.run import Progress as Report
from gradegpt.app.summary import Undecided, helps, pace, summed_up
from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import dump, read_objects
from gradegpt.judges.base import BUG, Judge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables import Form
from gradegpt.tables.columns import Columns
from gradegpt.tables.importers.logs import opened
from gradegpt.tables.inputs import USUAL, CheckedInput, Placed, Reading, check_input
from gradegpt.tables.outputs import check_form, judgements_path, write_left_out

if TYPE_CHECKING:
    from gradegpt.app.cluster.judging import Checked

EVERY_S = 30.0
"""Seconds between two lines of progress where there is no terminal."""
_STDOUT: Final = Path("-")
_AGAIN: Final = " Run the same command again to ask about them once more."
_REPORT: Final = (
    "\nThe row is not at fault: unless memory ran out, this is a bug in GradeGPT; please report "
    "the line above with the row and gradegpt --version"
)
Loader = Callable[[], Judge]
"""Loads the judge; called after everything else has been checked."""


def to_file(
    source: CheckedInput,
    output: Path,
    form: Form,
    build: Loader,
    settings: JudgeSettings,
    *,
    overwrite: bool,
) -> Summary:
    """Judge into a file; a run that was stopped is resumed from its partial file."""
    record, console = judgements_path(output, form), Console(stderr=True)
    check_output(output, source.path, overwrite=overwrite, record=record)
    check_form(str(output), form, source)
    with _stoppable(f"; run the same command again to resume from {record}.partial"):
        judge = _loaded(build, console)
        with progress(console=console) as report:
            summary = judge_file(
                source, output, judge,
                form=form, overwrite=overwrite, rows_per_write=settings.rows_at_a_time,
                on_progress=report,
            )  # fmt: skip
    left = Undecided.of(row for _, row in read_objects(record))
    typer.echo(summed_up(summary, left))
    typer.echo(f"judgements: {output}")
    if record != output:
        typer.echo(f"with their chains: {record}")
    if source.set_aside.rows:
        typer.echo(f"set aside: {write_left_out(source, output, form)}")
    for line in helps(settings, summary.counts, left, record):
        typer.echo(line)
    return summary


def to_cluster(
    sources: Sequence[str],
    output: str,
    settings: JudgeSettings,
    address: str | None,
    *,
    workers: int | None,
    overwrite: bool,
    **reading: Any,
) -> None:
    """Judge files into a folder on a Ray cluster; ``reading`` are the options of ``check_files``.

    ``address`` is that of ``gradegpt.app.cluster.pipeline.connect``.
    """
    from gradegpt.app.cluster.judging import check_files, judge_files
    from gradegpt.app.cluster.pipeline import connect, each
    from gradegpt.app.cluster.storage import inputs

    console = Console(stderr=True)
    with _stoppable(f"; run the same command again to resume from {output}"), connect(address):
        with console.status("checking the input"):
            checked = check_files(inputs(sources), each, **reading)
        report_columns(checked)
        with progress(console=console) as report:
            summary = judge_files(
                checked, output, settings,
                workers=workers, overwrite=overwrite, on_progress=report,
            )  # fmt: skip
    typer.echo(summed_up(summary))
    typer.echo(f"judgements: {output}")
    complain(summary)


def read_items(
    path: str | Path,
    reading: Reading = USUAL,
    *,
    defaults: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
    distinct: bool = False,
) -> list[Placed]:
    """The items of a table of any form, which may have other columns; says which were recognised.

    Args:
        path: The table, or a log; ``-`` for standard input.
        reading: Its columns, its sheet, and what is between accepted answers.
        defaults: The values of fields that a row may lack: a question has no response.
        also: What is read beside the fields of an item.
        distinct: Whether two rows with one id are an error.

    Raises:
        MissingError, InputError, SettingsError: as ``check_input``; or an id is repeated.

    """
    with opened(str(path), reading.sheet) as table:
        checked = check_input(
            table, columns=reading.columns, separator=reading.separator, defaults=defaults,
            also=also,
        )  # fmt: skip
        report_columns(checked)
        found = list(checked.placed())
    first: dict[str, str] = {}
    for where, item, *_ in found:
        if distinct and (other := first.setdefault(item.id, where)) != where:
            other = other.removeprefix(table.name).lstrip(": ")
            line = other if other.startswith("row") else f"line {other}"
            what = f"{item.id!r} is also the id of {line}; give each row its own"
            raise InputError(f"{where}: id: {what}")
    return found


def report_columns(read: CheckedInput | Checked | Columns) -> None:
    """Report on stderr how a table was read, and which rows are set aside."""
    for note in read.notes:
        typer.echo(note, err=True)


def to_stdout(source: CheckedInput, build: Loader, rows_at_a_time: int) -> None:
    """Judge to standard output, in JSON Lines; the summary and errors go to stderr."""
    counts, failure = Counts(), ""
    with _stoppable():
        judge, started = _loaded(build, Console(stderr=True)), time.perf_counter()
        for _, rows in judged(judge, source, rows_at_a_time):
            typer.echo("".join(f"{dump(row)}\n" for row in rows), nl=False)
            counts += count(rows)
            failure = failure or first_failure(rows)
    summary = Summary(_STDOUT, counts, 0, time.perf_counter() - started, failure)
    typer.echo(summed_up(summary), err=True)
    complain(summary)


@contextmanager
def _stoppable(advice: str = "") -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"stopped{advice}", err=True)
        raise typer.Exit(130) from None


def _loaded(build: Loader, console: Console) -> Judge:
    with console.status("loading the judge"):
        return build()


def complain(summary: Summary) -> None:
    """Raise ``EngineError`` for the rows that failed, if any."""
    if complaint := complaint_of(summary):
        raise EngineError(complaint)


def complaint_of(summary: Summary) -> str:
    """How many rows failed, which was the first, why, and what to do; empty where none did."""
    if not (n := summary.counts.n_failed):
        return ""
    failure = summary.failure.replace("engine:error: ", "", 1).rstrip(".")
    rows = "1 row failed, id" if n == 1 else f"{n:,} rows failed, the first with id"
    advice = _REPORT if BUG in failure else _AGAIN if summary.output != _STDOUT else ""
    return f"{rows} {failure}{'' if failure.endswith('?') else '.'}{advice}"


@contextmanager
def progress(
    name: str = "judging", console: Console | None = None, *, unit: str = "rows"
) -> Iterator[Report]:
    """A bar with the rate and the time left; without a terminal, a line now and then.

    Rows of an earlier run count as done.
    """
    console = console or Console(stderr=True)
    rate, left = TextColumn("{task.fields[rate]}"), TimeRemainingColumn()
    columns = TextColumn(f"{name:<8}"), BarColumn(), MofNCompleteColumn(), rate, left
    bar = Progress(*columns, console=console, disable=not console.is_terminal)
    due = time.monotonic() + EVERY_S

    def report(done: int, total: int) -> None:
        nonlocal due
        if not bar.tasks:
            bar.add_task("judging", completed=done, total=total, rate="")
        speed = bar.tasks[0].speed
        bar.update(bar.tasks[0].id, completed=done, rate=pace(speed, unit) if speed else "")
        if not console.is_terminal and time.monotonic() >= due:
            due = time.monotonic() + EVERY_S
            typer.echo(f"{name}: {done:,} of {total:,}", err=True)

    with bar:
        yield report
