"""Score the model that answered from a judged file: ``gradegpt eval.scores FILE JUDGEMENTS``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt import options
from gradegpt.cli import run
from gradegpt.records import read_rows, write_json
from gradegpt.schema import Judgement

from . import ALPHAS, read_items, scores
from .tables import print_scores

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="First: gradegpt judge answers.jsonl -o judged.jsonl")
def main(
    items: Annotated[Path, typer.Argument(metavar="FILE", help="The items that were judged.")],
    judgements: Annotated[
        Path, typer.Argument(metavar="JUDGED.JSONL", help="The output of gradegpt judge for them.")
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write every number there, as JSON.")
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="The k of pass@k, G-Pass@k and mG-Pass@k: answers drawn per question; may be "
            "given several times. [default: powers of two that all questions reach]",
        ),
    ] = None,
    alpha: Annotated[
        list[float] | None,
        typer.Option(help="Accuracies above which a tag's value is mastered, for SSR."),
    ] = None,
    mapped: options.Map = None,
) -> None:
    """Score the model that answered: accuracy, by tag, and over several answers to a question.

    Rows with the same question are samples of it. Tags are an item's column `tags`, as in
    {"subject": "physics", "points": ["optics", "waves"]}. Rows without a verdict are left out of
    every score, and counted.
    """
    found = scores(
        read_items(items, options.columns_of(mapped)),
        list(read_rows(judgements, Judgement)),
        ks=tuple(k or ()),
        alphas=tuple(alpha or ALPHAS),
    )
    print_scores(found)
    if out is not None:
        write_json(out, found.model_dump(mode="json"))
        typer.echo(f"wrote {out}")


if __name__ == "__main__":
    run(app, name="gradegpt eval.scores")
