"""Print the report on the terminal: a table per view, a row per group and judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .console import decimal, empty_table, percent, terminal
from .metrics import Interval, Metrics, Pair
from .reliability import Calibration
from .report.answers import AnswersReport
from .report.labelled import VIEWS, JudgeReport, Report
from .scores.tables import print_scores

_COLUMNS: Final = (
    "rows", "decided", "right [95 %]", "balanced", "kappa", "majority", "Acc_outcome"
)  # fmt: skip


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the views, the scores that chance has too, the confidences and the pairs of judges."""
    console = console or terminal()
    console.print(_table("overall", {"all": {j.name: j.overall for j in report.judges}}))
    for view in VIEWS:
        metrics = {
            group: {judge.name: judge.views[view][group] for judge in report.judges}
            for group in report.judges[0].views[view]
        }
        console.print(_table(f"by {view}", metrics))
    console.print(_chance(report.judges))
    console.print(_confidence(report.judges))
    if report.pairs:
        console.print(_pairs(report.pairs))
        console.print("balanced accuracy over all rows, where no verdict counts as wrong:")
        for pair in report.pairs:
            line = f"  {pair.a}, {pair.b}: {pair.in_words}"
            console.print(line, highlight=False, markup=False)


def print_answers(report: AnswersReport) -> None:
    """Print the scores of the answers by each judge, and the agreement of the judges."""
    for name, found in report.scores.items():
        terminal().print(f"by the judge {name}:", highlight=False)
        print_scores(found)
    if report.pairs:
        terminal().print(_pairs(report.pairs))


def _table(title: str, groups: Mapping[str, Mapping[str, Metrics]]) -> Table:
    table = empty_table(title)
    table.add_column("", max_width=20, overflow="fold")
    table.add_column("judge", max_width=12, overflow="fold")
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for group, judges in groups.items():
        for place, (judge, metrics) in enumerate(judges.items()):
            table.add_row(
                escape(group) if place == 0 else "",
                escape(judge),
                *_cells(metrics),
                end_section=1 < len(judges) == place + 1,
            )
    return table


def _cells(metrics: Metrics) -> Iterator[str]:
    yield f"{metrics.n_items:,}"
    yield percent(metrics.coverage)
    yield escape(percent(metrics.accuracy) + _limits(metrics.intervals.get("accuracy")))
    yield percent(metrics.balanced_accuracy)
    yield decimal(metrics.kappa)
    yield percent(metrics.majority)
    yield "–" if metrics.acc_outcome is None else f"{metrics.acc_outcome:.1f}"


def _limits(interval: Interval | None) -> str:
    """An interval in whole percents, which leave room for the names."""
    return f" [{100 * interval.low:.0f}, {100 * interval.high:.0f}]" if interval else ""


def _chance(judges: Sequence[JudgeReport]) -> Table:
    """The scores that are the same for every judge by chance, with their intervals."""
    table = empty_table("beside chance, which has balanced accuracy 50.0 and AUC 0.50")
    table.add_column("judge", max_width=16, overflow="fold")
    for name in ("balanced, no verdict counts as wrong [95 %]", "AUC [95 %]"):
        table.add_column(name, justify="right", no_wrap=True)
    for judge in judges:
        scores, ends = judge.overall, judge.overall.intervals.get("auc")
        auc = decimal(scores.auc) + (f" [{ends.low:.2f}, {ends.high:.2f}]" if ends else "")
        limits = _limits(scores.intervals.get("balanced_accuracy_all"))
        balanced = percent(scores.balanced_accuracy_all) + limits
        table.add_row(escape(judge.name), escape(balanced), escape(auc))
    return table


def _confidence(judges: Sequence[JudgeReport]) -> Table:
    """The calibration of each judge by method, and the area under its risk-coverage curve."""
    table = empty_table("confidence")
    for name in ("judge", "method"):
        table.add_column(name, max_width=16, overflow="fold")
    for name in ("rows", "calibration error [95 %]", "ECE (by chance)", "Brier", "AURC"):
        table.add_column(name, justify="right", no_wrap=True)
    for judge in judges:
        methods = list(judge.calibration)[-1:] if len(judge.calibration) == 2 else judge.calibration
        area = percent(judge.risk_coverage.aurc if judge.risk_coverage else None)
        for place, method in enumerate(methods):
            name, last = ("", "") if place else (escape(judge.name), area)
            table.add_row(name, escape(method), *_calibration(judge.calibration[method]), last)
    return table


def _calibration(found: Calibration | None) -> tuple[str, str, str, str]:
    if found is None:
        return "", "not calibrated", "", ""
    error = escape(percent(found.error) + _limits(found.interval))
    ece = f"{percent(found.ece)} ({percent(found.ece_by_chance)})"
    return f"{found.n_rows:,}", error, ece, f"{found.brier:.3f}"


def _pairs(pairs: Sequence[Pair]) -> Table:
    table = empty_table("pairs of judges, on the rows that both judged")
    for name in ("a", "b"):
        table.add_column(name, max_width=20, overflow="fold")
    labelled = ("a right", "b right") if pairs[0].a_right is not None else ()
    for name in ("rows", "agree", "kappa", "differ", *labelled):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in pairs:
        counts = (f"{n:,}" for n in (pair.n_differ, pair.a_right, pair.b_right) if n is not None)
        table.add_row(
            escape(pair.a), escape(pair.b), f"{pair.n_both:,}",
            percent(pair.agreement), decimal(pair.kappa), *counts,
        )  # fmt: skip
    return table
