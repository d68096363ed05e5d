"""Changes from grading a log again: old scores against new verdicts, counted by task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

SHOWN: Final = 5
"""The most ids of changed rows that are listed."""


class Scored(NamedTuple):
    """A row's score by the tool and by the judge: 1 right, 0 wrong, ``None`` neither."""

    id: str
    task: str
    metric: str
    old: float | None
    new: float | None


class Change(NamedTuple):
    """The counts of one task; ``n_rows`` is the sum of the four kinds of rows.

    ``n_compared`` rows have an old score of right or wrong and a new verdict; scores are shares of
    these alone. ``up`` are the ids of rows that were wrong and are now right, ``down`` the reverse.
    """

    task: str
    metric: str
    n_rows: int
    n_compared: int
    n_unscored: int
    n_graded: int
    n_no_verdict: int
    n_right_before: int
    up: tuple[str, ...]
    down: tuple[str, ...]

    @property
    def n_right_after(self) -> int:
        """How many of the compared rows are right by the new verdicts."""
        return self.n_right_before + len(self.up) - len(self.down)


def was_right(score: float | None) -> bool | None:
    """Whether an old score is right (1), wrong (0, or -1 as in rewards), or neither (None)."""
    return {1.0: True, 0.0: False, -1.0: False}.get(score) if score is not None else None


def changed(task: str, rows: Sequence[Scored]) -> Change:
    """Compare the scores of some rows.

    >>> rows = [Scored("a", "sums", "acc", 0, 1), Scored("b", "sums", "acc", 1, 1)]
    >>> change = changed("sums", rows)
    >>> change.n_right_before, change.n_right_after, change.up
    (1, 2, ('a',))
    """
    judged = [row for row in rows if row.new is not None]
    pairs = [(r, was_right(r.old), r.new == 1) for r in judged if was_right(r.old) is not None]
    unscored = sum(row.old is None for row in judged)
    return Change(
        task=task,
        metric=", ".join(sorted({row.metric for row in rows if row.metric})),
        n_rows=len(rows),
        n_compared=len(pairs),
        n_unscored=unscored,
        n_graded=len(judged) - len(pairs) - unscored,
        n_no_verdict=len(rows) - len(judged),
        n_right_before=sum(before is True for _, before, _ in pairs),
        up=tuple(row.id for row, before, after in pairs if after and not before),
        down=tuple(row.id for row, before, after in pairs if before and not after),
    )


def by_task(rows: Iterable[Scored]) -> list[Change]:
    """The change of each task, in the order in which the tasks appear."""
    tasks: dict[str, list[Scored]] = {}
    for row in rows:
        tasks.setdefault(row.task, []).append(row)
    return [changed(task, scored) for task, scored in tasks.items()]


def shown(
    rows: Sequence[Scored],
    no_verdict: str = "without a verdict",
    unscored: str = "without an old score",
) -> str:
    """A summary of the changes: in total, by task where there are several, and the first ids.

    ``no_verdict`` and ``unscored`` say what the rows lack that are not compared.
    """
    total, tasks = changed("all", rows), by_task(rows)
    lines = [_line(total)]
    counts = {
        no_verdict: total.n_no_verdict,
        unscored: total.n_unscored,
        "whose old score is neither right nor wrong": total.n_graded,
    }
    if total.n_rows > total.n_compared:
        lacking = " + ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        lines.append(f"not compared: {lacking}")
    if len(tasks) > 1:
        lines += [_line(task) for task in tasks]
    for word, ids in (("now right", total.up), ("now wrong", total.down)):
        if ids:
            more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
            lines.append(f"{word}: {', '.join(ids[:SHOWN])}{more}")
    return "\n".join(lines)


def _line(change: Change) -> str:
    metric = f" ({change.metric})" if change.metric else ""
    head = f"{change.task}{metric}: {change.n_rows:,} rows"
    if not change.n_compared:
        return f"{head}, none with an old score and a verdict to compare"
    before, after = (
        f"{right / change.n_compared:.3f}"
        for right in (change.n_right_before, change.n_right_after)
    )
    moved = f"{len(change.up):,} now right, {len(change.down):,} now wrong"
    return f"{head}, {change.n_compared:,} compared: {before} -> {after}; {moved}"
