"""Print scores on the terminal, in tables of at most 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape

from ..console import empty_table, percent, terminal
from ..shares import Share
from . import Samples, Score, Scores
from .rates import NoAnswer

_NO_ANSWER: Final = {
    NoAnswer.TRUNCATED: "cut off, %", NoAnswer.REFUSAL: "refusal, %",
    NoAnswer.JSON_ERROR: "JSON error, %", NoAnswer.UNPARSABLE: "unparsable, %",
}  # fmt: skip


def print_scores(found: Scores) -> None:
    """Print the tables of a command line."""
    console = terminal()
    rows = [("all", found.overall)]
    rows += [(f"{t}: {v}", score) for t, vs in found.tags.items() for v, score in vs.items()]
    scored = ("rows", "questions", "accuracy, %", "of answers, %", "consensus, %")
    _print_table(console, scored, rows, _cells)
    _print_table(console, (*_NO_ANSWER.values(), "no verdict, %"), rows, _rates)
    if found.overall.credit is not None:
        console.print(f"credit by parts, %: {_shown(found.overall.credit)}")
    if found.overall.samples:
        _print_samples(console, found.overall.samples)
    for tag, levels_of in found.ssr.items():
        shares = "  ".join(f"@{alpha}: {percent(share)}" for alpha, share in levels_of.items())
        console.print(f"SSR of {escape(tag)}, %  {shares}")


def _print_samples(console: Console, samples: Sequence[Samples]) -> None:
    """Print a row for every k, in percent, with the n questions that have k answers."""
    table = empty_table()
    levels = [f"G-Pass {least}" for least in samples[0].g_pass]
    for name in ("k", "n", "pass@k", *levels, "mG-Pass"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in samples:
        shares = (one.pass_at_k, *one.g_pass.values(), one.mg_pass)
        table.add_row(f"{one.k}", f"{one.pass_at_k.n_questions:,}", *map(_shown, shares))
    console.print(table)


def _print_table(
    console: Console,
    names: Sequence[str],
    rows: Sequence[tuple[str, Score]],
    cells: Callable[[Score], list[str]],
) -> None:
    table = empty_table()
    table.add_column("", max_width=24, overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for name, score in rows:
        table.add_row(escape(name), *cells(score))
    console.print(table)


def _cells(score: Score) -> list[str]:
    shares = (score.accuracy, score.accuracy_of_answers, score.consensus)
    return [f"{score.n_rows:,}", f"{score.n_questions:,}", *map(_shown, shares)]


def _rates(score: Score) -> list[str]:
    """The percent of the rows, with their number."""
    counts = [getattr(score.rates, kind).n for kind in _NO_ANSWER]
    counts.append(sum(score.not_judged.values()))
    return [f"{100 * n / score.n_rows:.2f} ({n:,})" if n else "–" for n in counts]


def _shown(share: Share | None) -> str:
    if share is None:
        return "–"
    low, high = (round(100 * end) for end in (share.interval.low, share.interval.high))
    return escape(f"{100 * share.value:.1f} [{low},{high}]")
