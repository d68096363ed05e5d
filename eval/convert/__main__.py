"""Replace a judge: ``gradegpt eval.convert --from A.jsonl --to B.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from gradegpt.cli import run
from gradegpt.errors import OutputError
from gradegpt.records import dump, whole_file
from gradegpt.tables import Form, form_of, write

from ..console import decimal, empty_table, percent, signed, terminal
from ..report.judged import read_judged, seconds_of
from ..report.page import render_page
from ..report.results import Results
from ..settings import LISTED
from .measure import Conversion, conversion, differing

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_PAGE: Final = (".html", ".htm")


@app.command(
    epilog="First: gradegpt judge answers.jsonl -o old.jsonl --judge rules, and gradegpt judge "
    "answers.jsonl -o new.jsonl --judge cascade. Then: gradegpt eval.convert --from old.jsonl "
    "--to new.jsonl -o report.json -o differ.csv -o report.html."
)
def main(
    old: Annotated[
        Path,
        typer.Option("--from", metavar="JUDGED", help="The output of the judge so far."),
    ],
    new: Annotated[
        Path, typer.Option("--to", metavar="JUDGED", help="The output of the judge that follows.")
    ],
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Labels given by people, a table with the columns id and label: who is right "
            "where they differ.",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file that was judged. [default: the file that the manifest names]",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="The column or tag of the items that names the model that answered: its scores "
            "and ranks by both judges.",
        ),
    ] = "model",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--out",
            dir_okay=False,
            help="Write, by the suffix: all numbers (.json), the items with another result "
            "(.jsonl, .csv, .tsv, .xlsx), or the page of gradegpt report (.html); repeatable.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the resampling.")] = 0,
) -> None:
    """Show what changes when one judge replaces another on the same items.

    It shows the verdicts of both, their agreement, who is right where there are labels, how the
    scores and ranks of the models that answered move, and what both cost. A score is the share
    judged correct of the judged items; intervals are resampled by question.
    """
    for path in out or ():
        _check(path, [old, new, *filter(None, (labels, items))])
    results = read_judged([old, new], items=items, labels=labels, by=by)
    seconds = dict(zip(results.judges, map(seconds_of, (old, new)), strict=False))
    found = conversion(results, by, seconds, seed=seed)
    print_conversion(found)
    for path in out or ():
        _write(path, found, results)
        typer.echo(f"wrote {path}")


def _check(path: Path, inputs: Sequence[Path]) -> None:
    """Before any work: the name says what to write, and it is no input.

    Raises:
        OutputError: it does not, or it is.

    """
    form = form_of(path)
    if (form is None or form is Form.PARQUET) and path.suffix.lower() not in _PAGE:
        what = "a .json for the numbers, .jsonl or .csv for the items, or .html for the page"
        raise OutputError(f"{path}: has an unknown suffix; give {what}")
    if path.exists() and any(other.exists() and path.samefile(other) for other in inputs):
        raise OutputError(f"{path}: is an input; choose another name")


def _write(path: Path, found: Conversion, results: Results) -> None:
    form, rows = form_of(path), differing(results)
    with whole_file(path) as file:
        if path.suffix.lower() in _PAGE:
            file.write(render_page(results, most=LISTED))
        elif form is Form.JSON:
            file.write(found.model_dump_json(indent=2) + "\n")
        elif form is Form.JSONL:
            file.writelines(f"{dump(row)}\n" for row in rows)
        elif form is not None:
            label = ("id", "question", "reference", "response", "label")
            judged = (found.old, found.new, f"{found.old} reason", f"{found.new} reason")
            write(file, form, (*label, *judged), rows)


def print_conversion(found: Conversion) -> None:
    """Print the tables of a command line."""
    console = terminal()
    results = empty_table(f"{found.n_items:,} items: {found.old} (rows) and {found.new} (columns)")
    results.add_column("")
    for name in found.results:
        results.add_column(name, justify="right")
    for name, row in found.results.items():
        results.add_row(name, *(f"{n:,}" if n else "" for n in row.values()))
    console.print(results)
    for line in _summary(found):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    models = empty_table("share judged correct of the judged items, %")
    for name in ("model", "items", found.old, found.new, "difference", "interval", "rank"):
        models.add_column(escape(name), justify="left" if name == "model" else "right")
    for one in found.models:
        moved = f"{one.old_rank} -> {one.new_rank}" if one.old_rank != one.new_rank else ""
        models.add_row(
            escape(one.name), f"{one.n_items:,}", percent(one.old.value), percent(one.new.value),
            signed(one.difference), f"{signed(one.low)} to {signed(one.high)}",
            moved or str(one.old_rank),
        )  # fmt: skip
    console.print(models)
    if found.tau is not None:
        console.print(f"Kendall's tau of the {len(found.models)} models' scores: {found.tau:.2f}")


def _summary(found: Conversion) -> list[str]:
    pair, kappa = found.pair, found.kappa
    interval = f" ({decimal(kappa.low)} to {decimal(kappa.high)})" if kappa else ""
    lines = [
        f"both judged {pair.n_both:,}: agree on {percent(pair.agreement)} %, kappa "
        f"{decimal(pair.kappa)}{interval}; {found.now_correct:,} now correct, "
        f"{found.no_longer_correct:,} no longer; McNemar's exact p {found.p:.3g}"
    ]
    if (right := found.labelled) is not None:
        lines.append(
            f"with labels {right.n:,}: right both {right.both_right:,}, only {found.old} "
            f"{right.old_only:,}, only {found.new} {right.new_only:,}, neither "
            f"{right.both_wrong:,}; McNemar's exact p {right.p:.3g}"
        )
    for name, cost in found.costs.items():
        time = "" if cost.seconds is None else f", {cost.seconds:,.1f} s"
        tokens = f"{cost.prompt_tokens:,} prompt and {cost.completion_tokens:,} completion tokens"
        lines.append(f"cost of {name}: {tokens}{time}")
    return lines


if __name__ == "__main__":
    run(app, name="gradegpt eval.convert")
