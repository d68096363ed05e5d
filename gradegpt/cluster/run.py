"""A judged folder from files, on the cluster that this process is connected to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gradegpt.cluster import output
from gradegpt.cluster.checks import Checked
from gradegpt.cluster.files import absolute
from gradegpt.cluster.judging import Given, Job, Probe, advanced, begun, probe
from gradegpt.cluster.output import Report, counted, part_name, written
from gradegpt.cluster.tasks import Step, each, piped
from gradegpt.engines.exported import is_exported
from gradegpt.errors import EngineError
from gradegpt.judges.build import JudgeSettings
from gradegpt.outputs import added_columns
from gradegpt.run import Counts, Progress, Summary
from gradegpt.tables import Form


def judge_files(
    source: Checked,
    folder: str,
    settings: JudgeSettings,
    *,
    form: Form = Form.PARQUET,
    workers: int | None = None,
    overwrite: bool = False,
    on_progress: Progress | None = None,
) -> Summary:
    """Judge every part of ``source`` into a file of ``folder``; parts that are there are kept.

    A part with failed rows is judged again. ``_manifest.json`` states the input, the judge and the
    counts; it is written when all parts are.

    Args:
        source: The checked input.
        folder: A path or URL that every node can write.
        settings: The judge, which every node builds for itself.
        form: ``parquet`` for the rows with a judgement's columns, ``jsonl`` for judgements.
        workers: Processes that each load a model. None: as many as the GPUs suffice for, or one
            without GPUs. A process has one GPU, with vLLM ``tensor_parallel * data_parallel``.
        overwrite: Whether an earlier run in the folder is deleted.
        on_progress: Called after every part with the rows written and all rows.

    Raises:
        OutputError: the folder is another run's, is complete, or cannot be written.
        EngineError: the judge does not load, the engine is down, or a worker dies each time; or
            the GPUs of the cluster do not suffice.

    """
    started, (most, gpus) = time.perf_counter(), pool_for(settings)
    if gpus and workers and workers > most:
        what = f"workers: {workers}, and the cluster's GPUs suffice for {most} of {gpus} each"
        raise EngineError(f"{what}; give fewer, or add nodes")
    found = each(probe, [settings], num_gpus=gpus)[0]
    job = _job(source, absolute(folder), settings, found, form)
    record = {
        "judge": found.fingerprint,
        "input": source.manifest,
        "output": {"format": form.value, "rows_per_part": source.rows_per_part},
    }
    there = output.begin(job.folder, record, overwrite=overwrite)
    kept = [n for n in range(len(source.parts)) if part_name(n, form) in there]
    reports = {r.number: r for r in each(partial(counted, job), kept) if not r.counts.n_failed}
    before = sum(made.counts.n_items for made in reports.values())
    missing = [given for given in _given(source) if given.number not in reports]
    steps = _steps(job, workers or most, gpus)
    with _advice(folder, source, reports):
        for done in _finished(missing, steps, reports, before):
            if on_progress is not None:
                on_progress(done, source.rows)
    counts, seconds = _summed(reports), time.perf_counter() - started
    output.end(job.folder, record | _results(source, form, counts, None if before else seconds))
    failure = next((made.failure for made in reports.values() if made.failure), "")
    return Summary(Path(folder), counts, before, seconds, failure)


def _job(source: Checked, folder: str, settings: JudgeSettings, found: Probe, form: Form) -> Job:
    names = added_columns(source.columns.names)
    added = {names[field]: kind for field, kind in output.added_types().items()}
    return Job(
        settings=settings,
        fingerprints=found.stages,
        free=found.free,
        columns=source.columns,
        skip_bad=source.set_aside.rows > 0,
        folder=folder,
        form=form,
        names=names,
        types=source.types | added,
    )


def _finished(
    missing: Sequence[Given], steps: Sequence[Step], reports: dict[int, Report], done: int
) -> Iterator[int]:
    """Judge the parts that are missing into ``reports``; yield the rows that are done."""
    yield done
    for made in piped(missing, steps):
        reports[made.number] = made
        done += made.counts.n_items
        yield done


def _results(source: Checked, form: Form, counts: Counts, seconds: float | None) -> dict[str, Any]:
    """What a manifest says of the results; the time only of a run that was not stopped."""
    parts = [
        {"path": part_name(number, form), "input": part.name, "rows": rows}
        for number, part, rows in _given(source)
    ]
    took = {} if seconds is None else {"seconds": round(seconds, 3)}
    return {"parts": parts, "counts": counts.model_dump(), **took}


def _given(source: Checked) -> list[Given]:
    pairs = zip(source.parts, source.items, strict=True)
    return [Given(number, part, rows) for number, (part, rows) in enumerate(pairs)]


def _steps(job: Job, workers: int, gpus: int) -> list[Step]:
    """The steps of a part: without a model one task; else a pool of processes for each model."""
    models = range(job.free, len(job.fingerprints))
    if not models:
        return [Step(partial(_whole, job))]
    pools = (Step(partial(advanced, job, stage), workers, gpus) for stage in models)
    return [Step(partial(begun, job)), *pools, Step(partial(written, job))]


def _whole(job: Job, given: Given) -> Report:
    return written(job, begun(job, given))


def _summed(reports: Mapping[int, Report]) -> Counts:
    return sum((made.counts for made in reports.values()), Counts())


def pool_for(settings: JudgeSettings) -> tuple[int, int]:
    """How many processes the cluster has room for, and the GPUs of each, all on one node.

    Raises:
        EngineError: no node has the GPUs of a process.

    """
    import ray

    elsewhere = settings.asks_no_model or settings.base_url or settings.device == "cpu"
    if elsewhere or settings.engine == "onnx" or is_exported(settings.model):
        return 1, 0
    nodes = [int(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"]]
    one = settings.tensor_parallel * settings.data_parallel
    if one == 1 and not any(nodes):
        return 1, 0
    if one > max(nodes):
        raise EngineError(
            f"a process needs {one} GPUs (tensor_parallel {settings.tensor_parallel} x "
            f"data_parallel {settings.data_parallel}) on one node, and the largest node has "
            f"{max(nodes)}; set them lower, or add a node"
        )
    return sum(has // one for has in nodes), one


@contextmanager
def _advice(folder: str, source: Checked, reports: Mapping[int, Report]) -> Iterator[None]:
    """Add to an error of the engine how many rows are kept and how to resume."""
    try:
        yield
    except EngineError as error:
        kept = f"{_summed(reports).n_items:,} of {source.rows:,} rows are kept in {folder}"
        how = f"{error}; {kept}; run the same command again to resume"
        raise type(error)(how) from error
