"""The tables of step scores on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..console import decimal, empty_table, percent, terminal
from ..shares import Share
from .summary import BINS, Group, Summary

_BAR: Final = 40


def print_summary(summary: Summary) -> None:
    """Print every figure of a summary; a dash marks an undefined figure."""
    console = terminal()
    groups = [("all", summary.overall)] + [
        (escape(f"{tag}: {value}"), group)
        for tag, values in summary.tags.items()
        for value, group in values.items()
    ]
    console.print(_processes(groups))
    if summary.overall.accuracy is not None:
        console.print(_answers(groups))
    for tag, one in summary.between.items():
        if one.pearson is not None:
            words = f"Pearson {one.pearson:.2f}, Spearman {one.spearman:.2f}"
            console.print(f"the means of the {one.n} values of {tag}: {words}", markup=False)
    _print_errors(summary, console)
    if (human := summary.human) is not None:
        kappa = decimal(human.kappa)
        console.print(
            f"people and scores agree on {percent(human.accuracy)} % of {human.n_scored:,} steps "
            f"(kappa {kappa}); {human.n_steps - human.n_scored:,} labelled steps have no score"
        )
    for reason, count in summary.not_scored.items():
        console.print(f"no process score: {count:,} rows, {reason}", markup=False)


def _processes(groups: Sequence[tuple[str, Group]]) -> Table:
    found = _table("rows", "scored", "steps scored", "process score")
    for name, group in groups:
        counts = (f"{group.n_rows:,}", f"{group.n_scored:,}", percent(group.steps_scored))
        found.add_row(name, *counts, _share(group.process))
    return found


def _answers(groups: Sequence[tuple[str, Group]]) -> Table:
    found = _table("answers right", "right", "wrong", "Pearson", "Spearman")
    found.caption = "process score where the answer is right, where it is wrong, and correlations"
    for name, group in groups:
        both = (group.process_if_right, group.process_if_wrong)
        found.add_row(
            name, _share(group.accuracy),
            *(percent(None if share is None else share.value) for share in both),
            *(decimal(n) for n in (group.correlation.pearson, group.correlation.spearman)),
        )  # fmt: skip
    return found


def _table(*names: str) -> Table:
    found = empty_table()
    found.add_column("", no_wrap=True)
    for name in names:
        found.add_column(name, justify="right", no_wrap=True)
    return found


def _print_errors(summary: Summary, console: Console) -> None:
    errors = summary.errors
    if not sum(errors.every):
        console.print("no step scores 0")
        return
    console.print(
        f"{sum(errors.first):,} responses have a wrong step; in {errors.first_after_open:,} of "
        "them a step before it has no score, and may be the first error\n"
        f"{percent(errors.share_after_middle)} % of {sum(errors.every):,} wrong steps are after "
        "the middle\n\nwhere the first wrong step is, from the beginning (0) to the end (1)"
    )
    for n, count in enumerate(errors.first):
        bar = "█" * round(_BAR * count / max(errors.first))
        console.print(f"  {n / BINS:.1f}–{(n + 1) / BINS:.1f} {bar} {count:,}", highlight=False)
    console.print()


def _share(share: Share | None) -> str:
    if share is None:
        return "–"
    ends = (100 * share.interval.low, 100 * share.interval.high)
    return f"{100 * share.value:.1f} ({ends[0]:.1f}–{ends[1]:.1f})"
