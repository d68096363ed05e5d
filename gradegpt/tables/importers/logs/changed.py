"""Changes from grading a log again: old scores against new verdicts, counted by task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

SHOWN: Final = 5
"""The most ids of changed rows that are listed."""
_CHANGES: Final = {1: "became right", 0: "same", -1: "became wrong"}


class Rescored(NamedTuple):
    """A row's score by the tool and by the judge: 1 right, 0 wrong, ``None`` neither.

    ``unscored`` is why the tool gave none, where that is known.
    """

    id: str
    task: str
    metric: str
    old: float | None
    new: float | None
    unscored: str = ""

    @property
    def is_compared(self) -> bool:
        """Whether it has an old score of right or wrong and a new verdict."""
        return self.new is not None and was_right(self.old) is not None

    @property
    def change(self) -> int:
        """1 where it was wrong and is now right, -1 for the reverse, else 0."""
        return int(self.new == 1) - int(was_right(self.old) or False) if self.is_compared else 0

    @property
    def change_in_words(self) -> str | None:
        """The change, or None where the row is not compared."""
        return _CHANGES[self.change] if self.is_compared else None


def was_right(score: float | None) -> bool | None:
    """Whether an old score is right (1), wrong (0, or -1 as in rewards), or neither (None)."""
    return {1.0: True, 0.0: False, -1.0: False}.get(score) if score is not None else None


def shown(rows: Sequence[Rescored], file: str = "") -> str:
    """A summary of the changes: in total, by task where there are several, and the first ids.

    ``file`` has them all.
    """
    without = [row for row in rows if row.new is not None and row.old is None]
    reasons = "; ".join(Counter(row.unscored for row in without if row.unscored))
    lacking = {
        "without a verdict": sum(row.new is None for row in rows),
        f"without an old score{f' ({reasons})' if reasons else ''}": len(without),
    }
    graded = len(rows) - sum(row.is_compared for row in rows) - sum(lacking.values())
    lacking["whose old score is neither right nor wrong"] = graded
    told = [f"{n:,} {what}" for what, n in lacking.items() if n]
    lines = [_line("all", rows), *([f"not compared: {' + '.join(told)}"] if told else [])]
    tasks = list(dict.fromkeys(row.task for row in rows))
    if len(tasks) > 1:
        lines += [_line(task, [row for row in rows if row.task == task]) for task in tasks]
    for change in (1, -1):
        if ids := [row.id for row in rows if row.change == change]:
            in_file = f"; all with change = {_CHANGES[change]!r} in {file}" if file else ""
            more = f" and {len(ids) - SHOWN:,} more{in_file}" if len(ids) > SHOWN else ""
            lines.append(f"{_CHANGES[change]}: {', '.join(ids[:SHOWN])}{more}")
    return "\n".join(lines)


def _line(name: str, rows: Sequence[Rescored]) -> str:
    metrics = ", ".join(sorted({row.metric for row in rows if row.metric}))
    head = f"{name}{f' ({metrics})' if metrics else ''}: {len(rows):,} rows"
    compared = [row for row in rows if row.is_compared]
    if not compared:
        return f"{head}, none with an old score and a verdict to compare"
    changes = [row.change for row in compared]
    before = sum(bool(was_right(row.old)) for row in compared)
    old, new = (f"{100 * right / len(compared):.1f}" for right in (before, before + sum(changes)))
    on = "all" if len(compared) == len(rows) else f"the {len(compared):,} judged on both sides"
    moved = f"{changes.count(1):,} became right, {changes.count(-1):,} became wrong"
    scored = [right for row in rows if (right := was_right(row.old)) is not None]
    every = f"; old score of all {len(scored):,}: {100 * sum(scored) / len(scored):.1f} %"
    more = every if len(scored) > len(compared) else ""
    return f"{head}; correct, on {on}: {old} -> {new} %; {moved}{more}"
