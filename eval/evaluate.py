"""Run one evaluation, from its settings to its manifest."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import Final, NamedTuple

from gradegpt.app.console import read_items
from gradegpt.app.run import CheckedInput
from gradegpt.core.records import sha256_file, write_json
from gradegpt.core.schema import Item
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables import digest

from .judging import Judged, from_records, judge_items, read_sources, write_items
from .panel import panel_of
from .report.content import EvalReport, report_of
from .report.numbers import Numbers, numbers
from .report.page import write_page
from .report.results import JudgedRows, of_run
from .settings import EvalSettings

MANIFEST: Final = "manifest.json"
_PACKAGES: Final = ("gradegpt", "numpy", "torch", "transformers", "peft", "openai")
BuildJudge = Callable[[JudgeSettings], Judge]


class Runs(NamedTuple):
    """What the judges of an evaluation made of its items."""

    items: CheckedInput
    judged: list[Judged]


def evaluate(
    settings: EvalSettings, *, overwrite: bool = False, build: BuildJudge = build_judge
) -> EvalReport:
    """Judge all rows with all judges, measure them, and write to the run's folder.

    Against labels the judges are measured; without them the model that answered is scored.
    ``overwrite`` replaces judgements that were made from other rows or by another judge.

    Raises:
        InputError: a row is not an item, or there is no row.

    """
    started = time.perf_counter()
    rows: Sequence[Item] = (
        read_sources(settings)
        if settings.sources
        else [one.item for path in settings.answers for one in read_items(path, settings.reading)]
    )
    runs = run_judges(settings, rows, overwrite, build)
    results = of_run(settings, rows, runs.judged)
    found = numbers(results)
    panel = None
    if settings.panel:
        panel = panel_of(results, runs.judged, runs.items, settings.panel)
    report = report_of(results, found, runs.judged, panel)
    _write(settings, report, results, found, runs, started)
    return report


def run_judges(
    settings: EvalSettings, rows: Sequence[Item], overwrite: bool, build: BuildJudge
) -> Runs:
    """Judge the rows with all judges into the run's folder; finished judgements are reused."""
    folder = settings.folder
    (folder / MANIFEST).unlink(missing_ok=True)
    found = Runs(write_items(rows, folder / "items.jsonl"), [])
    # Judges are built one at a time, so two large models need not fit in memory together.
    for one in settings.judges:
        path, judge = folder / "judgements" / f"{one.label}.jsonl", build(one)
        recorded = from_records(judge, found.judged, found.items)
        judged = judge_items(one.label, recorded, found.items, path, overwrite=overwrite)
        found.judged.append(judged)
    return found


def _write(
    settings: EvalSettings,
    report: EvalReport,
    results: JudgedRows,
    found: Numbers,
    runs: Runs,
    started: float,
) -> None:
    folder = settings.folder
    write_json(folder / "report.json", report.rounded())
    write_page(folder / "report.html", results, found)
    made = {
        # No number depends on the API key, and it must not be published with them.
        "settings": settings.model_dump(mode="json"),
        "inputs": {
            path: digest(path)
            for path in (*(source.path for source in settings.sources), *settings.answers)
        },
        "outputs": {name: sha256_file(folder / name) for name in ("report.json", "report.html")},
        "rows": len(results.items),
        "judges": {
            run.name: {"fingerprint": run.fingerprint, "reused": run.reused} for run in runs.judged
        },
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "wall_seconds": round(time.perf_counter() - started, 3),
    }
    write_json(folder / MANIFEST, made)


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
