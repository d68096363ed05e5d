"""The vote of an evaluation's judges, and whom to leave out (ATLAS, section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.app.run import CheckedInput
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Row
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.statistics import numbered, says_yes
from gradegpt.tables.importers.labelled import item_key

from .console import percent, say, show
from .judging import Judged, Recorded
from .metrics import JudgeMetrics, graded, measured
from .report.results import JudgedRows

_LEAST: Final = 0.501
"""The least accuracy in a vote, so a judge at or below chance has hardly any weight."""


class Panel(Row):
    """A panel of judges on labelled rows, and the panel without each of them.

    ``n_differ`` rows have different verdicts, two-way, by two of the judges.
    """

    vote: Vote
    n_differ: int
    panel: JudgeMetrics
    without: dict[str, JudgeMetrics]

    @property
    def better_without(self) -> str | None:
        """The judge without which the panel is best, if it is better than with all judges.

        Better: it decides as many rows, is right on as large a share, and exceeds one of both.
        """
        whole = _rightness(self.panel)
        rated = {name: _rightness(metrics) for name, metrics in self.without.items()}
        better = {
            name: one for name, one in rated.items()
            if one != whole and one[0] >= whole[0] and one[1] >= whole[1]
        }  # fmt: skip
        return max(better, key=lambda name: better[name], default=None)


def _rightness(metrics: JudgeMetrics) -> tuple[float, float]:
    """The share right of what is decided, and the share decided."""
    return metrics.accuracy or 0.0, metrics.coverage or 0.0


def panel_of(results: JudgedRows, runs: Sequence[Judged], items: CheckedInput, vote: Vote) -> Panel:
    """The panel of all judges; weights are their accuracies on these rows."""
    rows = list(read_rows(items.path, Item))
    question = numbered(map(item_key, results.items))

    def measured_on(judgements: Sequence[Judgement]) -> JudgeMetrics:
        one = graded(question, results.labels, judgements)
        return measured(one, bootstrap=results.bootstrap, seed=results.seed)

    shares = {run.name: max(_LEAST, measured_on(run.judgements).accuracy or 0.0) for run in runs}

    def together(members: Sequence[Judged]) -> JudgeMetrics:
        judges = [Recorded(run, items) for run in members]
        accuracies = [shares[run.name] for run in members]
        return measured_on(PanelJudge(judges, vote, accuracies).judge(rows))

    others = {run.name: [one for one in runs if one is not run] for run in runs}
    return Panel(
        vote=vote,
        n_differ=_differing(runs),
        panel=together(runs),
        without={name: together(rest) for name, rest in others.items() if len(rest) > 1},
    )


def _differing(runs: Sequence[Judged]) -> int:
    votes = zip(*(run.judgements for run in runs), strict=True)
    return sum(len({says_yes(j.verdict) for j in row if j.verdict}) > 1 for row in votes)


def print_panel(found: Panel) -> None:
    """Print the panel, and the panel without each judge."""
    rows = [(f"panel, {found.vote.value}", *_cells(found.panel))]
    rows += [(f"without {name}", *_cells(rest)) for name, rest in found.without.items()]
    show(("panel", "decided", "right", "balanced"), rows)
    say(f"judges differ on {found.n_differ:,} of {found.panel.n_items:,} rows")
    if worst := found.better_without:
        say(f"leave out {worst}: the panel decides and is right no less without it")


def _cells(metrics: JudgeMetrics) -> list[str]:
    return [percent(m) for m in (metrics.coverage, metrics.accuracy, metrics.balanced_accuracy)]
