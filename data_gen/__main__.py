"""Make training rows: ``gradegpt data configs/data_gen/demo.yaml``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from gradegpt import options
from gradegpt.cli import run
from gradegpt.settings import load_settings

from .attacks import write_attacks
from .generate import generate
from .settings import DataGenSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_SHOWN = ("verdict", "lang", "type", "origin", "labelled_by", "left_out")
"""The groups of counts that the table shows; the data card has them all."""


class _Rate(ProgressColumn):
    """Rows per second, shown once a speed has been measured."""

    @override
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@app.command(
    epilog="For a small set in seconds: gradegpt data configs/data_gen/demo.yaml parametric=200"
)
def main(
    config: Annotated[Path, options.config("demo")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "out (the output folder), seed, workers (the number of processes; 0 is one per core), "
            "on (ray, or ray://host:port: do the work on a Ray cluster), parametric (the number of "
            "generated problems with random numbers), balance.rows (the number of rows to keep; 0 "
            "keeps all), formats (the fraction of each chain format, such as {outcome: 1}), ..."
        ),
    ] = None,
) -> None:
    """Make prompt/completion rows for a judge from questions, references and responses.

    The output folder <out> (default: data/<name>) gets train and dev as JSON Lines and Parquet,
    disputed.jsonl (rows on which the sources of labels disagree), README.md and card.html (the data
    card) and, last, manifest.json. The same settings give the same bytes with any number of
    workers. A run that was stopped resumes when the same command is given again. With the setting
    kind: attacks, the command writes attacks.jsonl instead (labelled responses that try to
    manipulate a judge), and manifest.json.
    """
    settings = load_settings(DataGenSettings, config, overrides or ())
    if settings.kind == "attacks":
        counts = write_attacks(settings)["counts"]
        patterns = sum(name.startswith("pattern:") for name in counts)
        typer.echo(f"wrote {settings.folder}/: {counts['rows']:,} rows of {patterns} patterns")
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        manifest = generate(settings, show, _command(config, overrides or ()))
    _print(manifest, settings)


def _command(config: Path, overrides: Iterable[str]) -> str:
    """The command without settings that change no row, so that the card has the same bytes."""
    kept = [o for o in overrides if o.partition("=")[0] not in ("out", "workers", "on")]
    return shlex.join(["gradegpt", "data", str(config), *kept])


def _print(manifest: dict[str, Any], settings: DataGenSettings) -> None:
    console, counts = Console(), manifest["counts"]
    rows = counts["train"] + counts.get("dev", 0)
    table = Table(
        title=f"{settings.folder}: {counts['train']:,} train, {counts.get('dev', 0):,} dev"
    )
    for heading in ("what", "rows", "share"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for name, count in counts.items():
        group, _, label = name.partition(":")
        if group in _SHOWN and label:
            share = "" if group == "left_out" else f"{count / rows:.1%}"
            table.add_row(f"{group} {label}", f"{count:,}", share)
    console.print(table)
    for gap in manifest.get("shortfalls", ()):
        console.print(f"short: {gap['cell']}: {gap['have']:,} of {gap['wanted']:,}")
    if probe := manifest["quality"].get("artifact_probe"):
        for name in ("overall", "answered"):
            score = probe[name]
            console.print(
                f"response alone, {name}: balanced accuracy {score['balanced_accuracy']:.3f} "
                f"({score['low']:.3f} to {score['high']:.3f}); 0.5 is chance"
            )
    wrote = sorted(manifest["outputs"])
    typer.echo(f"wrote {settings.folder}/: {', '.join(wrote)}, manifest.json")


if __name__ == "__main__":
    run(app, name="gradegpt data")
