"""Run one evaluation, from its settings to its manifest."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from gradegpt.judges.base import Judge
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.records import sha256_file, whole_file, write_json
from gradegpt.run import CheckedInput
from gradegpt.schema import Example, Item

from .judging import (
    Judged,
    from_records,
    judge_items,
    progress_bar,
    read_sources,
    write_items,
)
from .report.answers import AnswersReport, answers_report
from .report.labelled import Report, build_report
from .report.page import render_page
from .report.results import Results, of_answers, of_labelled
from .scores import read_items
from .settings import EvalSettings

MANIFEST: Final = "manifest.json"
_PACKAGES: Final = ("gradegpt", "numpy", "torch", "transformers", "peft", "openai")


def evaluate(
    settings: EvalSettings,
    *,
    overwrite: bool = False,
    build: Callable[[JudgeSettings], Judge] = build_judge,
) -> Report:
    """Judge all labelled rows with all judges, measure them, and write to the run's folder.

    ``overwrite`` replaces judgements that were made from other rows or by another judge.
    """
    started = time.perf_counter()
    examples = _examples(settings)
    runs = run_judges(settings, examples, overwrite, build)
    report = build_report(settings, examples, runs)
    results = of_labelled(
        settings.name, examples, runs, bootstrap=settings.bootstrap, seed=settings.seed
    )
    _write(settings, report, results, runs, started)
    return report


def evaluate_answers(
    settings: EvalSettings,
    *,
    overwrite: bool = False,
    build: Callable[[JudgeSettings], Judge] = build_judge,
) -> AnswersReport:
    """Judge ``settings.answers``, which have no labels, and score the model that answered.

    Raises:
        InputError: a row is not an item, or there is no row.

    """
    started = time.perf_counter()
    answers = _answers(settings)
    runs = run_judges(settings, answers, overwrite, build)
    report = answers_report(settings, answers, runs)
    results = of_answers(
        settings.name, answers, runs, report.scores,
        bootstrap=settings.bootstrap, seed=settings.seed,
    )  # fmt: skip
    _write(settings, report, results, runs, started)
    return report


def run_judges(
    settings: EvalSettings,
    rows: Sequence[Item],
    overwrite: bool,
    build: Callable[[JudgeSettings], Judge],
) -> list[Judged]:
    """Judge the rows with all judges into the run's folder; finished judgements are reused."""
    (settings.folder / MANIFEST).unlink(missing_ok=True)
    items = write_items(rows, settings.folder / "items.jsonl")
    return list(_run_judges(settings, items, overwrite, build))


def _write(
    settings: EvalSettings,
    report: Report | AnswersReport,
    results: Results,
    runs: Sequence[Judged],
    started: float,
) -> None:
    folder = settings.folder
    write_json(folder / "report.json", report.rounded())
    with whole_file(folder / "report.html") as page:
        page.write(render_page(results, most=settings.listed))
    seconds = time.perf_counter() - started
    write_json(folder / MANIFEST, _manifest(settings, len(results.items), runs, seconds))


def _examples(settings: EvalSettings) -> list[Example]:
    return read_sources(
        settings.sources,
        left_open=settings.left_open,
        sample=settings.sample,
        seed=settings.seed,
    )


def _answers(settings: EvalSettings) -> list[Item]:
    return [i for path in settings.answers for i in read_items(Path(path), settings.columns)]


def _run_judges(
    settings: EvalSettings,
    items: CheckedInput,
    overwrite: bool,
    build: Callable[[JudgeSettings], Judge],
) -> Iterator[Judged]:
    # Judges are built one at a time, so two large models need not fit in memory together.
    done: list[Judged] = []
    for one in settings.judges:
        path = settings.folder / "judgements" / f"{one.label}.jsonl"
        with progress_bar(one.label) as advance:
            judged = judge_items(
                one.label, from_records(build(one), done, items), items, path,
                chunk=settings.chunk, overwrite=overwrite, advance=advance,
            )  # fmt: skip
        done.append(judged)
        yield judged


def _manifest(
    settings: EvalSettings, rows: int, runs: Sequence[Judged], seconds: float
) -> dict[str, Any]:
    return {
        # No number depends on the API key, and it must not be published with them.
        "settings": settings.model_dump(mode="json", exclude={"judges": {"__all__": {"api_key"}}}),
        "inputs": {
            path: sha256_file(path)
            for path in (*(source.path for source in settings.sources), *settings.answers)
        },
        "outputs": {
            name: sha256_file(settings.folder / name) for name in ("report.json", "report.html")
        },
        "rows": rows,
        "judges": {
            run.name: {"fingerprint": run.fingerprint, "reused": run.reused} for run in runs
        },
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "wall_seconds": round(seconds, 3),
    }


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue


def report_path(settings: EvalSettings) -> Path:
    """The path of the report's page."""
    return settings.folder / "report.html"
