"""The accuracy of a model, corrected for the judge: ``gradegpt eval.estimate JUDGED LABELS``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.cli import run
from gradegpt.errors import OutputError, SettingsError
from gradegpt.proportions import CONFIDENCE
from gradegpt.records import whole_file, write_json
from gradegpt.schema import Item, Judgement
from gradegpt.tables import Form, Row, form_of, write

from ..console import empty_table, percent, terminal
from ..report.judged import drawn_by, read_judged
from ..report.results import Results
from .estimate import Drawn, Estimate, counts_of, estimates, from_pool, strata_of
from .pick import labels_for, pick

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_SHEET: Final = ("id", "question", "reference", "response", "label", "drawn")
_LABELS: Final = "Labels given by people: a table with the columns id and label."


@app.command(
    epilog="First: gradegpt judge answers.jsonl -o judged.jsonl. Then: gradegpt eval.estimate "
    "judged.jsonl --pick 60 -o labels.csv; fill in its column label (correct or incorrect)."
)
def main(
    judged: Annotated[Path, typer.Argument(metavar="JUDGED", help="The output of gradegpt judge.")],
    labels: Annotated[Path | None, typer.Argument(metavar="[LABELS]", help=_LABELS)] = None,
    drawn: Annotated[
        Drawn | None,
        typer.Option(
            help="How the labelled items were chosen. [default: what a sheet of --pick says, else "
            "random]"
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="JUDGED", help="Judgements of the same items by another judge: finer strata."
        ),
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(
            metavar="JUDGED",
            help="LABELS are of these other answers, which the same judge judged.",
        ),
    ] = None,
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
        Path | None,
        typer.Option(
            "-o", "--out", dir_okay=False, help="The sheet to write, or the estimates as JSON."
        ),
    ] = None,
    plan: Annotated[
        float | None, typer.Option(metavar="WIDTH", help="How many labels for such an interval.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="The level of the intervals.")
    ] = CONFIDENCE,
    seed: Annotated[int, typer.Option(help="The seed of --pick.")] = 0,
) -> None:
    """Estimate a model's true accuracy from many judgements and a few labels by people.

    A judge errs, so the share that it judged correct is not the accuracy. Label 60 of its
    judgements, half judged correct and half not: the estimate corrects the share and has an
    interval. The share itself and the labels alone are printed beside it.
    """
    if pool is not None:
        if labels is None or beside or pick_n or plan:
            raise SettingsError("--pool: needs LABELS, and excludes --beside, --pick and --plan")
        mine, other = _read([judged], items, None), _read([pool], None, labels)
        how = _drawn(drawn, labels)
        return _print(from_pool(_first(mine), _first(other), other.labels, how, confidence), out)
    results = _read([judged, *(beside or ())], items, labels)
    strata = strata_of(list(results.judges.values()))
    if plan is not None:
        counts = counts_of(strata, results.labels)[1] if labels else None
        return _print_plan(plan, labels_for(plan, strata, counts, confidence))
    if pick_n is not None:
        picked = pick(strata, [label is not None for label in results.labels], pick_n, seed)
        return _write_sheet([results.items[place] for place in picked], out)
    if labels is None:
        raise SettingsError(
            f"{judged}: needs a table of labels as the second argument; "
            "make one: --pick 60 -o labels.csv"
        )
    judges = list(results.judges.values())
    return _print(estimates(judges, results.labels, _drawn(drawn, labels), confidence), out)


def _drawn(stated: Drawn | None, labels: Path) -> Drawn:
    """What the user says, else what the sheet says, else a random draw."""
    if stated is not None:
        return stated
    return Drawn.BY_VERDICT if drawn_by(labels) == Drawn.BY_VERDICT else Drawn.RANDOM


def _read(judged: Sequence[Path], items: Path | None, labels: Path | None) -> Results:
    return read_judged(judged, items=items, labels=labels)


def _first(results: Results) -> list[Judgement]:
    return list(next(iter(results.judges.values())))


def _print(found: Sequence[Estimate], out: Path | None) -> None:
    table = empty_table()
    for name in ("method", "accuracy", "interval", "items", "labels", "assumes"):
        table.add_column(name, justify="left" if name in ("method", "assumes") else "right")
    for one in found:
        interval = "–" if one.low is None else f"{percent(one.low)} to {percent(one.high)}"
        table.add_row(
            one.method, percent(one.accuracy), interval, f"{one.n_items:,}", f"{one.n_labels:,}",
            one.assumes,
        )  # fmt: skip
    terminal().print(table)
    if out is not None:
        write_json(out, [one.model_dump(mode="json") for one in found])
        typer.echo(f"wrote {out}")


def _print_plan(width: float, n: int | None) -> None:
    if n is None:
        typer.echo(f"no number of labels gives an interval of {width:g}: judge more items")
    else:
        typer.echo(f"about {n:,} labels give an interval of {width:g}; draw them: --pick {n}")


def _write_sheet(items: Sequence[Item], out: Path | None) -> None:
    """The sheet does not show the judge's verdict, which would influence whoever labels.

    Raises:
        OutputError: the name is missing or is none of a sheet, or the file exists.

    """
    form = form_of(out) if out else None
    if out is None or form not in (Form.CSV, Form.TSV, Form.XLSX):
        raise OutputError("--pick: needs the name of a .csv, .tsv or .xlsx, such as -o labels.csv")
    if out.exists():
        raise OutputError(f"{out}: exists already, and may hold labels; choose another name")
    rows: list[Row] = [
        {
            "id": item.id, "question": item.question, "reference": " / ".join(item.reference),
            "response": item.response, "label": "", "drawn": Drawn.BY_VERDICT.value,
        }
        for item in items
    ]  # fmt: skip
    with whole_file(out) as file:
        write(file, form, _SHEET, rows)
    typer.echo(f"wrote {out}: {len(rows)} items; write correct or incorrect into its column label")


if __name__ == "__main__":
    run(app, name="gradegpt eval.estimate")
