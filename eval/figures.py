"""What a protocol reports: figures with their intervals over questions, counts, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import Field

from gradegpt.core.schema import Row
from gradegpt.judges.statistics import (
    DRAWS,
    Interval,
    Values,
    numbered,
    ratio,
    resampled_rows,
    sums,
    varied,
)

from .console import say, show

_COLUMNS: Final = 4
"""The figures of a table beside each other."""
_LEAST: Final = 3
"""The least number of pairs for a correlation, as two always lie on a line."""


class Figure(Row):
    """A number over ``n`` rows, with its 95 % interval over questions.

    None where resampling does not vary a number that is no share, as of one question.
    """

    value: float
    interval: Interval | None = None
    n: int


class Finding(Row):
    """Something to check in a row: its fault with details, and where the row is."""

    id: str
    where: str
    fault: str
    detail: str = ""


class ProtocolSummary(Row):
    """The figures of each group of rows, None where undefined; counts; findings to check."""

    figures: dict[str, dict[str, Figure | None]] = Field(default_factory=dict)
    counts: dict[str, Any] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = Field(default=(), exclude=True)


def mean(values: Iterable[tuple[str, float | None]]) -> Figure | None:
    """The mean of values in [0, 1] over rows of a question that have one, None where none has."""
    some = [(question, value) for question, value in values if value is not None]
    question = numbered(name for name, _ in some)
    share = ratio(sums(question, [value for _, value in some], np.ones(len(some))))
    if share is None:
        return None
    return Figure(value=share.value, interval=share.interval, n=len(some))


def related(
    of: Callable[[Values, Values], float],
    rows: Iterable[tuple[str, float | None, float | None]],
    draws: int = DRAWS,
) -> Figure | None:
    """A correlation, or kappa, of two values of each row of a question.

    None for fewer than three rows with both, or where it is undefined.
    """
    some = [row for row in rows if row[1] is not None and row[2] is not None]
    if len(some) < _LEAST:
        return None
    x, y = (np.array([row[side] for row in some], dtype=np.float64) for side in (1, 2))
    values = resampled_rows(of, numbered(row[0] for row in some), x, y, draws=draws, seed=0)
    if np.isnan(values[0]):
        return None
    return Figure(value=float(values[0]), interval=varied(values) if draws else None, n=len(some))


def show_summary(summary: ProtocolSummary) -> None:
    """Print the counts, the figures of all groups beside each other, and the findings."""
    for name, count in summary.counts.items():
        say(f"{name}: {count:,}" if isinstance(count, int) else f"{name}: {count}")
    sets: dict[tuple[str, ...], list[str]] = {}
    for group, figures in summary.figures.items():
        sets.setdefault(tuple(figures), []).append(group)
    for names, groups in sets.items():
        for start in range(0, len(names), _COLUMNS):
            chosen = names[start : start + _COLUMNS]
            rows = [
                (group, *(_cell(summary.figures[group][n]) for n in chosen)) for group in groups
            ]
            show(("", *chosen), rows)
    show_findings(summary.findings)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    ends = figure.interval
    return f"{figure.value:.3g}" + (f" [{ends.low:.2f}, {ends.high:.2f}]" if ends else "")


def show_findings(findings: Sequence[Finding], most: int = 5) -> None:
    """Print the findings, the most frequent fault first, with at most so many rows of each."""
    cells = []
    for fault, count in Counter(finding.fault for finding in findings).most_common():
        for n, one in enumerate([f for f in findings if f.fault == fault][:most]):
            first = ("", "") if n else (fault, f"{count:,}")
            cells.append((*first, Path(one.where).name, one.id, one.detail[:60]))
    if cells:
        show(("to check", "rows", "where", "id", ""), cells)


def grouped(
    rows: Mapping[str, Mapping[str, Sequence[Any]]],
) -> Iterable[tuple[str, Sequence[Any]]]:
    """The groups of ``judging.tagged`` with their names, ``tag: value``."""
    return ((f"{tag}: {value}", own) for tag, of in rows.items() for value, own in of.items())
