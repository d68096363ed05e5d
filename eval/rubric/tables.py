"""The tables of the command line: defects of rubrics, and the scores of graded responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.markup import escape

from gradegpt.rubric import Quality

from ..console import empty_table, terminal
from .check import Finding
from .score import Compared, Estimate, RubricScores


def print_checked(measured: Sequence[Quality], found: Sequence[Finding], show: int) -> None:
    """Print the mean quality of the rubrics, and their defects, the most frequent first."""
    console = terminal()
    for name, values in (
        ("steps covered", [q.coverage for q in measured]),
        ("spread of points", [q.spread for q in measured]),
    ):
        some = [value for value in values if value is not None]
        if some:
            console.print(f"{name}: {sum(some) / len(some):.2f} on average, of 0 to 1")
    faulty = len({finding.id for finding in found})
    console.print(f"{faulty:,} of {len(measured):,} items have a rubric to check")
    table = empty_table()
    for name in ("defect", "rubrics", "id", ""):
        table.add_column(name, justify="right" if name == "rubrics" else "left")
    for defect, count in Counter(finding.defect for finding in found).most_common():
        own = [finding for finding in found if finding.defect is defect][:show]
        for n, finding in enumerate(own):
            first = (defect.value, f"{count:,}") if n == 0 else ("", "")
            table.add_row(*first, escape(finding.id), escape(finding.detail[:60]))
    if found:
        console.print(table)


def print_scores(found: RubricScores) -> None:
    """Print outcomes, points, agreement with humans, and the errors of ARB's table 4."""
    console = terminal()
    ended = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items())
    console.print(
        f"{found.n_rows:,} responses to {found.n_questions:,} questions: {ended}; "
        f"{found.cut_off:,} replies cut off"
    )
    for fault, count in found.faults.items():
        console.print(f"  {fault}: {count:,}")
    console.print(f"points, share of the total: {_shown(found.points)}")
    for name, compared in (
        ("by the rubric", found.by_rubric),
        ("on the whole", found.on_the_whole),
    ):
        if compared is not None:
            console.print(_agreement(name, compared))
    table = empty_table()
    for name in ("", "value", "responses"):
        table.add_column(name, justify="right" if name else "left")
    for name, one in _rows(found).items():
        table.add_row(name, _shown(one), f"{one.n:,}" if one else "–")
    console.print(table)


def _rows(found: RubricScores) -> dict[str, Estimate | None]:
    errors = found.errors
    return {
        "rubric coverage, measured": found.coverage,
        "point spread, measured": found.spread,
        "rubric coverage, by people (1 to 5)": found.rated_coverage,
        "point spread, by people (1 to 5)": found.rated_spread,
        "alternative solutions": errors.alternative_solutions,
        "extra credit": errors.extra_credit,
        "reduced credit": errors.reduced_credit,
        "hallucinated rubric": errors.hallucinated_rubric,
    }


def _agreement(name: str, compared: Compared) -> str:
    return (
        f"people's points {name}: {_shown(compared.people)}, the model's {_shown(compared.model)}, "
        f"difference {_shown(compared.difference)}\n"
        f"  Pearson {_shown(compared.pearson)}  Spearman {_shown(compared.spearman)}"
    )


def _shown(one: Estimate | None) -> str:
    if one is None:
        return "–"
    ends = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
    return f"{one.value:.2f}{ends}"
