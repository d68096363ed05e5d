"""Score the model that answered from a judged file: ``gradegpt eval.scores FILE JUDGEMENTS``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.app.console import read_items
from gradegpt.core.errors import InputError
from gradegpt.core.records import read_rows, write_json
from gradegpt.core.schema import Judgement

from ..tables import print_scores
from . import ALPHAS, scores

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="First: gradegpt judge answers.jsonl -o judged.jsonl")
def main(
    items: Annotated[Path, typer.Argument(metavar="FILE", help="The items that were judged.")],
    judgements: Annotated[
        Path, typer.Argument(metavar="JUDGED.JSONL", help="The output of gradegpt judge for them.")
    ],
    out: Annotated[Path | None, options.output("Write every number there, as JSON.")] = None,
    k: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="The k of pass@k, G-Pass@k and mG-Pass@k, the number of answers drawn per "
            "question; repeatable. [default: 2, 4, 8, ... as far as every question has as many]",
        ),
    ] = None,
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            help="For SSR (knowledge successful solve rate), the share of a tag's values with an "
            "accuracy above alpha; repeatable."
        ),
    ] = None,
    mapped: options.Map = None,
) -> None:
    """Score the model that answered: accuracy, by tag, and over several answers to a question.

    Rows with the same question are samples of it. Tags are an item's column `tags`, as in
    {"subject": "physics", "points": ["optics", "waves"]}. Rows without a verdict are left out of
    every score, and counted.
    """
    judged = list(read_rows(judgements, Judgement))
    found = scores(
        [one.item for one in read_items(items, options.columns_of(mapped))],
        judged,
        ks=tuple(k or ()),
        alphas=tuple(alpha or ALPHAS),
    )
    _check_verdicts(judged, judgements)
    print_scores(found)
    if out is not None:
        write_json(out, found.model_dump(mode="json"))
        typer.echo(f"wrote {out}")


def _check_verdicts(judged: Sequence[Judgement], path: Path) -> None:
    if any(judgement.verdict is not None for judgement in judged):
        return
    outcomes = Counter(judgement.outcome.value for judgement in judged)
    counts = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
    raise InputError(f"{path}: no row has a verdict ({counts}); judge them again first")


if __name__ == "__main__":
    run(app, name="gradegpt eval.scores")
