"""Changes from grading a log again: old scores against new verdicts, counted by task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

SHOWN: Final = 5
"""The most ids of changed rows that are listed."""


class Rescored(NamedTuple):
    """A row's score by the tool and by the judge: 1 right, 0 wrong, ``None`` neither."""

    id: str
    task: str
    metric: str
    old: float | None
    new: float | None


def was_right(score: float | None) -> bool | None:
    """Whether an old score is right (1), wrong (0, or -1 as in rewards), or neither (None)."""
    return {1.0: True, 0.0: False, -1.0: False}.get(score) if score is not None else None


class TaskChange:
    """The rows of one task; every row is in one of the first four lists.

    ``compared`` rows have an old score of right or wrong and a new verdict; scores are shares of
    these alone. ``up`` were wrong and are now right, ``down`` the reverse.
    """

    def __init__(self, task: str, rows: Sequence[Rescored]) -> None:
        self.task, self.rows = task, rows
        self.no_verdict = [row for row in rows if row.new is None]
        judged = [row for row in rows if row.new is not None]
        self.unscored = [row for row in judged if row.old is None]
        self.compared = [row for row in judged if was_right(row.old) is not None]
        self.graded = [r for r in judged if r.old is not None and was_right(r.old) is None]
        self.up = [r.id for r in self.compared if r.new == 1 and not was_right(r.old)]
        self.down = [r.id for r in self.compared if r.new != 1 and was_right(r.old)]

    @property
    def right(self) -> tuple[int, int]:
        """How many of the compared rows are right by the old scores, and by the new verdicts."""
        before = sum(bool(was_right(row.old)) for row in self.compared)
        return before, before + len(self.up) - len(self.down)

    @property
    def line(self) -> str:
        """The counts in one line."""
        metrics = ", ".join(sorted({row.metric for row in self.rows if row.metric}))
        head = f"{self.task}{f' ({metrics})' if metrics else ''}: {len(self.rows):,} rows"
        if not (n := len(self.compared)):
            return f"{head}, none with an old score and a verdict to compare"
        before, after = (f"{right / n:.3f}" for right in self.right)
        moved = f"{len(self.up):,} now right, {len(self.down):,} now wrong"
        return f"{head}, {n:,} compared: {before} -> {after}; {moved}"


def by_task(rows: Sequence[Rescored]) -> list[TaskChange]:
    """The change of each task, in the order in which the tasks appear."""
    tasks = dict.fromkeys(row.task for row in rows)
    return [TaskChange(task, [row for row in rows if row.task == task]) for task in tasks]


def shown(
    rows: Sequence[Rescored],
    no_verdict: str = "without a verdict",
    unscored: str = "without an old score",
) -> str:
    """A summary of the changes: in total, by task where there are several, and the first ids.

    ``no_verdict`` and ``unscored`` say what the rows lack that are not compared.
    """
    total, tasks = TaskChange("all", rows), by_task(rows)
    lines = [total.line]
    counts = {
        no_verdict: total.no_verdict,
        unscored: total.unscored,
        "whose old score is neither right nor wrong": total.graded,
    }
    if lacking := [f"{len(found):,} {what}" for what, found in counts.items() if found]:
        lines.append(f"not compared: {' + '.join(lacking)}")
    if len(tasks) > 1:
        lines += [task.line for task in tasks]
    for word, ids in (("now right", total.up), ("now wrong", total.down)):
        if ids:
            more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
            lines.append(f"{word}: {', '.join(ids[:SHOWN])}{more}")
    return "\n".join(lines)
