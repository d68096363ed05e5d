"""Ask a model a benchmark's questions: ``python -m eval.answer QUESTIONS -o ANSWERS``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from eval.answer.ask import ask
from eval.answer.prompts import Style
from eval.judging import progress_bar
from gradegpt.cli import run
from gradegpt.engines.openai_api import OpenAIEngine
from gradegpt.errors import EngineError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(epilog="Then: gradegpt judge answers.jsonl -o judged.jsonl, and python -m eval.scores")
def main(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS.JSONL", help="Rows with question and reference; id, unit, tags, …"
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file for the answers.")],
    base_url: Annotated[
        str, typer.Option(help="An OpenAI-compatible server, up to and including /v1.")
    ],
    model: Annotated[str, typer.Option(help="The model's name there.")],
    prompt: Annotated[
        Style,
        typer.Option(
            help="direct: as it likes. steps: numbered steps. english: thinking in English. "
            "cross_lingual: the problem said in English first. json: a list of answers."
        ),
    ] = Style.DIRECT,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="[default: 0, or 0.6 for several samples]")
    ] = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Of an answer.")] = 2048,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at a time.")] = 16,
    api_key: Annotated[str | None, typer.Option(help="[default: $OPENAI_API_KEY]")] = None,
    input_price: Annotated[float, typer.Option(min=0, help="Of a million prompt tokens.")] = 0.0,
    output_price: Annotated[float, typer.Option(min=0, help="Of a million tokens written.")] = 0.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the output if it is there.")
    ] = False,
) -> None:
    """Ask every question, and write a file that `gradegpt judge` takes.

    A run that was stopped goes on where it stood when the same command is given again; no answer is
    paid for twice.
    """
    hot = temperature if temperature is not None else 0.6 if samples > 1 else 0.0
    engine = OpenAIEngine(
        base_url, model, api_key=api_key, concurrency=concurrency, temperature=hot
    )
    started = time.monotonic()
    with progress_bar("asking") as advance:
        made = ask(
            questions, out, engine, style=prompt, samples=samples, max_new_tokens=max_new_tokens,
            at_once=4 * concurrency, overwrite=overwrite, on_progress=advance,
        )  # fmt: skip
    cost = (made.prompt_tokens * input_price + made.completion_tokens * output_price) / 1e6
    earlier = f" ({made.rows_before:,} from an earlier run)" if made.rows_before else ""
    typer.echo(
        f"{made.rows:,} answers{earlier}, {made.cut_off:,} of them cut off at {max_new_tokens:,} "
        f"tokens\n{made.prompt_tokens:,} tokens read, {made.completion_tokens:,} written in "
        f"{time.monotonic() - started:.0f} s" + (f", {cost:.2f} at your prices" if cost else "")
    )
    typer.echo(f"wrote {out}")
    if made.failed:
        again = "run the same command again to ask them once more"
        raise EngineError(
            f"{made.failed:,} questions were not answered, the first with: {made.failure}; {again}"
        )


if __name__ == "__main__":
    run(app, name="python -m eval.answer")
