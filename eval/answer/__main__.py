"""Ask a model a benchmark's questions: ``gradegpt eval.answer QUESTIONS -o ANSWERS``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradegpt.app import options
from gradegpt.app.cli import run

from ..asking import (
    ApiKey,
    Concurrency,
    InputPrice,
    OutputPrice,
    Request,
    engine_of,
    run_protocol,
)
from .ask import answer_protocol
from .prompts import PromptStyle

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="Then: gradegpt judge answers.jsonl -o judged.jsonl; gradegpt report judged.jsonl"
)
def main(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="A table of any form with question and reference; id, unit, tags, …",
        ),
    ],
    out: Annotated[Path, options.output("The file for the answers.")],
    base_url: Annotated[
        str, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")
    ],
    model: Annotated[str, typer.Option(help="The model's name there.")],
    prompt: Annotated[
        PromptStyle,
        typer.Option(
            help="direct: without instructions. steps: numbered steps. english: reasoning in "
            "English. cross_lingual: the problem in English first. json: a list of answers."
        ),
    ] = PromptStyle.DIRECT,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="[default: 0, or 0.6 for several samples]")
    ] = None,
    progressive: Annotated[
        bool,
        typer.Option(
            "--progressive",
            help="Ask the parts of a problem (rows with the same meta.problem) in order, each "
            "after the model's answers to the earlier ones; only the first part's context is "
            "shown.",
        ),
    ] = False,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="The limit of a reply, in tokens.")
    ] = 2048,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    request: Request = None,
    input_price: InputPrice = 0.0,
    output_price: OutputPrice = 0.0,
    mapped: options.Map = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Ask every question, and write a file that `gradegpt judge` takes.

    Every answer is saved in ANSWERS.replies.jsonl when it comes. A stopped run resumes when the
    same command is given again, and no answer is requested twice. A question that the server
    refuses has no row, and is asked again by the same command.
    """
    chosen = temperature if temperature is not None else 0.6 if samples > 1 else 0.0
    engine = engine_of(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=chosen,
        request=request,
    )  # fmt: skip
    run_protocol(
        answer_protocol(
            questions, out, style=prompt, samples=samples, progressive=progressive,
            columns=options.columns_of(mapped),
        ),
        engine, max_new_tokens=max_new_tokens, concurrency=concurrency,
        prices=(input_price, output_price), overwrite=overwrite,
    )  # fmt: skip


if __name__ == "__main__":
    run(app, name="gradegpt eval.answer")
