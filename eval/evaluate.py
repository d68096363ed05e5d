"""One evaluation from its settings to its manifest, top to bottom."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from eval.judging import (
    Judged,
    from_records,
    judge_items,
    progress_bar,
    read_sources,
    write_items,
)
from eval.page import render_page
from eval.report import Report, build_report
from eval.settings import EvalSettings
from gradegpt.judges.base import Judge
from gradegpt.judges.build import JudgeSettings, build_judge
from gradegpt.records import sha256_file, whole_file, write_json
from gradegpt.run import CheckedInput
from gradegpt.schema import Example

MANIFEST: Final = "manifest.json"
_PACKAGES: Final = ("gradegpt", "numpy", "torch", "transformers", "peft", "openai")


def evaluate(
    settings: EvalSettings,
    *,
    overwrite: bool = False,
    build: Callable[[JudgeSettings], Judge] = build_judge,
) -> Report:
    """Judge all rows with all judges, measure, and write everything under ``settings.folder``.

    ``overwrite`` replaces judgements that were made from other rows or by another judge.
    """
    started = time.perf_counter()
    folder = settings.folder
    (folder / MANIFEST).unlink(missing_ok=True)
    examples = read_sources(
        settings.sources,
        left_open=settings.left_open,
        sample=settings.sample,
        seed=settings.seed,
    )
    items = write_items(examples, folder / "items.jsonl")
    runs = list(_run_judges(settings, items, overwrite, build))
    report = build_report(settings, examples, runs)
    write_json(folder / "report.json", report.rounded())
    with whole_file(folder / "report.html") as page:
        page.write(render_page(report))
    seconds = time.perf_counter() - started
    write_json(folder / MANIFEST, _manifest(settings, examples, runs, seconds))
    return report


def _run_judges(
    settings: EvalSettings,
    items: CheckedInput,
    overwrite: bool,
    build: Callable[[JudgeSettings], Judge],
) -> Iterator[Judged]:
    # One judge at a time is built, judges and is dropped: two large models need not fit in memory
    # together.
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
    settings: EvalSettings, examples: Sequence[Example], runs: Sequence[Judged], seconds: float
) -> dict[str, Any]:
    return {
        # A key is not what the numbers depend on, and must not travel with them.
        "settings": settings.model_dump(mode="json", exclude={"judges": {"__all__": {"api_key"}}}),
        "inputs": {source.path: sha256_file(source.path) for source in settings.sources},
        "outputs": {
            name: sha256_file(settings.folder / name) for name in ("report.json", "report.html")
        },
        "rows": len(examples),
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
    """The page to open."""
    return settings.folder / "report.html"
