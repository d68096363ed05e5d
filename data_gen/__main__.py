"""Make training rows: ``python -m data_gen configs/data_gen/demo.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from data_gen.generate import generate
from data_gen.settings import DataGenSettings
from gradegpt.cli import run
from gradegpt.settings import load_settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="A small set in seconds: python -m data_gen configs/data_gen/demo.yaml parametric=200"
)
def main(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.YAML", help="Such as configs/data_gen/demo.yaml.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Settings to change: out, seed, parametric, bank, formats, ...",
        ),
    ] = None,
) -> None:
    """Turn questions, references and responses into chain-labelled prompt/completion rows.

    Writes <out>/train.jsonl, <out>/dev.jsonl and, last, <out>/manifest.json. The same settings give
    the same bytes.
    """
    settings = load_settings(DataGenSettings, config, overrides or ())
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"data_gen {settings.name}", total=None)
        manifest = generate(
            settings, lambda stage, done: bar.update(task, description=stage, completed=done)
        )
    table = Table(title=f"{settings.folder}: rows by what they hold")
    table.add_column("what")
    table.add_column("rows", justify="right")
    for name, count in manifest["counts"].items():
        table.add_row(name, f"{count:,}")
    Console().print(table)
    typer.echo(f"wrote {settings.folder}/train.jsonl, dev.jsonl and manifest.json")


if __name__ == "__main__":
    run(app, name="python -m data_gen")
