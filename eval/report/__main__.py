"""Scores and a page of judged files: ``gradegpt report JUDGED.jsonl -o report.html``."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.core.errors import InputError, OutputError
from gradegpt.core.records import dump, whole_file, write_json
from gradegpt.tables import Form, form_of, write
from gradegpt.tables.importers import logs

if TYPE_CHECKING:
    from .numbers import Numbers
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
            "Write, by the suffix: the page (.html), all numbers (.json), or of two judges the "
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
            help="The column or tag by which scores are listed, such as a pupil's class. Of two "
            "judges it names the model that answered, for its ranks by both. [default: model]",
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="The title. [default: the files' names]")] = "",
    most: Annotated[
        int,
        typer.Option(
            min=0,
            help="The most items to list: some of every verdict, judges' differences and errors "
            "first. All others go to a file beside the page.",
        ),
    ] = 5000,
    mapped: options.Map = None,
    sheet: options.Sheet = "",
    separator: options.Separator = "",
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write an HTML report on judged files, score the model that answered, and compare judges.

    It shows scores, scores by tag, and the items with their judgements. Without labels it also
    prints the scores of the model that answered: accuracy, by tag, and over several answers to a
    question. Rows with the same question are samples of it where all have equally many; tags are
    an item's column `tags`, as in {"subject": "physics", "points": ["optics", "waves"]}.

    What changes when the second of two judges replaces the first is also printed: their verdicts
    and agreement, who is right where there are labels, how the scores and ranks of the models that
    answered move, and what both cost; or what changed against the scores of a log. Without labels
    the score is the share judged correct, and the rows on which judges differ matter most.
    The old scores of a judged log are shown as one more judge. The page is a single file that loads
    no other; its address holds the filters, so a view can be shared.
    """
    from gradegpt.app.console import progress

    from .numbers import numbers
    from .page import write_page
    from .replaced import print_replacement, replacement
    from .results import read_judged, seconds_of

    gc.set_threshold(100_000)  # what is read stays: to look for garbage takes an eighth
    outputs = out or [Path("report.html")]
    for path in outputs:
        _check(path, [path for path in (*judged, labels, items) if path], len(judged))
    by = by or ("model" if len(judged) == 2 else "")
    results = read_judged(
        judged, items=items, labels=labels, name=name, by=by,
        reading=options.reading_of(mapped, sheet, separator),
    )  # fmt: skip
    if results.note:
        typer.echo(results.note)
    with progress("measuring") as advance:
        found = numbers(results, advance)
    replaced = None
    if len(judged) == 2:
        seconds = dict(zip(results.judges, map(seconds_of, judged), strict=False))
        replaced = replacement(results, by, seconds)
        print_replacement(replaced)
    elif logs.is_regraded(judged[0]):
        typer.echo(logs.compare(judged[0]))
    _print_scores(results, found, by)
    for path in outputs:
        if path.suffix.lower() in _PAGE:
            for line in write_page(path, results, found, most=most):
                typer.echo(line)
            if show:
                typer.launch(path.resolve().as_uri())
        else:
            _write(path, replaced, results, found)
            typer.echo(f"wrote {path}")


def _print_scores(results: JudgedRows, found: Numbers, by: str) -> None:
    """Of judges on labelled rows, and corrected where some have no label; or of the one model."""
    from ..estimate.estimate import estimates, in_words
    from ..tables import print_overall, print_scores

    if not results.labelled:
        if n := results.n_by_hand:
            typer.echo(f"{n:,} of the {len(results.items):,} verdicts are by labels")
        for score in results.scores.values() if len(results.scores) == 1 else ():
            print_scores(score, by)
        return
    print_overall(found.measured)
    for judge, judgements in results.judges.items():
        if None in results.labels and any(one.verdict for one in judgements):
            try:
                said = in_words(estimates(results.items, judgements, results.labels))
            except InputError as error:
                said = str(error)
            typer.echo(f"of the model that answered, by {judge}: {said}")


def _check(path: Path, inputs: Sequence[Path], n_judges: int) -> None:
    """Before any work: the name says what to write, and it is no input.

    Raises:
        OutputError: it does not, or it is.

    """
    if path.suffix.lower() not in _PAGE:
        if form_of(path) in (None, Form.PARQUET):
            what = "a .html for the page, .json for the numbers, .jsonl or .csv for the items"
            raise OutputError(f"{path}: has an unknown suffix; give {what}")
        if n_judges != 2 and form_of(path) is not Form.JSON:
            raise OutputError(f"{path}: compares two judges; give two files, or -o report.html")
    if path.exists() and any(other.exists() and path.samefile(other) for other in inputs):
        raise OutputError(f"{path}: is an input; choose another name")


def _write(path: Path, replaced: Replacement | None, results: JudgedRows, found: Numbers) -> None:
    """All numbers: of two judges, of the model that answered, or of judges against labels."""
    from .replaced import differing

    form = form_of(path)
    if form is Form.JSON:
        many = results.scores or found.overall
        single = {name: one.model_dump(mode="json") for name, one in many.items()}
        write_json(path, replaced.model_dump(mode="json") if replaced else single)
        return
    with whole_file(path) as file:
        if form is Form.JSONL:
            file.writelines(f"{dump(row)}\n" for row in differing(results))
        elif form is not None:
            label = ("id", "question", "reference", "response", "label")
            judged = list(results.judges)[:2]
            columns = (*label, *judged, *(f"{name} reason" for name in judged))
            write(file, form, columns, differing(results))


if __name__ == "__main__":
    run(app, name="gradegpt report")
