"""Run one evaluation, from its settings to its manifest."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from typing import Any, Final

import typer

from gradegpt.app.console import read_items
from gradegpt.core.records import sha256_file, write_json
from gradegpt.core.schema import Item, Outcome, Row, Verdict
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge, unasked
from gradegpt.judges.settings import JudgeSettings

from .judging import Judged, from_records, judge_items, read_sources, seen_by, write_items
from .metrics import JudgeMetrics, JudgePair
from .reliability import Reliability
from .report.numbers import Numbers, numbers
from .report.page import write_page
from .report.results import VIEWS, of_run
from .scores import ModelScores
from .selective import RiskCoverage
from .settings import EvalSettings

MANIFEST: Final = "manifest.json"
_PACKAGES: Final = ("gradegpt", "numpy", "torch", "transformers", "peft", "openai")
_DECIMALS: Final = 6
BuildJudge = Callable[[JudgeSettings], Judge]


class MeasuredJudge(Row):
    """One judge on labelled rows. ``views`` maps a view's and a group's name to its metrics.

    ``calibration`` maps a method, or ``all``, to its calibration, None where it is not calibrated.
    ``confusion`` maps a label to its rows by verdict, or by outcome where there is none.
    ``parsed_rate`` is the share of the model's texts with a verdict; a failed request wrote none.
    """

    name: str
    fingerprint: str
    overall: JudgeMetrics
    calibration: dict[str, Reliability | None]
    risk_coverage: RiskCoverage | None
    views: dict[str, dict[str, JudgeMetrics]]
    confusion: dict[str, dict[str, int]]
    parsed_rate: float | None
    prompt_tokens: int
    completion_tokens: int


class EvalReport(Row):
    """The whole evaluation: ``judges`` on rows with labels, or else ``scores`` of the model."""

    name: str
    n_items: int
    labels: dict[str, int]
    bootstrap: int
    seed: int
    judges: tuple[MeasuredJudge, ...]
    scores: dict[str, ModelScores]
    pairs: tuple[JudgePair, ...]

    def rounded(self) -> Any:
        """The report as JSON values, floats to six decimals: the same bytes on every machine."""
        text = self.model_dump_json()
        return json.loads(text, parse_float=lambda number: round(float(number), _DECIMALS))


def evaluate(
    settings: EvalSettings, *, overwrite: bool = False, build: BuildJudge = build_judge
) -> EvalReport:
    """Judge all rows with all judges, measure them, and write to the run's folder.

    Against labels the judges are measured; without them the model that answered is scored.
    ``overwrite`` replaces judgements that were made from other rows or by another judge.

    Raises:
        InputError: a row is not an item, or there is no row.

    """
    started, folder = time.perf_counter(), settings.folder
    own = [one.item for path in settings.answers for one in read_items(path, settings.reading)]
    rows: Sequence[Item] = own or read_sources(settings)
    known = seen_by(settings.judges, rows), *map(unasked, settings.judges)
    if told := "; ".join(filter(None, known)):
        typer.echo(f"warning: {told}", err=True)
    runs = run_judges(settings, rows, overwrite, build)
    results = of_run(settings, rows, runs)._replace(note=told)
    found = numbers(results)
    report = EvalReport(
        name=results.name,
        n_items=len(rows),
        labels={v.value: sum(label is v for label in results.labels) for v in Verdict},
        bootstrap=results.bootstrap,
        seed=results.seed,
        judges=tuple(_measured(found, run) for run in runs if results.labelled),
        scores=dict(results.scores),
        pairs=tuple(found.pairs),
    )
    write_json(folder / "report.json", report.rounded())
    write_page(folder / "report.html", results, found)
    _write_manifest(settings, runs, len(rows), time.perf_counter() - started)
    return report


def run_judges(
    settings: EvalSettings, rows: Sequence[Item], overwrite: bool, build: BuildJudge
) -> list[Judged]:
    """Judge the rows with all judges into the run's folder; finished judgements are reused."""
    folder, runs = settings.folder, list[Judged]()
    (folder / MANIFEST).unlink(missing_ok=True)
    items = write_items(rows, folder / "items.jsonl")
    # Judges are built one at a time, so two large models need not fit in memory together.
    for one in settings.judges:
        path, judge = folder / "judgements" / f"{one.label}.jsonl", build(one)
        recorded = from_records(judge, runs, items)
        runs.append(judge_items(one.label, recorded, items, path, overwrite=overwrite))
    return runs


def _measured(found: Numbers, run: Judged) -> MeasuredJudge:
    own = {
        view: {name: by_judge[run.name].metrics for name, by_judge in found.tags[view].items()}
        for view in VIEWS
    }
    texts = [j for j in run.judgements if j.method == "model" and j.outcome is not Outcome.FAILED]
    parsed = sum(one.outcome is not Outcome.UNPARSED for one in texts)
    return MeasuredJudge(
        name=run.name,
        fingerprint=run.fingerprint,
        overall=found.measured[run.name],
        calibration=found.calibration[run.name],
        risk_coverage=found.risk[run.name],
        views={view: {n: m for n, m in groups.items() if m} for view, groups in own.items()},
        confusion=found.confusion[run.name],
        parsed_rate=parsed / len(texts) if texts else None,
        prompt_tokens=sum(j.prompt_tokens for j in run.judgements),
        completion_tokens=sum(j.completion_tokens for j in run.judgements),
    )


def _write_manifest(
    settings: EvalSettings, runs: Sequence[Judged], n_rows: int, seconds: float
) -> None:
    folder, paths = settings.folder, [source.path for source in settings.sources]
    made = {
        # No number depends on the API key, and it must not be published with them.
        "settings": settings.model_dump(mode="json"),
        "inputs": {path: sha256_file(path) for path in (*paths, *settings.answers)},
        "outputs": {name: sha256_file(folder / name) for name in ("report.json", "report.html")},
        "rows": n_rows,
        "judges": {r.name: {"fingerprint": r.fingerprint, "reused": r.reused} for r in runs},
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "wall_seconds": round(seconds, 3),
    }
    write_json(folder / MANIFEST, made)


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            yield package, metadata.version(package)
