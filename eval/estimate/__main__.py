"""The accuracy of a model, corrected for the judge: ``gradegpt eval.estimate JUDGED LABELS``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import SettingsError
from gradegpt.core.records import write_json
from gradegpt.core.schema import Item
from gradegpt.judges.statistics import CONFIDENCE

from ..console import percent, show, signed
from ..report.results import read_judged
from ..report.whole import has_labels
from .estimate import (
    Estimate,
    compared,
    difference_in_words,
    estimates,
    in_words,
    strata_of,
)
from .pick import pick, write_sheet
from .sides import read_sides, to_label

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_LABELS: Final = "Labels given by people: a table with the columns id and label."


@app.command(
    epilog="First: gradegpt judge answers.jsonl -o judged.jsonl. Then: gradegpt eval.estimate "
    "judged.jsonl --pick 60 -o labels.csv; fill in its column label (correct or incorrect)."
)
def main(
    judged: Annotated[Path, typer.Argument(metavar="JUDGED", help="The output of gradegpt judge.")],
    labels: Annotated[list[Path] | None, typer.Argument(metavar="[LABELS]", help=_LABELS)] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="JUDGED",
            help="Another model's judged answers to the same items, matched by id: estimate the "
            "difference of the two accuracies. Give LABELS of each, or one sheet of both.",
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="JUDGED", help="Judgements of the same items by another judge: finer strata."
        ),
    ] = None,
    items: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="The file that was judged; a second one is that of --compare. [default: the file "
            "that the manifest names]",
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
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="The level of the intervals.")
    ] = CONFIDENCE,
    seed: Annotated[int, typer.Option(help="The seed of --pick.")] = 0,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
) -> None:
    """Estimate a model's true accuracy from many judgements and a few labels by people.

    A judge errs, so the share that it judged correct is not the accuracy. Label 60 of its
    judgements, half judged correct and half not: the estimate corrects the share and has an
    interval. The share itself is printed beside it, and the answer in one sentence.
    """
    given, files = labels or [], items or []
    reading = options.reading_of(mapped, sheet, separator)
    if not given and compare is None and has_labels(judged, reading):
        given = [judged]
    if compare is not None:
        if beside:
            raise SettingsError("--compare: excludes --beside")
        sides = read_sides([judged, compare], files, given, reading)
        if pick_n is not None:
            both = zip(sides.first.labels, sides.second.labels, strict=True)
            strata = strata_of([sides.first.only, sides.second.only])
            picked = pick(strata, [a or b for a, b in both], pick_n, seed)
            return _write_sheet(list(to_label(sides, picked)), pick_n, out)
        _needs(given, judged, f"--pick 60 --compare {compare} -o labels.csv")
        difference = compared(sides, confidence)
        _print(difference, signed)
        if sides.left_out:
            typer.echo(f"left out: {sides.left_out:,} items that only one file has")
        typer.echo(difference_in_words(difference, confidence))
        return _save(difference, out)
    if len(given) > 1 or len(files) > 1:
        raise SettingsError("two files of labels or items need --compare JUDGED")
    results = read_judged(
        [judged, *(beside or ())],
        items=next(iter(files), None), labels=next(iter(given), None),
        reading=reading,
    )  # fmt: skip
    judges = list(results.judges.values())
    if pick_n is not None:
        picked = pick(strata_of(judges), results.labels, pick_n, seed)
        return _write_sheet([("", results.items[n]) for n in picked], pick_n, out)
    _needs(given, judged, "--pick 60 -o labels.csv")
    found = estimates(results.items, judges, results.labels, confidence)
    _print(found, percent)
    typer.echo(in_words(found, confidence))
    return _save(found, out)


def _needs(labels: Sequence[Path], judged: Path, how: str) -> None:
    if not labels:
        raise SettingsError(
            f"{judged}: needs a table of labels as the second argument; make one: {how}"
        )


def _print(found: Sequence[Estimate], shown: Callable[[float | None], str]) -> None:
    what = "accuracy" if shown is percent else "difference"
    rows = [
        (
            one.method, shown(one.value),
            "–" if one.low is None else f"{shown(one.low)} to {shown(one.high)}",
            f"{one.n_items:,}", f"{one.n_labels:,}", one.assumes,
        )
        for one in found
    ]  # fmt: skip
    show(("method", what, "interval", "items", "labels", "assumes"), rows)


def _save(found: Sequence[Estimate], out: Path | None) -> None:
    if out is not None:
        write_json(out, [one.model_dump(mode="json") for one in found])
        typer.echo(f"wrote {out}")


def _write_sheet(rows: Sequence[tuple[str, Item]], n: int, out: Path | None) -> None:
    write_sheet(rows, out)
    both = "" if len(rows) == n else f", {len(rows)} rows"
    typer.echo(f"wrote {out}: {n} items{both}; write correct or incorrect into its column label")


if __name__ == "__main__":
    run(app, name="gradegpt eval.estimate")
