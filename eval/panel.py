"""Combine judges of the same rows into a panel: ``gradegpt eval.panel runs/<name>``.

Reports the pairwise agreement, the panel's verdicts, the rows on which judges differ, and the judge
without which the panel is better (ATLAS, section 5.4, compares two judges so).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Final

import typer

from gradegpt.cli import run
from gradegpt.errors import InputError, MissingError
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.records import read_rows, validate, write_json, write_rows
from gradegpt.schema import Example, Item, Judgement, Row

from .console import empty_table, percent, terminal
from .judging import read_sources
from .metrics import Metrics, Pair, compare_judges, measure
from .settings import EvalSettings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_LEAST: Final = 0.501
"""The least accuracy in a vote, so a judge at or below chance has hardly any weight."""
Judgements = dict[str, tuple[Judgement, ...]]


class PanelReport(Row):
    """A panel of judges on labelled rows, each judge alone, and the panel without it."""

    vote: Vote
    n_items: int
    n_differ: int
    panel: Metrics
    judges: dict[str, Metrics]
    without: dict[str, Metrics]
    pairs: tuple[Pair, ...]

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


def _rightness(metrics: Metrics) -> tuple[float, float]:
    """The share right of what is decided, and the share decided."""
    return metrics.accuracy or 0.0, metrics.coverage or 0.0


class _Given:
    """A judge that returns given judgements."""

    name = "given"

    def __init__(self, name: str, judgements: Sequence[Judgement]) -> None:
        self.fingerprint = name
        self._judgements = list(judgements)

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        return self._judgements


def panel_report(
    examples: Sequence[Example],
    judged: Judgements,
    vote: Vote = Vote.MAJORITY,
    *,
    bootstrap: int = 2000,
) -> PanelReport:
    """The panel of all judges in ``judged``; weights are their accuracies on these rows.

    Raises:
        SettingsError: fewer than two judges.

    """

    def measured(judgements: Sequence[Judgement]) -> Metrics:
        return measure(examples, judgements, bootstrap=bootstrap)

    alone = {name: measured(judgements) for name, judgements in judged.items()}
    shares = {name: max(_LEAST, m.accuracy or 0.0) for name, m in alone.items()}

    def together(names: Sequence[str]) -> list[Judgement]:
        judges = [_Given(name, judged[name]) for name in names]
        return PanelJudge(judges, vote, [shares[name] for name in names]).judge(examples)

    without = {name: [other for other in judged if other != name] for name in judged}
    return PanelReport(
        vote=vote,
        n_items=len(examples),
        n_differ=len(differing(judged)),
        panel=measured(together(list(judged))),
        judges=alone,
        without={name: measured(together(rest)) for name, rest in without.items() if len(rest) > 1},
        pairs=tuple(compare_judges(examples, *pair) for pair in combinations(judged.items(), 2)),
    )


def differing(judged: Judgements) -> list[int]:
    """The rows on which two judges have different verdicts, two-way."""
    rows = zip(*judged.values(), strict=True)
    return [
        n for n, votes in enumerate(rows)
        if len({v.verdict == "correct" for v in votes if v.verdict is not None}) > 1
    ]  # fmt: skip


def read_run(folder: Path, names: Sequence[str] = ()) -> tuple[list[Example], Judgements]:
    """The rows of a finished evaluation, and its judges' judgements of them.

    Raises:
        MissingError: the folder holds no finished evaluation.
        InputError: a name is none of its judges, its rows have no labels, or its sources have
            changed.

    """
    path = folder / "manifest.json"
    if not path.is_file():
        raise MissingError(f"{path}: does not exist; run gradegpt eval CONFIG.YAML first")
    made = json.loads(path.read_text(encoding="utf-8"))
    settings = validate(EvalSettings, made["settings"], str(path))
    known = [judge.label for judge in settings.judges]
    for name in names:
        if name not in known:
            raise InputError(f"{folder}: has no judge {name!r}; it has {', '.join(known)}")
    if not settings.sources:
        raise InputError(
            f"{folder}: its answers have no labels, which a panel needs; see the agreement of its "
            f"judges in {folder / 'report.html'}"
        )
    examples = read_sources(
        settings.sources, left_open=settings.left_open, sample=settings.sample, seed=settings.seed
    )
    judged = {
        name: tuple(read_rows(folder / "judgements" / f"{name}.jsonl", Judgement))
        for name in names or known
    }
    if any([j.id for j in rows] != [e.id for e in examples] for rows in judged.values()):
        raise InputError(f"{folder}: its sources have other rows now; run the evaluation again")
    return examples, judged


@app.command(epilog="First: gradegpt eval CONFIG.YAML, with several judges")
def main(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Such as runs/real.")],
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Only this judge of the evaluation; may be given several times."),
    ] = None,
    vote: Annotated[
        Vote, typer.Option(help="weighted: by the judges' accuracies on these rows.")
    ] = Vote.MAJORITY,
) -> None:
    """Combine the judges of an evaluation by voting, and compare them.

    It shows their agreement, the rows on which they differ, and whom to leave out.

    Writes RUN/panel.json and RUN/differ.jsonl, the rows on which judges differ.
    """
    examples, judged = read_run(folder, judge or ())
    report = panel_report(examples, judged, vote)
    write_json(folder / "panel.json", report.model_dump(mode="json"))
    write_rows(
        folder / "differ.jsonl",
        (
            {
                "id": examples[n].id, "question": examples[n].question,
                "reference": list(examples[n].reference), "response": examples[n].response,
                "label": examples[n].verdict,
                "said": {name: rows[n].verdict or rows[n].outcome for name, rows in judged.items()},
            }
            for n in differing(judged)
        ),
    )  # fmt: skip
    print_panel(report)
    typer.echo(f"wrote {folder / 'panel.json'} and {folder / 'differ.jsonl'}")


def print_panel(report: PanelReport) -> None:
    """The tables of a command line."""
    console = terminal()
    table = empty_table()
    for name in ("", "decided", "right", "balanced", "panel without it: decided", "right"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row(f"panel, {report.vote.value}", *_cells(report.panel), "", "")
    for name, metrics in report.judges.items():
        rest = report.without.get(name)
        table.add_row(name, *_cells(metrics), *(("", "") if rest is None else _cells(rest)[:2]))
    console.print(table)
    for pair in report.pairs:
        if pair.agreement is not None:
            kappa = "–" if pair.kappa is None else f"{pair.kappa:.2f}"
            console.print(
                f"{pair.a} and {pair.b}: agree on {100 * pair.agreement:.1f} % of "
                f"{pair.n_both:,}, kappa {kappa}; where they differ, right {pair.a_right} and "
                f"{pair.b_right} times"
            )
    console.print(f"they differ on {report.n_differ:,} of {report.n_items:,} rows")
    if worst := report.better_without:
        console.print(f"leave out {worst}: the panel decides and is right no less without it")


def _cells(metrics: Metrics) -> list[str]:
    return [percent(m) for m in (metrics.coverage, metrics.accuracy, metrics.balanced_accuracy)]


if __name__ == "__main__":
    run(app, name="gradegpt eval.panel")
