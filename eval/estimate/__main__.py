"""The accuracy of a model, corrected for the judge: ``gradegpt eval.estimate JUDGED LABELS``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import SettingsError
from gradegpt.core.records import write_json

from ..console import percent, show
from ..report.results import read_judged
from .estimate import estimates, in_words, strata_of
from .pick import pick, write_sheet

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_LABELS: Final = "Labels given by people: a table with the columns id and label."


@app.command(
    epilog="First: gradegpt judge answers.jsonl -o judged.jsonl. Then: gradegpt eval.estimate "
    "judged.jsonl --pick 60 -o labels.csv; fill in its column label (correct or incorrect)."
)
def main(
    judged: Annotated[Path, typer.Argument(metavar="JUDGED", help="The output of gradegpt judge.")],
    labels: Annotated[Path | None, typer.Argument(metavar="[LABELS]", help=_LABELS)] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file that was judged. [default: the file that the manifest names]",
        ),
    ] = None,
    pick_n: Annotated[
        int | None,
        typer.Option(
            "--pick", min=1, help="Write a sheet of so many items to label, by verdict; with -o."
        ),
    ] = None,
    out: Annotated[
        Path | None, options.output("The sheet to write, or the estimates as JSON.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of --pick.")] = 0,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
) -> None:
    """Estimate a model's true accuracy from many judgements and a few labels by people.

    A judge errs, so the share that it judged correct is not the accuracy. Label 60 of its
    judgements, rare verdicts more often than by chance: the estimate corrects the share and has an
    interval. The share itself is printed beside it, and the answer in one sentence.
    """
    reading = options.reading_of(mapped, sheet, separator)
    results = read_judged([judged], items=items, labels=labels, own_labels=True, reading=reading)
    if results.note:
        typer.echo(results.note)
    if pick_n is not None:  # corrected rows, too: without them the judge would seem better
        known = results.labels if labels else [None] * len(results.items)
        picked = pick(strata_of(results.only), known, pick_n, seed)
        write_sheet(results, picked, out)
        how = "write correct or incorrect into its column label"
        typer.echo(f"wrote {out}: {pick_n} items; {how}")
        return
    if not results.labelled:
        how = "needs a table of labels as the second argument; make one: --pick 60 -o labels.csv"
        raise SettingsError(f"{judged}: {how}")
    found = estimates(results.items, results.only, results.labels)
    rows = [
        (
            one.method, percent(one.value), f"{percent(one.low)} to {percent(one.high)}",
            f"{one.n_items:,}", f"{one.n_labels:,}", one.assumes,
        )
        for one in found
    ]  # fmt: skip
    show(("method", "accuracy", "interval", "items", "labels", "assumes"), rows)
    typer.echo(in_words(found))
    if out is not None:
        write_json(out, [one.model_dump(mode="json") for one in found])
        typer.echo(f"wrote {out}")


if __name__ == "__main__":
    run(app, name="gradegpt eval.estimate")
