"""Score the steps of responses: ``gradegpt eval.steps ITEMS -o SCORES``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gradegpt.cli import run
from gradegpt.engines.base import Engine
from gradegpt.errors import SettingsError
from gradegpt.records import read_rows, write_json
from gradegpt.steps import StepScores

from ..asking import (
    ApiKey,
    AskOptions,
    Concurrency,
    InputPrice,
    MaxNewTokens,
    OutputPrice,
    Overwrite,
    asking,
    print_asked,
)
from ..judging import progress_bar
from .score import read_items, score_steps, scored_before
from .show import print_summary
from .summary import read_judgements, summarise

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class By(StrEnum):
    """What scores the steps."""

    RULES = "rules"
    MODEL = "model"


@app.command(
    epilog="First: gradegpt eval.answer QUESTIONS -o answers.jsonl --prompt steps …, and gradegpt "
    "judge answers.jsonl -o judged.jsonl; then this with --judgements judged.jsonl"
)
def main(
    items: Annotated[
        Path,
        typer.Argument(
            metavar="ITEMS.JSONL",
            help="Rows with reference, response, and solution or steps, the reference solution.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", dir_okay=False, help="The file for the scores.")
    ],
    by: Annotated[
        By | None,
        typer.Option(
            help="rules: compare the results of steps, leave steps without a result open. model: "
            "ask a model for a score of every step.  [default: model with --base-url, else rules]"
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="The model's OpenAI-compatible server, up to and including /v1."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name there.")] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            metavar="JUDGED.JSONL",
            help="The output of gradegpt judge for ITEMS.JSONL: answers are compared with steps.",
        ),
    ] = None,
    max_new_tokens: MaxNewTokens = 4096,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    overwrite: Overwrite = False,
) -> None:
    """Score each step of each response as right (1) or wrong (0), and find the first error.

    Responses and reference solutions are cut into steps at <STEP1>…</STEP1>, "Step 1:", 第一步, or
    numbered lines, else at paragraphs or lines. SCORES holds a row per item: scores, their mean,
    the first wrong step and its position, from 0 to 1. The printed tables and SCORES.summary.json
    hold the mean process score, also by tag; the positions of errors; with --judgements, the
    correlation of process scores with answers; and the agreement with human labels, where an item
    has them as {"meta": {"step_labels": [1, 1, 0]}}.

    Rules score a step only where its result is shown to be right or wrong. The first wrong step is
    then the first that is shown wrong; an earlier step without a score may also be wrong.

    A stopped run resumes with the same command; finished scores are only summarised.
    """
    rows = read_items(items)
    judged = read_judgements(judgements, rows) if judgements else []
    started = time.monotonic()
    how = {"api_key": api_key, "concurrency": concurrency, "max_new_tokens": max_new_tokens}
    with _scorer(by, base_url, model, overwrite, how) as (engine, options):
        before = not overwrite and scored_before(items, out, engine)
        made = None if before else score_steps(items, rows, out, engine, **options)
    if made is None:
        typer.echo(f"{out}: already scored; only the summary is written")
    elif engine is None:
        typer.echo(f"wrote {out}")
    else:
        print_asked(made, out, started, max_new_tokens, (input_price, output_price))
    summary = summarise(rows, list(read_rows(out, StepScores)), judged)
    written = out.with_name(out.name + ".summary.json")
    write_json(written, summary.model_dump(mode="json"))
    print_summary(summary)
    typer.echo(f"wrote {written}")


@contextmanager
def _scorer(
    by: By | None, base_url: str | None, model: str | None, overwrite: bool, how: dict[str, Any]
) -> Iterator[tuple[Engine | None, AskOptions]]:
    """The engine that scores, None for the rules, and the options to ask with."""
    if by is By.RULES and (base_url or model):
        raise SettingsError("--by rules asks no model; leave --base-url and --model out")
    if by is By.MODEL or base_url or model:
        if not base_url or not model:
            raise SettingsError("a model needs --base-url and --model; give both")
        with asking(base_url, model, overwrite=overwrite, **how) as found:
            yield found
    else:
        with progress_bar("scoring") as advance:
            yield None, {"overwrite": overwrite, "on_progress": advance}


if __name__ == "__main__":
    run(app, name="gradegpt eval.steps")
