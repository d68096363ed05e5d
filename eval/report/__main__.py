"""One page for judged files: ``gradegpt report JUDGED.jsonl -o report.html``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt.cli import run
from gradegpt.errors import OutputError
from gradegpt.importers import logs
from gradegpt.records import whole_file

from ..settings import LISTED

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="First: gradegpt judge answers.jsonl -o judged.jsonl")
def main(
    judged: Annotated[
        list[Path],
        typer.Argument(
            metavar="JUDGED.JSONL...",
            help="The output of gradegpt judge. Several files are several judges of the same rows.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", dir_okay=False, help="The page to write, replaced if it exists."
        ),
    ] = Path("report.html"),
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
    name: Annotated[str, typer.Option(help="The title. [default: the files' names]")] = "",
    most: Annotated[
        int,
        typer.Option(
            min=0, help="The most items to list; judges' differences and errors come first."
        ),
    ] = LISTED,
) -> None:
    """Write an HTML report on judged files, and compare them.

    It shows scores, scores by tag, and every item with its judgements.

    What changed between two judges, or against the scores of a log, is also printed. Without labels
    the score is the share judged correct, and the rows on which judges differ matter most.
    The old scores of a judged log are shown as one more judge. The page is a single file that loads
    no other; its address holds the filters, so a view can be shared.
    """
    from ..judging import progress_bar
    from .judged import read_judged
    from .page import render_page

    taken = [path for path in (*judged, labels, items) if path]
    if out.exists() and any(path.exists() and out.samefile(path) for path in taken):
        raise OutputError(f"{out}: is an input; choose another name for the page")
    results = read_judged(judged, items=items, labels=labels, name=name)
    if len(judged) == 2:
        typer.echo(logs.between(*judged))
    elif logs.is_regraded(judged[0]):
        typer.echo(logs.compare(judged[0]))
    with progress_bar("measuring") as advance:
        page = render_page(results, most=most, advance=advance)
    with whole_file(out) as file:
        file.write(page)
    typer.echo(f"wrote {out} ({len(page.encode()) / 1e6:.1f} MB)")


if __name__ == "__main__":
    run(app, name="gradegpt report")
