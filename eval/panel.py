"""The vote of an evaluation's judges, and whom to leave out (ATLAS, section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.app.run import CheckedInput
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Row
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.statistics import numbered
from gradegpt.tables.importers.labelled import item_key

from .console import show
from .judging import Judged, Recorded
from .metrics import COLUMNS, JudgeMetrics, graded, measured
from .report.results import JudgedRows

_LEAST: Final = 0.501
"""The least accuracy in a vote, so a judge at or below chance has hardly any weight."""


class Panel(Row):
    """A panel of judges on labelled rows, and the panel without each of them."""

    vote: Vote
    panel: JudgeMetrics
    without: dict[str, JudgeMetrics]


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
        panel=together(runs),
        without={name: together(rest) for name, rest in others.items() if len(rest) > 1},
    )


def print_panel(found: Panel) -> None:
    """Print the panel, and the panel without each judge."""
    names = ("decided", "right of these", "balanced")
    each = {f"panel, {found.vote.value}": found.panel} | {
        f"without {name}": rest for name, rest in found.without.items()
    }
    rows = [
        (name, *(COLUMNS[column].of(scores) for column in names)) for name, scores in each.items()
    ]
    show(("panel", *names), rows)
