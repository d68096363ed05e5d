"""Reproduce the paper's ablation: ``gradegpt eval.ablation configs/eval/ablation-0.5b.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.settings import load_settings

from ..console import show

if TYPE_CHECKING:
    from .report import Arm, SeedScore

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="A first look: gradegpt eval.ablation ablation-0.5b name=quick steps=10")
def main(
    config: Annotated[Path, options.config("ablation-0.5b")],
    overrides: Annotated[
        list[str] | None,
        options.changes(
            "name, data, recipe, model, steps, seeds, shots, train.KEY (any setting of the "
            "recipe), judge.KEY, sources."
        ),
    ] = None,
    output: options.Folder = None,
    overwrite: options.Rejudge = False,
) -> None:
    """Train each chain format alike, with every seed, and measure what the format is worth.

    The untuned base with solved examples, the tag alone (outcome), the chain in one language and
    the cross-lingual chain (CMMaTH, table 8): on the same rows, at equal steps and at equal
    training tokens. Writes runs/<name>/: data, runs, eval and ablation.json. A stopped command
    resumes when it is given again.
    """
    from .report import ablate
    from .runs import AblationSettings

    settings = load_settings(AblationSettings, config, options.with_folder(output, overrides))
    print_arms(ablate(settings, overwrite=overwrite))
    typer.echo(f"wrote {settings.folder / 'ablation.json'}")


def print_arms(arms: Sequence[Arm]) -> None:
    """Print a row for each arm."""
    rows = []
    for arm in arms:
        gain = arm.gain.get("balanced_accuracy")
        scores = [_shown(arm.scores[name]) for name in ("accuracy", "balanced_accuracy")]
        counts = (f"{arm.steps:,}", f"{arm.tokens:,}", f"{100 * arm.parsed:.1f}")
        rows.append((arm.budget, arm.name, *counts, *scores, _shown(gain, "+") if gain else ""))
    names = ("equal", "format", "steps", "tokens", "parsed", "accuracy", "balanced", "gain")
    show(names, rows, "ablation, unparsed replies counted as wrong")


def _shown(score: SeedScore, sign: str = "") -> str:
    low, high = 100 * score.interval.low, 100 * score.interval.high
    return f"{100 * score.mean:{sign}.1f} ({low:{sign}.1f} to {high:{sign}.1f})"


if __name__ == "__main__":
    run(app, name="gradegpt eval.ablation")
