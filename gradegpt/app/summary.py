"""The end of a run in words: counts that add up, the score with its bounds, and what would help."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.app.run import Counts, Summary
from gradegpt.core.schema import Outcome
from gradegpt.core.shipped import judges
from gradegpt.judges.settings import EngineSettings, JudgeSettings

_Z: Final = 1.959964
"""The quantile of the normal distribution for an interval of 95 %."""
_KINDS: Final = 4
_LABELS: Final = 60
"""Labels that give a useful interval; see ``benchmarks/intervals.py``."""
_MANY_INVALID: Final = 0.1


class Undecided(NamedTuple):
    """Undecided rows by the type of their answer, and how many of them have a withheld verdict."""

    kinds: Counter[str]
    withheld: int

    @classmethod
    def of(cls, judgements: Iterable[Mapping[str, Any]]) -> Undecided:
        """Count those among judgements, given as their fields."""
        left = [row for row in judgements if row["outcome"] == Outcome.UNDECIDED]
        kinds = Counter(str(row["answer_type"] or "unknown type") for row in left)
        return cls(kinds, sum(row["withheld"] is not None for row in left))


def summed_up(summary: Summary, left: Undecided | None = None) -> str:
    """The summary of a run in a few lines; the numbers in each line add up."""
    counts, before = summary.counts, summary.rows_before
    earlier = f" ({before:,} rows are from an earlier run)" if before else ""
    return "\n".join((
        f"{counts.n_items:,} items = {counts.n_judged:,} judged "
        f"+ {counts.n_undecided:,} undecided + {counts.n_unparsed:,} unparsed "
        f"+ {counts.n_failed:,} failed",
        f"{counts.n_judged:,} judged = {counts.n_correct:,} correct "
        f"+ {counts.n_incorrect:,} incorrect + {counts.n_invalid:,} invalid",
        *_score(counts, left.kinds if left else Counter()),
        f"{summary.seconds:.1f} s, {pace(summary.rows_per_second)}{earlier}",
    ))  # fmt: skip


def pace(rate: float, unit: str = "rows") -> str:
    """Rows, or another unit, a second, with two digits where they are few.

    >>> pace(2691.4), pace(0.063)
    ('2,691 rows/s', '0.063 rows/s')
    """
    return f"{rate:,.0f} {unit}/s" if rate >= 10 or not rate else f"{rate:.2g} {unit}/s"


def helps(settings: JudgeSettings, counts: Counts, left: Undecided, record: Path) -> Iterator[str]:
    """What would decide more rows, or tell the score without it: a line each."""
    n_left, shipped = left.kinds.total(), judges()
    if not n_left:
        return
    yield "to decide more, or to know the score:"
    has_model = isinstance(settings, EngineSettings) and settings.model
    if shipped and settings.kind != "code" and not has_model:
        kind = "" if settings.kind == "cascade" else "--judge cascade "
        yield f"  {kind}--model {shipped[-1]} --overwrite   lets a model judge what is open"
    if left.withheld:
        what = f"gives the {left.withheld:,} verdicts that were not sure enough"
        yield f"  --min-confidence 0 --overwrite   {what}"
    if counts.n_items > _LABELS:
        pick = f"gradegpt eval.estimate {shlex.quote(str(record))} --pick {_LABELS} -o labels.csv"
        what = f"{_LABELS} labels of yours give the score of all rows, with an interval"
        yield f"  {pick}   {what}"


def _score(counts: Counts, kinds: Counter[str]) -> list[str]:
    """The bounds of the score where rows are open, and the share of the decided rows."""
    n_open, every = counts.n_items - counts.n_judged, counts.n_items
    lines = []
    if counts.n_invalid > _MANY_INVALID * every:
        what = "hold no answer (empty, cut off, a refusal): see reason"
        lines.append(f"{counts.n_invalid:,} of {every:,} responses {what}")
    if n_open:
        least, most = counts.n_correct, counts.n_correct + n_open
        low, high = f"{100 * least / every:.1f}", f"{100 * most / every:.1f}"
        without = f"{n_open:,} ({100 * n_open / every:.1f} %) have no verdict{_listed(kinds)}"
        lines.append(f"score: between {low} and {high} % are correct, as {without}")
    if counts.n_judged:
        start = f"       of the {counts.n_judged:,} with a verdict" if n_open else "score:"
        lines.append(f"{start} {_share(counts.n_correct, counts.n_judged)}")
    return lines


def _share(right: int, of: int) -> str:
    """A share with Wilson's interval (1927), in percent."""
    share, shrink = right / of, 1 + _Z**2 / of
    middle = (share + _Z**2 / (2 * of)) / shrink
    half = _Z / shrink * math.sqrt(share * (1 - share) / of + (_Z / (2 * of)) ** 2)
    low, high = 100 * max(middle - half, 0), 100 * min(middle + half, 1)
    said = f"{100 * share:.1f} % are correct [{low:.1f}, {high:.1f}]"
    return f"{said} (95 %, Wilson: each row independent)"


def _listed(kinds: Counter[str]) -> str:
    first = kinds.most_common(_KINDS)
    others = kinds.total() - sum(n for _, n in first)
    told = [f"{name} {n:,}" for name, n in [*first, *([("others", others)] if others else [])]]
    return f", by type: {', '.join(told)}" if told else ""
