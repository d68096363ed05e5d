"""The end of a run in words: counts that add up, the score with its bounds, and what would help."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.app.run import Counts, Summary
from gradegpt.core.schema import Outcome
from gradegpt.core.shipped import judges
from gradegpt.judges.neighbours import LEAST, NeighbourJudge
from gradegpt.judges.settings import EngineSettings, JudgeSettings

_KINDS: Final = 4
_LABELS: Final = 60
"""Labels that give a useful interval; see ``benchmarks/intervals.py``."""
_MANY_INVALID: Final = 0.1


class Undecided(NamedTuple):
    """Undecided rows by the type of their answer, and how many of them have a withheld verdict.

    ``tokens`` are what a model read and wrote, ``nearest`` the rows judged by the nearest graded
    answers, both of all rows.
    """

    kinds: Counter[str]
    withheld: int
    tokens: tuple[int, int] = (0, 0)
    nearest: int = 0

    @classmethod
    def of(cls, judgements: Iterable[Mapping[str, Any]]) -> Undecided:
        """Count these among judgements, given as their fields."""
        kinds, withheld, read, written, nearest = Counter[str](), 0, 0, 0, 0
        for row in judgements:
            read, written = read + row["prompt_tokens"], written + row["completion_tokens"]
            nearest += row["method"] == NeighbourJudge.name
            if row["outcome"] == Outcome.UNDECIDED:
                kinds[str(row["answer_type"] or "unknown type")] += 1
                withheld += row["withheld"] is not None
        return cls(kinds, withheld, (read, written), nearest)


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
        *_score(counts, left, summary.output),
        cost(summary, *(left.tokens if left else (0, 0))) + earlier,
    ))  # fmt: skip


def cost(summary: Summary, read: int, written: int) -> str:
    """The time of a run, and the tokens of a row that a model read and wrote."""
    n = max(1, summary.counts.n_items)
    tokens = f"; a row: {read / n:,.0f} tokens read, {written / n:,.0f} written" if read else ""
    return f"{summary.seconds:.1f} s, {pace(summary.rows_per_second)}{tokens}"


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
    if getattr(settings, "labels", None) and not left.nearest:
        what = "they decide graded answers alone"
        yield f"--labels: no open answer has {LEAST} graded ones to its question; {what}"
    yield "to decide more, or to know the score:"
    has_model = isinstance(settings, EngineSettings) and settings.model
    if shipped and settings.kind != "code" and not has_model:
        kind = "" if settings.kind == "cascade" else "--judge cascade "
        yield f"  {kind}--model {shipped[-1]} --overwrite   lets a model judge what is open"
    if left.withheld:
        bound = "" if getattr(settings, "max_error", None) is None else ", without --max-error"
        what = f"gives the {left.withheld:,} verdicts that were not sure enough"
        yield f"  --min-confidence 0 --overwrite{bound}   {what}"
    if counts.n_items > _LABELS:
        pick = f"gradegpt eval.estimate {shlex.quote(str(record))} --pick {_LABELS} -o labels.csv"
        what = f"{_LABELS} labels of yours give the score of all rows, with an interval"
        yield f"  {pick}   {what}"


def _score(counts: Counts, left: Undecided | None, output: Path) -> list[str]:
    """The bounds of the score where rows are open, and the share of the decided rows."""
    n_open, every = counts.n_items - counts.n_judged, counts.n_items
    lines, kinds = [], left.kinds if left else Counter[str]()
    if counts.n_invalid > _MANY_INVALID * every:
        what = "hold no answer (empty, cut off, a refusal): see reason"
        lines.append(f"{counts.n_invalid:,} of {every:,} responses {what}")
    if n_open:
        least, most = counts.n_correct, counts.n_correct + n_open
        low, high = f"{100 * least / every:.1f}", f"{100 * most / every:.1f}"
        first = kinds.most_common(_KINDS)
        others = kinds.total() - sum(n for _, n in first)
        told = [f"{name} {n:,}" for name, n in [*first, *([("others", others)] if others else [])]]
        listed = f", by type: {', '.join(told)}" if told else ""
        without = f"{n_open:,} ({100 * n_open / every:.1f} %) have no verdict{listed}"
        lines.append(f"score: between {low} and {high} % judged correct, as {without}")
    if counts.n_judged:
        start = f"       of the {counts.n_judged:,} with a verdict" if n_open else "score:"
        share = f"{100 * counts.n_correct / counts.n_judged:.1f} % judged correct"
        how = f"; its interval: gradegpt report {shlex.quote(str(output))}" if left else ""
        lines.append(f"{start} {share}{how}")
    return lines
