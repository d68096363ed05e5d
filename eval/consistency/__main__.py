"""Ask a judge again: ``gradegpt eval.consistency answers.jsonl --judge rules``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from gradegpt import options
from gradegpt.cli import run
from gradegpt.console import report_columns
from gradegpt.errors import InputError
from gradegpt.inputs import check_input
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.options import Kind
from gradegpt.settings import build_settings, load_settings

from ..console import empty_table, percent, terminal
from .measure import Change, Flip, consistency
from .variations import VARIATIONS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_SHOWN: Final = 10
"""The most flips that are printed; flips.jsonl has them all."""


@app.command(
    epilog="In seconds: gradegpt eval.consistency answers.jsonl --judge rules. One change alone: "
    "--change options_reordered."
)
def main(
    items: Annotated[
        str,
        typer.Argument(
            metavar="ITEMS", help="The answers, in the formats and columns of gradegpt judge."
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            metavar="KIND|FILE.YAML",
            help=f"{options.JUDGES} Or a file with the settings of a judge.",
        ),
    ] = Kind.CASCADE.value,
    change: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this change; repeatable: {', '.join(VARIATIONS)}."),
    ] = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    base_url: options.BaseUrl = None,
    mapped: options.Map = None,
    ignore_extra: options.IgnoreExtra = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", file_okay=False, help="A folder. [default: runs/consistency/<name>]"
        ),
    ] = None,
    overwrite: options.Rejudge = False,
) -> None:
    """Measure whether a judge gives the same verdict to the same answer in another form.

    Each item is judged as it is, and again after a change that changes nothing that matters: asked
    a second time; with its options in another order; with the phrase before its answer in the other
    language; with other blanks, widths, LaTeX delimiters or thousands separators; in bold; with a
    polite sentence before or after. A change applies to some items only, and each has their number.

    Prints the share of the same verdict for each change and the verdicts that flipped. Writes
    report.json, flips.jsonl, and the changed items with their judgements. A stopped run resumes
    when the same command is given again.
    """
    for name in change or ():
        if name not in VARIATIONS:
            raise typer.BadParameter(f"--change {name}: use one of {', '.join(VARIATIONS)}")
    given = {"model": model, "adapter": adapter, "base_url": base_url}
    settings = settings_of(
        judge, {name: value for name, value in given.items() if value is not None}
    )
    answers = check_input(items, columns=options.columns_of(mapped), ignore_extra=ignore_extra)
    report_columns(answers)
    rows = [item for _, item in answers.items()]
    if len({row.id for row in rows}) < len(rows):
        raise InputError(f"{items}: two rows have one id; give each its own")
    folder = out or Path("runs/consistency") / answers.path.stem
    names = change or list(VARIATIONS)
    changes, flips = consistency(rows, build_judge(settings), names, folder, overwrite=overwrite)
    print_changes(changes, flips, len(rows))
    typer.echo(f"wrote {folder / 'report.json'} and {folder / 'flips.jsonl'}")


def settings_of(judge: str, given: dict[str, str]) -> JudgeSettings:
    """The settings of a kind of judge with the given ones, or those in a file.

    Raises:
        SettingsError: they do not go together.
        MissingError: there is no such kind or file.

    """
    if judge not in set(Kind):
        changes = [f"{name}={value}" for name, value in given.items()]
        return load_settings(JudgeSettings, judge, changes)
    wanted = build_settings(JudgeSettings, {"kind": judge, **given}, "--judge")
    if given and wanted.asks_no_model:
        raise typer.BadParameter(f"--{next(iter(given))}: --judge {judge} asks no model")
    return wanted


def print_changes(changes: Sequence[Change], flips: Sequence[Flip], n_items: int) -> None:
    """Print the table of a command line, and the first flips."""
    console = terminal()
    table = empty_table(f"{n_items:,} items; the same verdict after a change, %")
    for name in ("change", "items", "same", "interval", "flipped", "now open", "now decided"):
        table.add_column(name, justify="left" if name == "change" else "right")
    for one in changes:
        interval = f"{percent(one.low)} to {percent(one.high)}" if one.n else "–"
        counts = (f"{n:,}" for n in (one.flipped, one.now_open, one.now_decided))
        table.add_row(one.name, f"{one.n:,}", percent(one.share), interval, *counts)
    console.print(table)
    for flip in flips[:_SHOWN]:
        verdicts = f"{flip.before.verdict} -> {flip.after.verdict}"
        console.print(escape(f"{flip.change} {flip.id}: {verdicts} ({flip.after.reason})"))
    if len(flips) > _SHOWN:
        console.print(f"and {len(flips) - _SHOWN:,} more")


if __name__ == "__main__":
    run(app, name="gradegpt eval.consistency")
