"""The accuracy of a model, corrected for the judge: ``gradegpt eval.estimate JUDGED LABELS``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import OutputError, SettingsError
from gradegpt.core.records import whole_file, write_json
from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.statistics import CONFIDENCE
from gradegpt.tables import Form, form_of, write

from ..console import percent, show, signed
from ..report.results import ANSWER_OF, JudgedRows, drawn_by, read_judged
from .compare import AccuracyDifference, ModelComparison, Sides, compared, read_sides, to_label
from .estimate import Accuracy, Drawn, counts_of, estimates, from_pool, strata_of
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
    labels: Annotated[list[Path] | None, typer.Argument(metavar="[LABELS]", help=_LABELS)] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="JUDGED",
            help="Another model's judged answers to the same items, matched by id: estimate the "
            "difference of the two accuracies. Give LABELS of each, or one sheet of both.",
        ),
    ] = None,
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
    given, files = labels or [], items or []
    if compare is not None:
        if pool or beside or plan:
            raise SettingsError("--compare: excludes --pool, --beside and --plan")
        sides = read_sides([judged, compare], files, given)
        if pick_n is not None:
            both = zip(sides.first.labels, sides.second.labels, strict=True)
            picked = pick(sides.strata, [a or b for a, b in both], pick_n, seed)
            return _write_sheet(list(to_label(sides, picked)), pick_n, out)
        _needs(given, judged, f"--pick 60 --compare {compare} -o labels.csv")
        return _print_comparison(compared(sides, _drawn(drawn, given), confidence), sides, out)
    if len(given) > 1 or len(files) > 1:
        raise SettingsError("two files of labels or items need --compare JUDGED")
    table, source = next(iter(given), None), next(iter(files), None)
    if pool is not None:
        if table is None or beside or pick_n or plan:
            raise SettingsError("--pool: needs LABELS, and excludes --beside, --pick and --plan")
        mine, other = _read([judged], source, None), _read([pool], None, table)
        how = _drawn(drawn, given)
        return _print(from_pool(_first(mine), _first(other), other.labels, how, confidence), out)
    results = _read([judged, *(beside or ())], source, table)
    strata = strata_of(list(results.judges.values()))
    if plan is not None:
        counts = counts_of(strata, results.labels)[1] if table else None
        return _print_plan(plan, labels_for(plan, strata, counts, confidence))
    if pick_n is not None:
        picked = pick(strata, results.labels, pick_n, seed)
        return _write_sheet([("", results.items[n]) for n in picked], pick_n, out)
    _needs(given, judged, "--pick 60 -o labels.csv")
    judges = list(results.judges.values())
    return _print(estimates(judges, results.labels, _drawn(drawn, given), confidence), out)


def _needs(labels: Sequence[Path], judged: Path, how: str) -> None:
    if not labels:
        raise SettingsError(
            f"{judged}: needs a table of labels as the second argument; make one: {how}"
        )


def _drawn(stated: Drawn | None, labels: Sequence[Path]) -> Drawn:
    """What the user says, else what the sheets say, else a random draw."""
    if stated is not None:
        return stated
    by_verdict = any(drawn_by(path) == Drawn.BY_VERDICT for path in labels)
    return Drawn.BY_VERDICT if by_verdict else Drawn.RANDOM


def _read(judged: Sequence[Path], items: Path | None, labels: Path | None) -> JudgedRows:
    return read_judged(judged, items=items, labels=labels)


def _first(results: JudgedRows) -> list[Judgement]:
    return list(next(iter(results.judges.values())))


def _print(found: Sequence[Accuracy | AccuracyDifference], out: Path | None) -> None:
    rows = []
    for one in found:
        value, shown = (
            (one.accuracy, percent) if isinstance(one, Accuracy) else (one.difference, signed)
        )
        interval = "–" if one.low is None else f"{shown(one.low)} to {shown(one.high)}"
        counts = (f"{one.n_items:,}", f"{one.n_labels:,}")
        rows.append((one.method, shown(value), interval, *counts, one.assumes))
    what = "accuracy" if isinstance(found[0], Accuracy) else "difference"
    show(("method", what, "interval", "items", "labels", "assumes"), rows)
    if out is not None:
        write_json(out, [one.model_dump(mode="json") for one in found])
        typer.echo(f"wrote {out}")


def _print_plan(width: float, n: int | None) -> None:
    if n is None:
        typer.echo(f"no number of labels gives an interval of {width:g}: judge more items")
    else:
        typer.echo(f"about {n:,} labels give an interval of {width:g}; draw them: --pick {n}")


def _print_comparison(found: ModelComparison, sides: Sides, out: Path | None) -> None:
    _print(found.estimates, None)
    if sides.left_out:
        typer.echo(f"left out: {sides.left_out:,} items that only one file has")
    p = "" if found.p is None else f"; McNemar's exact p {found.p:.3g}"
    typer.echo(
        f"by the labels only A is right {found.first_only}, only B {found.second_only} times{p}"
    )
    if out is not None:
        write_json(out, found.model_dump(mode="json"))
        typer.echo(f"wrote {out}")


def _write_sheet(items: Sequence[tuple[str, Item]], n: int, out: Path | None) -> None:
    """The sheet does not show the judge's verdict, which would influence whoever labels.

    Raises:
        OutputError: the name is missing or is none of a sheet, or the file exists.

    """
    form = form_of(out) if out else None
    if out is None or form not in (Form.CSV, Form.TSV, Form.XLSX):
        raise OutputError("--pick: needs the name of a .csv, .tsv or .xlsx, such as -o labels.csv")
    if out.exists():
        raise OutputError(f"{out}: exists already, and may hold labels; choose another name")
    rows = [
        {
            "id": item.id, ANSWER_OF: whose, "question": item.question,
            "reference": " / ".join(item.reference), "response": item.response, "label": "",
            "drawn": Drawn.BY_VERDICT.value,
        }
        for whose, item in items
    ]  # fmt: skip
    columns = (*_SHEET[:1], *([ANSWER_OF] if any(whose for whose, _ in items) else []), *_SHEET[1:])
    with whole_file(out) as file:
        write(file, form, columns, rows)
    both = "" if len(rows) == n else f", {len(rows)} rows"
    typer.echo(f"wrote {out}: {n} items{both}; write correct or incorrect into its column label")


if __name__ == "__main__":
    run(app, name="gradegpt eval.estimate")
