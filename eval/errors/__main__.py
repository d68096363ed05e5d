"""What is wrong with the wrong answers: ``gradegpt eval.errors ITEMS JUDGED``."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.cli import run
from gradegpt.errors import OutputError
from gradegpt.options import Map, columns_of
from gradegpt.records import EXISTS, read_rows, write_json
from gradegpt.schema import Judgement

from ..asking import ApiKey, Asked, Concurrency, MaxNewTokens, Overwrite, asking, print_asked
from ..console import empty_table, terminal
from ..scores import read_items
from .categories import Category
from .classify import Errors, ask_model, by_rules, summed_up, wrong_answers

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

REPLIES: Final = ".replies.jsonl"
_SHOWN: Final = 8


@app.command(epilog="First: gradegpt judge answers.jsonl -o judged.jsonl")
def main(
    items: Annotated[Path, typer.Argument(metavar="FILE", help="The items that were judged.")],
    judgements: Annotated[
        Path, typer.Argument(metavar="JUDGED.JSONL", help="The output of gradegpt judge for them.")
    ],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", dir_okay=False, help="Every error and all counts, as JSON."),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible server, for what the rules cannot classify."),
    ] = None,
    model: Annotated[str, typer.Option(help="The model's name there.")] = "",
    max_new_tokens: MaxNewTokens = 256,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    overwrite: Overwrite = False,
    mapped: Map = None,
) -> None:
    """Classify why answers are wrong, by the error categories of ATLAS, table 6.

    Rules classify other numbers, and by how much they differ; other formulas; missing parts; units;
    opposites. With --base-url a model classifies the rest; what neither can classify is counted as
    unknown.
    """
    if (base_url is None) != (not model):
        raise typer.BadParameter("give --base-url and --model together, or neither")
    replies = out.with_name(out.name + REPLIES)
    if out.exists() and not overwrite and not (base_url and replies.exists()):
        raise OutputError(f"{out}: {EXISTS}")
    judged = list(read_rows(judgements, Judgement))
    wrongs = wrong_answers(read_items(items, columns_of(mapped)), judged)
    errors, unparsed = [by_rules(wrong) for wrong in wrongs], 0
    started, asked = time.monotonic(), None
    if base_url is not None:
        with asking(
            base_url, model, api_key=api_key, concurrency=concurrency,
            max_new_tokens=max_new_tokens, overwrite=overwrite,
        ) as (engine, options):  # fmt: skip
            errors, unparsed, asked = ask_model(
                wrongs, errors, replies, engine, source=judgements, **options
            )
    found = summed_up(judged, errors, unparsed)
    write_json(out, found.model_dump(mode="json"))
    print_errors(found)
    _end(asked, out, replies, started, max_new_tokens)


def _end(asked: Asked | None, out: Path, replies: Path, started: float, limit: int) -> None:
    typer.echo(f"wrote {out}")
    if asked is not None:
        print_asked(asked, replies, started, limit, (0, 0))


def print_errors(found: Errors) -> None:
    """The tables of a command line."""
    console = terminal()
    console.print(
        f"{found.n_rows:,} rows = {found.n_correct:,} correct + {found.n_incorrect:,} incorrect + "
        f"{found.n_invalid:,} without an answer + {found.n_not_judged:,} without a verdict; "
        f"{len(found.errors):,} wrong answers"
    )
    table = empty_table()
    for name in ("category", "wrong", "%", "by rules", "by model", "ATLAS, %"):
        table.add_column(name, justify="left" if name == "category" else "right")
    by = Counter((error.category, error.by) for error in found.errors)
    for category, count in found.categories.items():
        table.add_row(
            category.value, f"{count.n:,}", f"{100 * count.share:.1f}",
            f"{by[category, 'rules']:,}", f"{by[category, 'model']:,}",
            "" if count.atlas is None else f"{count.atlas:.1f}",
        )  # fmt: skip
    console.print(table)
    numbers = [error for error in found.errors if error.category is Category.NUMERICAL]
    details = Counter(e.detail for e in numbers if e.by == "rules" and "%" not in e.detail)
    if details:
        console.print("numbers: " + "; ".join(f"{d} {n:,}" for d, n in details.most_common(_SHOWN)))
    if found.n_unparsed:
        console.print(f"{found.n_unparsed:,} replies of the model named no category")


if __name__ == "__main__":
    run(app, name="gradegpt eval.errors")
