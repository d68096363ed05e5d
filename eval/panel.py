"""The vote of an evaluation's judges, and whom to leave out (ATLAS, section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence

from gradegpt.app.run import CheckedInput
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Item, Judgement, Row
from gradegpt.judges.panel import PanelJudge
from gradegpt.judges.statistics import numbered
from gradegpt.tables.importers.labelled import item_key

from .console import show
from .judging import Judged, Recorded
from .metrics import COLUMNS, JudgeMetrics, graded, measured
from .report.results import JudgedRows


class Panel(Row):
    """A panel of judges on labelled rows, and the panel without each of them."""

    panel: JudgeMetrics
    without: dict[str, JudgeMetrics]


def panel_of(results: JudgedRows, runs: Sequence[Judged], items: CheckedInput) -> Panel:
    """The panel of all judges."""
    rows = list(read_rows(items.path, Item))
    question = numbered(map(item_key, results.items))

    def measured_on(judgements: Sequence[Judgement]) -> JudgeMetrics:
        one = graded(question, results.labels, judgements)
        return measured(one, bootstrap=results.bootstrap, seed=results.seed)

    def together(members: Sequence[Judged]) -> JudgeMetrics:
        return measured_on(PanelJudge([Recorded(run, items) for run in members]).judge(rows))

    others = {run.name: [one for one in runs if one is not run] for run in runs}
    return Panel(
        panel=together(runs),
        without={name: together(rest) for name, rest in others.items() if len(rest) > 1},
    )


def print_panel(found: Panel) -> None:
    """Print the panel, and the panel without each judge."""
    names = ("decided", "right of these", "balanced")
    each = {"panel": found.panel} | {
        f"without {name}": rest for name, rest in found.without.items()
    }
    rows = [
        (name, *(COLUMNS[column].of(scores) for column in names)) for name, scores in each.items()
    ]
    show(("panel", *names), rows)
