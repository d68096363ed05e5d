"""Scores on the terminal, in tables that fit 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from eval.scores import Score, Scores, Share
from eval.scores.rates import NoAnswer

_NO_ANSWER: Final = {
    NoAnswer.TRUNCATED: "cut off, %", NoAnswer.REFUSAL: "refusal, %",
    NoAnswer.JSON_ERROR: "JSON error, %", NoAnswer.UNPARSABLE: "unparsable, %",
}  # fmt: skip


def print_scores(found: Scores) -> None:
    """The tables of a command line."""
    console = Console()
    rows = [("all", found.overall)]
    rows += [(f"{t}: {v}", score) for t, vs in found.tags.items() for v, score in vs.items()]
    _print_table(
        console, ("rows", "questions", "accuracy", "of answers", "consensus"), rows, _cells
    )
    _print_table(console, (*_NO_ANSWER.values(), "no verdict, %"), rows, _rates)
    if found.overall.credit is not None:
        console.print(f"credit by parts  {_shown(found.overall.credit)}")
    for one in found.overall.samples:
        levels = "  ".join(f"{least}: {_shown(share)}" for least, share in one.g_pass.items())
        console.print(f"k = {one.k}, {one.pass_at_k.n_questions:,} questions")
        console.print(f"  pass@k {_shown(one.pass_at_k)}  mG-Pass@k {_shown(one.mg_pass)}")
        console.print(f"  G-Pass@k by threshold  {levels}")
    for tag, levels_of in found.ssr.items():
        shares = "  ".join(f"@{alpha}: {100 * share:.1f}" for alpha, share in levels_of.items())
        console.print(f"SSR of {escape(tag)}  {shares}")


def _print_table(
    console: Console,
    names: Sequence[str],
    rows: Sequence[tuple[str, Score]],
    cells: Callable[[Score], list[str]],
) -> None:
    table = Table("", box=box.SIMPLE_HEAD)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for name, score in rows:
        table.add_row(escape(name), *cells(score))
    console.print(table)


def _cells(score: Score) -> list[str]:
    shares = (score.accuracy, score.accuracy_of_answers, score.consensus)
    return [f"{score.n_rows:,}", f"{score.n_questions:,}", *map(_shown, shares)]


def _rates(score: Score) -> list[str]:
    """Percent of the rows, and how many these are."""
    counts = [getattr(score.rates, kind).n for kind in _NO_ANSWER]
    counts.append(sum(score.not_judged.values()))
    return [f"{100 * n / score.n_rows:.2f} ({n:,})" if n else "–" for n in counts]


def _shown(share: Share | None) -> str:
    if share is None:
        return "–"
    ends = (100 * share.interval.low, 100 * share.interval.high)
    return f"{100 * share.value:.1f} ({ends[0]:.1f} to {ends[1]:.1f})"
