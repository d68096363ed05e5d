"""Measure a benchmark's leakage: ``gradegpt eval.leakage ITEMS.jsonl -o OUT.json --model M``.

N-gram prediction accuracy (Xu et al. 2024, arXiv 2404.18824; OlympicArena, appendix E).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from gradegpt.cli import run
from gradegpt.errors import EngineError, InputError
from gradegpt.ngrams import Contamination
from gradegpt.records import read_objects, write_json

from ..answer.ask import read_questions
from ..asking import ApiKey, Concurrency
from ..console import empty_table, terminal
from ..judging import progress_bar
from ..shares import Share
from .grams import Kind, parts_of
from .measure import Measured, measure
from .models import Completions
from .report import Leakage, Report, report_of, right_by_item

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(
    epilog="For --judgements: gradegpt eval.answer ITEMS.jsonl -o answers.jsonl, then gradegpt "
    "judge answers.jsonl -o judged.jsonl. The report lists the ids that are leaked."
)
def main(
    items: Annotated[
        Path,
        typer.Argument(
            metavar="ITEMS.JSONL", help="Rows with question and reference; solution or steps, tags."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            dir_okay=False,
            help="The report; each item's n-grams go to OUT.items.jsonl.",
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            help="A folder or hub name, best of a base model: a chat model reproduces less of "
            "its training texts. With --base-url: the model's name on that server."
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            help="A server with /completions, up to and including /v1. N-grams are then of words, "
            "which is harder than tokens: compare such figures only with each other."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Starting points in each item.")] = 5,
    n: Annotated[int, typer.Option("-n", min=1, help="Tokens to predict at each.")] = 5,
    judgements: Annotated[
        Path | None,
        typer.Option(help="The judgements of the model's answers: are leaked items solved?"),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="A JSONL file of the model's training texts: does it overlap? Repeatable."
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows a forward pass.")] = 32,
    concurrency: Concurrency = 16,
    api_key: ApiKey = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Ask again and replace an existing output.")
    ] = False,
) -> None:
    """Let a model continue a benchmark's questions and solutions, five tokens at five positions.

    An n-gram counts as predicted exactly, or when its edit distance or its ROUGE-L similarity
    is above 75 %. An item with all of them predicted is leaked. A stopped run resumes.
    """
    by_item = out.with_name(f"{out.stem}.items.jsonl")
    questions = [item for item, _ in read_questions(items)]
    ids = {item.id for item in questions}
    right = right_by_item(judgements, ids) if judgements else None
    overlapping = None
    if corpus:
        held = _held(corpus)
        overlapping = {i.id for i in questions if any(map(held.hit, parts_of(i)))}
    engine = _engine(model, base_url, batch_size, concurrency, api_key)
    with progress_bar("predicting") as advance:
        rows = measure(items, by_item, engine, k=k, n=n, overwrite=overwrite, on_progress=advance)
    found = report_of(rows, model=engine.name, k=k, n=n, right=right, overlapping=overlapping)
    write_json(out, found.model_dump(mode="json"))
    print_report(found)
    typer.echo(f"wrote {out} and {by_item}")
    _raise_if_failed(rows)


def _engine(
    model: str, base_url: str | None, batch_size: int, concurrency: int, api_key: str | None
) -> Any:
    if base_url:
        return Completions(base_url, model, api_key=api_key, concurrency=concurrency)
    from gradegpt.engines.local import LocalEngine

    return LocalEngine(model, batch_size=batch_size, constrained=False)


def _held(paths: Sequence[Path]) -> Contamination:
    """The n-grams of every text in some files.

    Raises:
        InputError: the files hold no text.

    """
    held = Contamination()
    for path in paths:
        for _, row in read_objects(path):
            for text in _texts(row):
                held.add(text)
    if not len(held):
        raise InputError(
            f"{paths[0]}: holds no text of {held.n} words; give the model's training texts"
        )
    return held


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, such as a row's messages."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for inner in value.values() for text in _texts(inner))
        case list():
            yield from (text for inner in value for text in _texts(inner))
        case _:
            return


def _raise_if_failed(rows: Sequence[Measured]) -> None:
    failed = [row for row in rows if row.error]
    if failed:
        raise EngineError(
            f"{len(failed):,} items were not measured, the first, {failed[0].id!r}, with: "
            f"{failed[0].error}; run the same command again to ask only these"
        )


def print_report(found: Report) -> None:
    """The tables of a command line."""
    console, whole = terminal(), found.overall
    console.print(
        f"{whole.n_items:,} items = {whole.n_measured:,} measured + {whole.n_too_short:,} too "
        f"short + {whole.n_failed:,} failed; {found.k} n-grams of {found.n} in each"
    )
    table = empty_table()
    for name in ("", "items", "exact", "edit distance", "ROUGE-L", "leaked"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("all", *_cells(whole, whole.accuracy), f"{whole.n_leaked['any']:,}")
    for part, accuracy in whole.parts.items():
        table.add_row(f"in the {part.value}", *_cells(whole, accuracy), "")
    for tag, values in found.tags.items():
        for value, one in values.items():
            cells = _cells(one, one.accuracy)
            table.add_row(escape(f"{tag}: {value}"), *cells, f"{one.n_leaked['any']:,}")
    console.print(table)
    leaked = ", ".join(f"{whole.n_leaked[kind.value]:,} by {kind.value}" for kind in Kind)
    console.print(f"leaked, all n-grams predicted: {whole.n_leaked['any']:,} ({leaked})")
    if (solved := whole.solved) is not None:
        console.print(
            f"of {solved.n_judged:,} leaked items with a verdict {solved.solved:g} are solved: "
            f"accuracy {_shown(solved.accuracy)}, of the others {_shown(solved.accuracy_of_others)}"
        )
    if (overlap := whole.overlap) is not None:
        console.print(
            f"{overlap.n_items:,} items share an n-gram with the corpus, {overlap.n_leaked:,} of "
            f"them leaked: exact {_shown(overlap.accuracy[Kind.EXACT])}, "
            f"of the others {_shown(overlap.accuracy_of_others[Kind.EXACT])}"
        )


def _cells(one: Leakage, accuracy: dict[Kind, Share | None]) -> list[str]:
    return [f"{one.n_measured:,}", *(_shown(accuracy[kind]) for kind in Kind)]


def _shown(share: Share | None) -> str:
    if share is None:
        return "–"
    ends = (100 * share.interval.low, 100 * share.interval.high)
    return f"{100 * share.value:.1f} ({ends[0]:.1f} to {ends[1]:.1f})"


if __name__ == "__main__":
    run(app, name="gradegpt eval.leakage")
