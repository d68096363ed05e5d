"""Whether ``--max-error`` holds for a source that was not calibrated on: leave one source out.

    python -m benchmarks.promise [models/gradegpt-1.5b/calibration.json]

For each source of a calibration's labelled rows the thresholds are found on all others, and what
they give of this source's rows is counted. A bound is broken where a binomial test finds a larger
error (p < .05).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from gradegpt.judges.calibration import Evidence, packaged, read_calibration
from gradegpt.judges.promise import evidence_for, given_from, lowest_threshold

BOUNDS = (0.02, 0.05)


class LeftOut(NamedTuple):
    """A source that was left out: its rows, those with a verdict, and the wrong ones."""

    source: str
    rows: int
    given: int
    wrong: int

    def breaks(self, bound: float) -> bool:
        """Whether its error is significantly above the bound."""
        if not self.given:
            return False
        return bool(binomtest(self.wrong, self.given, bound, "greater").pvalue < 0.05)


def left_out(evidence: Sequence[Evidence], source: str, bound: float) -> LeftOut:
    """What the thresholds of the other sources give of this one."""
    own = [row for row in evidence if row.source == source]
    rest = [row for row in evidence if row.source != source]
    given = wrong = 0
    for kind in {row.kind for row in own}:
        others = evidence_for(kind, rest, bound)
        least = lowest_threshold(others, bound)
        if least is not None:
            found = given_from([row for row in own if row.kind == kind], least)
            given, wrong = given + found.rows, wrong + found.wrong
    return LeftOut(source, sum(row.rows for row in own), given, wrong)


def main(calibration: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Print the sources with a verdict, those whose bound is broken, and the rows decided."""
    found = read_calibration(calibration) if calibration else packaged("rules")
    evidence = found.evidence if found else ()
    table = Table("bound", "sources", "broken", "rows", "decided", "wrong")
    for bound in BOUNDS:
        names = sorted({row.source for row in evidence})
        each = [left_out(evidence, name, bound) for name in names]
        broken = [f"{one.source} {one.wrong}/{one.given}" for one in each if one.breaks(bound)]
        table.add_row(
            f"{bound}", str(sum(o.given > 0 for o in each)), ", ".join(broken) or "none",
            *(f"{sum(o[n] for o in each):,}" for n in (1, 2, 3)),
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
