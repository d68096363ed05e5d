"""Reproduce the paper's ablation: ``gradegpt eval.ablation configs/eval/ablation-0.5b.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from gradegpt import options
from gradegpt.cli import run
from gradegpt.settings import load_settings

from ..console import terminal

if TYPE_CHECKING:
    from .scores import Arm, Score

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="A first look, in minutes: gradegpt eval.ablation configs/eval/ablation-0.5b.yaml "
    "name=quick steps=40 seeds=[0] bootstrap=200"
)
def main(
    config: Annotated[Path, options.config("ablation")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "name, data, recipe, model, steps, seeds, formats, shots, "
            "train.KEY (any setting of the recipe), sources, bootstrap."
        ),
    ] = None,
    overwrite: options.Rejudge = False,
) -> None:
    """Train each chain format alike, with every seed, and measure what the format is worth.

    The untuned base with solved examples, the tag alone (outcome), the chain in one language and
    the cross-lingual chain (CMMaTH, table 8): on the same rows, at equal steps and at equal
    training tokens. Writes runs/<name>/: data, runs, eval, ablation.json and ablation.png. A
    stopped command resumes when it is given again.
    """
    from .report import ablate, plot_path
    from .settings import AblationSettings

    settings = load_settings(AblationSettings, config, overrides or ())
    console = terminal()
    if not console.is_terminal:
        console = Console(width=100)
    console.print(_table(ablate(settings, overwrite=overwrite)))
    typer.echo(f"plot: {plot_path(settings)}")


def _table(arms: Sequence[Arm]) -> Table:
    table = Table(title="ablation, unparsed replies counted as wrong", box=box.SIMPLE_HEAD)
    for name in ("equal", "format", "steps", "tokens", "parsed", "accuracy", "balanced", "gain"):
        table.add_column(name, justify="left" if name in ("equal", "format") else "right")
    for arm in arms:
        gain = arm.gain.get("balanced_accuracy")
        table.add_row(
            arm.budget, arm.name, f"{arm.steps:,}", f"{arm.tokens:,}", f"{100 * arm.parsed:.1f}",
            _shown(arm.scores["accuracy"]), _shown(arm.scores["balanced_accuracy"]),
            _shown(gain, sign="+") if gain else "",
        )  # fmt: skip
    return table


def _shown(score: Score, sign: str = "") -> str:
    low, high = 100 * score.interval.low, 100 * score.interval.high
    return f"{100 * score.mean:{sign}.1f} ({low:{sign}.1f} to {high:{sign}.1f})"


if __name__ == "__main__":
    run(app, name="gradegpt eval.ablation")
