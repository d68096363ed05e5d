"""Measure judges against labels: ``python -m eval configs/eval/handmade.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt.cli import run
from gradegpt.errors import MissingError
from gradegpt.settings import load_settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="Rules alone, in seconds: "
    "python -m eval configs/eval/handmade.yaml 'judges=[{kind: rules}]' name=rules-only"
)
def main(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.YAML", help="Such as configs/eval/handmade.yaml.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Settings to change: name, out (default runs/<name>), sources=[{path: ...}] with "
            "labels or answers=[PATH] without, "
            "judges=[{name: ..., kind: rules|model|cascade, model: ..., adapter: ...}], "
            "bootstrap, seed, chunk, disagreements, listed.",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace judgements that were made from other rows or by another judge.",
        ),
    ] = False,
) -> None:
    """Measure how well judges agree with labelled answers, or score a model's unlabelled answers.

    Writes to runs/<name>: judgements/<judge>.jsonl, report.json, report.html (open it in a
    browser) and, last, manifest.json. A run that was stopped goes on where it stood when the same
    command is given again; finished judgements of the same rows by the same judge are reused.
    """
    try:
        from .evaluate import evaluate, evaluate_answers, report_path
        from .settings import EvalSettings
        from .tables import print_answers, print_report
    except ModuleNotFoundError as error:
        raise MissingError(
            f"{error.name}: not installed; the eval stage needs: pip install 'gradegpt[eval]'"
        ) from error
    settings = load_settings(EvalSettings, config, overrides or ())
    try:
        if settings.answers:
            print_answers(evaluate_answers(settings, overwrite=overwrite))
        else:
            print_report(evaluate(settings, overwrite=overwrite))
    except KeyboardInterrupt:
        typer.echo(f"stopped; run the same command again to go on from {settings.folder}", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"report: {report_path(settings)}")


if __name__ == "__main__":
    run(app, name="python -m eval")
