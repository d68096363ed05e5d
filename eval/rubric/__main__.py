"""Grade by rubrics: ``gradegpt eval.rubric`` with ``make``, ``check``, ``grade`` and ``score``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from gradegpt.cli import run
from gradegpt.records import read_rows, write_json, write_rows

from ..asking import (
    ApiKey,
    BaseUrl,
    Concurrency,
    InputPrice,
    MaxNewTokens,
    ModelName,
    OutputPrice,
    Overwrite,
    asking,
    print_asked,
)
from . import ask
from .check import check_files
from .rows import GradeRow, read_people
from .score import rubric_scores
from .tables import print_checked, print_scores

app = typer.Typer(
    help="Grade responses by rubrics: points for each step of a reference solution.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Rubrics = Annotated[
    Path,
    typer.Argument(
        metavar="RUBRICS.JSONL",
        help="The output of make, or rows written by hand: "
        '{"id": …, "criteria": [{"text": …, "points": …}], "total": 10}.',
    ),
]


@app.command(epilog="Then: gradegpt eval.rubric check ITEMS.JSONL RUBRICS.JSONL")
def make(
    items: Annotated[
        Path,
        typer.Argument(
            metavar="ITEMS.JSONL",
            help="Rows with id, question, reference and solution, one per question; points, if a "
            "full answer does not earn 10.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", dir_okay=False, help="The file for the rubrics.")
    ],
    base_url: BaseUrl,
    model: ModelName,
    by_hand: Annotated[
        Path | None,
        typer.Option(help="Rubrics written by hand; the model makes the others."),
    ] = None,
    max_new_tokens: MaxNewTokens = 2048,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    overwrite: Overwrite = False,
) -> None:
    """Make a rubric for every question from its reference solution.

    A stopped run resumes when the same command is given again. A reply that is no rubric leaves a
    row without criteria, which `check` reports with the reason.
    """
    started = time.monotonic()
    with asking(
        base_url, model, api_key=api_key, concurrency=concurrency, max_new_tokens=max_new_tokens,
        overwrite=overwrite,
    ) as (engine, options):  # fmt: skip
        made = ask.make(items, out, engine, by_hand=by_hand, **options)
    print_asked(made, out, started, max_new_tokens, (input_price, output_price))


@app.command(epilog="Then: gradegpt eval.rubric grade ANSWERS.JSONL RUBRICS.JSONL -o GRADES.JSONL")
def check(
    items: Annotated[Path, typer.Argument(metavar="ITEMS.JSONL", help="The items of the rubrics.")],
    rubrics: Rubrics,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", dir_okay=False, help="Write every finding there, as JSON Lines."
        ),
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Findings shown of each defect.")] = 5,
) -> None:
    """Find rubrics to check: wrong points, steps without a criterion, unevenly spread points.

    The exit code is 1 if there is any. Coverage compares numbers, formulas and names: a criterion
    in other words is not recognised, so check each finding of missing coverage.
    """
    measured, found = check_files(items, rubrics)
    if out is not None:
        write_rows(out, (finding.model_dump(mode="json") for finding in found))
    print_checked(measured, found, show)
    if found:
        raise typer.Exit(1)


@app.command(epilog="Then: gradegpt eval.rubric score GRADES.JSONL --people people.jsonl")
def grade(
    items: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS.JSONL",
            help="Items with a response; an answer q1#0 to question q1 has the rubric of q1.",
        ),
    ],
    rubrics: Rubrics,
    out: Annotated[
        Path, typer.Option("-o", "--out", dir_okay=False, help="The file for the points.")
    ],
    base_url: BaseUrl,
    model: ModelName,
    max_new_tokens: MaxNewTokens = 2048,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    overwrite: Overwrite = False,
) -> None:
    """Grade every response by its rubric: for each criterion points, a quote and a reason.

    A response gets no points, with the reason, where the reply awards points without a quote from
    the response, above a criterion's maximum, or for a criterion that the rubric does not have.
    """
    started = time.monotonic()
    with asking(
        base_url, model, api_key=api_key, concurrency=concurrency, max_new_tokens=max_new_tokens,
        overwrite=overwrite,
    ) as (engine, options):  # fmt: skip
        made = ask.grade(items, rubrics, out, engine, **options)
    print_asked(made, out, started, max_new_tokens, (input_price, output_price))


@app.command(epilog="First: gradegpt eval.rubric grade ANSWERS.JSONL RUBRICS.JSONL -o GRADES")
def score(
    grades: Annotated[Path, typer.Argument(metavar="GRADES.JSONL", help="The output of grade.")],
    people: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|COLUMN",
            help="People's points: rows with the id of a response, criteria (points by the rubric, "
            "in order), points (on the whole), coverage and spread (of the rubric, 1 to 5); or the "
            "column of meta that holds such an object, or the points alone.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", dir_okay=False, help="Write every number there, as JSON."),
    ] = None,
) -> None:
    """Score graded responses: mean points, agreement with people, and errors by kind (ARB).

    Intervals are over questions. Responses without points are not counted in any score, and listed.
    """
    rows = list(read_rows(grades, GradeRow))
    found = rubric_scores(rows, read_people(people, rows) if people else None)
    print_scores(found)
    if out is not None:
        write_json(out, found.model_dump(mode="json"))
        typer.echo(f"wrote {out}")


if __name__ == "__main__":
    run(app, name="gradegpt eval.rubric")
