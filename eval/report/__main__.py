"""One page for judged files: ``gradegpt report JUDGED.jsonl -o report.html``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import OutputError
from gradegpt.core.records import dump, whole_file
from gradegpt.tables import Form, form_of, write
from gradegpt.tables.importers import logs

if TYPE_CHECKING:
    from .replaced import Replacement
    from .results import JudgedRows

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_PAGE: Final = (".html", ".htm")


@app.command(
    epilog="First: gradegpt judge answers.jsonl -o judged.jsonl. What changes when the judge new "
    "replaces the judge old: gradegpt report old.jsonl new.jsonl -o report.html -o differ.csv"
)
def main(
    judged: Annotated[
        list[Path],
        typer.Argument(
            metavar="JUDGED.JSONL...",
            help="The output of gradegpt judge. Several files are several judges of the same rows.",
        ),
    ],
    out: Annotated[
        list[Path] | None,
        options.output(
            "Write, by the suffix: the page (.html), or of two judges all numbers (.json) or the "
            "items with another result (.jsonl, .csv, .tsv, .xlsx); repeatable, and replaced if it "
            "exists. [default: report.html]"
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Labels given by people: a table with the columns id and label. It may be the "
            "file that was judged. The page then shows accuracy.",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file that was judged, if it has moved. [default: found by the judgements]",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="The column or tag that names the model that answered: its scores and ranks by "
            "two judges. [default: model]",
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="The title. [default: the files' names]")] = "",
    most: Annotated[
        int,
        typer.Option(
            min=0, help="The most items to list; judges' differences and errors come first."
        ),
    ] = 5000,
) -> None:
    """Write an HTML report on judged files, and compare them.

    It shows scores, scores by tag, and every item with its judgements.

    What changes when the second of two judges replaces the first is also printed: their verdicts
    and agreement, who is right where there are labels, how the scores and ranks of the models that
    answered move, and what both cost; or what changed against the scores of a log. Without labels
    the score is the share judged correct, and the rows on which judges differ matter most.
    The old scores of a judged log are shown as one more judge. The page is a single file that loads
    no other; its address holds the filters, so a view can be shared.
    """
    from gradegpt.app.console import progress

    from .numbers import numbers
    from .page import render_page
    from .replaced import print_replacement, replacement
    from .results import read_judged, seconds_of

    outputs = out or [Path("report.html")]
    for path in outputs:
        _check(path, [path for path in (*judged, labels, items) if path], len(judged))
    by = by or ("model" if len(judged) == 2 else "")
    results = read_judged(judged, items=items, labels=labels, name=name, by=by)
    found = None
    if len(judged) == 2:
        typer.echo(logs.between(*judged))
        seconds = dict(zip(results.judges, map(seconds_of, judged), strict=False))
        found = replacement(results, by, seconds)
        print_replacement(found)
    elif logs.is_regraded(judged[0]):
        typer.echo(logs.compare(judged[0]))
    for path in outputs:
        if path.suffix.lower() in _PAGE:
            with progress("measuring") as advance:
                page = render_page(results, numbers(results, advance), most=most)
            with whole_file(path) as file:
                file.write(page)
            typer.echo(f"wrote {path} ({len(page.encode()) / 1e6:.1f} MB)")
        elif found is not None:
            _write(path, found, results)
            typer.echo(f"wrote {path}")


def _check(path: Path, inputs: Sequence[Path], n_judges: int) -> None:
    """Before any work: the name says what to write, and it is no input.

    Raises:
        OutputError: it does not, or it is.

    """
    if path.suffix.lower() not in _PAGE:
        if form_of(path) in (None, Form.PARQUET):
            what = "a .html for the page, .json for the numbers, .jsonl or .csv for the items"
            raise OutputError(f"{path}: has an unknown suffix; give {what}")
        if n_judges != 2:
            raise OutputError(f"{path}: compares two judges; give two files, or -o report.html")
    if path.exists() and any(other.exists() and path.samefile(other) for other in inputs):
        raise OutputError(f"{path}: is an input; choose another name")


def _write(path: Path, found: Replacement, results: JudgedRows) -> None:
    from .replaced import differing

    form = form_of(path)
    with whole_file(path) as file:
        if form is Form.JSON:
            file.write(found.model_dump_json(indent=2) + "\n")
        elif form is Form.JSONL:
            file.writelines(f"{dump(row)}\n" for row in differing(results))
        elif form is not None:
            label = ("id", "question", "reference", "response", "label")
            judged = (found.old, found.new, f"{found.old} reason", f"{found.new} reason")
            write(file, form, (*label, *judged), differing(results))


if __name__ == "__main__":
    run(app, name="gradegpt report")
