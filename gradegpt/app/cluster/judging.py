"""Judge files into a folder on the cluster that this process is connected to, part by part."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.app.cluster.pipeline import piped
from gradegpt.app.cluster.storage import InputFile, OutputFolder, local
from gradegpt.app.run import Counts, Summary, check_answered, count, first_failure
from gradegpt.core.complaints import Complaints
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import EXISTS, dump
from gradegpt.core.records import FOLDER_MANIFEST as MANIFEST
from gradegpt.core.schema import Judgement
from gradegpt.judges.base import Judge, judge_each
from gradegpt.judges.build import build_judge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.code import CodeJudge
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import (
    EngineSettings,
    JudgeSettings,
    PanelJudgeSettings,
    StagesSettings,
)
from gradegpt.tables import Table
from gradegpt.tables.columns import (
    REQUIRED,
    Columns,
    joined,
    on_command_line,
    recognise,
    survey,
)
from gradegpt.tables.inputs import accept, aside, findings, placed
from gradegpt.tables.outputs import Progress

ROWS: Final = 8_192
"""Rows of a part: some seconds of rules, some megabytes of texts."""
BEGUN: Final = "_manifest.partial.json"
"""The manifest without the results, from the beginning of a run to its end."""
Each = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Computes a function of every value, in order."""


class Checked(NamedTuple):
    """Files as one table whose rows are all items, except those ``set_aside``; items by part."""

    files: tuple[InputFile, ...]
    parts: tuple[Table, ...]
    items: tuple[int, ...]
    columns: Columns
    set_aside: Complaints

    @property
    def rows(self) -> int:
        """The number of items."""
        return sum(self.items)

    @property
    def notes(self) -> list[str]:
        """What a user should know of how the files were read, a line each."""
        return self.columns.notes + aside(self.set_aside, self.rows)

    @property
    def manifest(self) -> dict[str, Any]:
        """The input's entry in a manifest: whatever the items and the parts depend on."""
        files = [file.digest for file in self.files]
        left = {"set_aside": self.set_aside.rows} if self.set_aside.rows else {}
        return {"digests": files, "rows": self.rows, **self.columns.manifest, **left}


class JudgingJob(NamedTuple):
    """What every task of a run is given; ``judge`` is the judge's fingerprint."""

    settings: JudgeSettings
    judge: str
    columns: Columns
    skip_bad: bool
    folder: OutputFolder


class PartTask(NamedTuple):
    """A part, its number, and its items when it was checked."""

    number: int
    part: Table
    rows: int

    @property
    def file(self) -> str:
        """The file that it is judged into."""
        return f"part-{self.number:05d}.jsonl"


class PartReport(NamedTuple):
    """The counts of a part that is written; the first of its failed rows, and why it failed."""

    number: int
    counts: Counts
    failure: str = ""


def check_files(
    files: Sequence[InputFile],
    each: Each,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    separator: str = "",
    command: bool = False,
    rows: int = ROWS,
) -> Checked:
    """Read all files as one table and report every row that is not an item, as ``check_input``.

    Raises:
        InputError, SettingsError, MissingError: as ``gradegpt.tables.inputs.check_input``.

    """
    name = files[0].table.name + (f" and {len(files) - 1:,} more" if len(files) > 1 else "")
    divided = each(partial(_divided, rows=rows), [file.table for file in files])
    parts = [part for some in divided for part in some]
    surveyed = each(
        lambda part: survey(row for _, row in local(part).rows() if not isinstance(row, str)), parts
    )
    found = recognise(
        joined(surveyed), columns,
        name=name, hint=on_command_line, separator=separator, required=REQUIRED,
    )  # fmt: skip
    items, wrong = list[int](), Complaints(name)
    for one in each(lambda part: findings(local(part), found), parts):
        items.append(one.items)
        wrong.merge(one.wrong)
    accept(name, files[0].table.form, sum(items), wrong, skip_bad=skip_bad, command=command)
    return Checked(tuple(files), tuple(parts), tuple(items), found, wrong)


def judge_files(
    source: Checked,
    output: str,
    settings: JudgeSettings,
    *,
    workers: int | None = None,
    overwrite: bool = False,
    on_progress: Progress = lambda *_: None,
) -> Summary:
    """Judge every part of ``source`` into a file of JSON Lines; parts that are there are kept.

    A part with failed rows is judged again. ``_manifest.json`` states the input, the judge and the
    counts; it is written when all parts are. ``workers`` are the processes that each load a model.

    Raises:
        OutputError: the folder is another run's, is complete, or cannot be written.
        EngineError: the judge does not load, the engine is down, or the GPUs do not suffice.

    """
    started, (most, gpus) = time.perf_counter(), pool_for(settings)
    if gpus and workers and workers > most:
        what = f"workers: {workers}, of a GPU each, and the cluster has {most}"
        raise EngineError(f"{what}; give fewer, or add nodes")
    (found,) = piped(lambda given: judge_of(given).fingerprint, [settings], 1, gpus)
    folder, skip_bad = OutputFolder.of(output), source.set_aside.rows > 0
    job = JudgingJob(settings, found, source.columns, skip_bad, folder)
    made = {"rows_per_part": source.parts[0].limit}
    record = {"judge": found, "input": source.manifest, "output": made}
    there = begin(folder, record, overwrite=overwrite)
    numbered = enumerate(zip(source.parts, source.items, strict=True))
    parts = [PartTask(number, *part) for number, part in numbered]
    written = (counted(job, part) for part in parts if part.file in there)
    reports = {report.number: report for report in written if not report.counts.n_failed}
    kept = done = sum(report.counts.n_items for report in reports.values())
    on_progress(done, source.rows)
    missing = [part for part in parts if part.number not in reports]
    pool = (workers or most, gpus) if asks_model(settings) else ()
    try:
        for report in piped(partial(judged, job), missing, *pool):
            reports[report.number] = report
            done += report.counts.n_items
            on_progress(done, source.rows)
    except EngineError as error:
        where = f"{done:,} of {source.rows:,} rows are kept in {output}"
        again = f"{error}; {where}; run the same command again to resume"
        raise type(error)(again) from error
    counts = sum((report.counts for report in reports.values()), Counts())
    seconds = time.perf_counter() - started
    results = [{"path": one.file, "input": one.part.name, "rows": one.rows} for one in parts]
    took = {} if kept else {"seconds": round(seconds, 3)}
    end(folder, {**record, "parts": results, "counts": counts.model_dump(), **took})
    failure = next((report.failure for report in reports.values() if report.failure), "")
    return Summary(Path(output), counts, kept, seconds, failure)


def pool_for(settings: JudgeSettings) -> tuple[int, int]:
    """How many processes the cluster has room for, and the GPUs of each: one for a model here."""
    import ray

    if not asks_model(settings) or (isinstance(settings, EngineSettings) and settings.base_url):
        return 1, 0
    gpus = sum(int(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"])
    return (gpus, 1) if gpus else (1, 0)


def asks_model(settings: JudgeSettings) -> bool:
    """Whether a model may be asked: a cascade without one consists of the rules."""
    named = isinstance(settings, EngineSettings) and settings.names_a_model
    several = isinstance(settings, StagesSettings | PanelJudgeSettings) and bool(settings.judges)
    return named or several


@cache
def judge_of(settings: JudgeSettings) -> Judge:
    """The judge of this process, loaded once.

    Rules run in a child of this process, which stays: a pair that kills or blocks it is undecided,
    as in a local run. It is one child, as Ray has a process for every core.
    """
    judge = build_judge(settings)
    if isinstance(judge, CodeJudge):  # programs are timed: more of them than cores is too slow
        judge.workers = 1
    if isinstance(judge, ParallelJudge):
        return judge.isolated()
    if isinstance(judge, CascadeJudge) and isinstance(judge.stages[0].judge, RuleJudge):
        first = judge.stages[0]._replace(judge=ParallelJudge(RuleJudge()).isolated())
        return CascadeJudge([first, *judge.stages[1:]], judge.policy)
    return judge


def _divided(table: Table, rows: int) -> list[Table]:
    here = Table.of(local(table).path, table.name)
    return [part._replace(path=table.path) for part in here.parts(rows)]


def judged(job: JudgingJob, given: PartTask) -> PartReport:
    """Judge a part in the batches of a local run, and write it.

    The last digits of a model's confidence depend on the other rows of a batch.

    Raises:
        EngineError: the engine is down, or this node has another judge than the others.
        InputError: the part has changed.

    """
    judge, size = judge_of(job.settings), job.settings.rows_at_a_time
    if judge.fingerprint != job.judge:
        raise EngineError(
            f"a node has another judge than the others ({judge.fingerprint} instead of "
            f"{job.judge}); install the same gradegpt and the same models on every node"
        )
    rows = [*placed(local(given.part), job.columns, skip_bad=job.skip_bad)]
    if len(rows) != given.rows:
        what = "has changed since it was checked; run the command again when it is complete"
        raise InputError(f"{given.part.name}: {what}")
    made = list[Judgement]()
    for start in range(0, len(rows), size):
        made += judge_each(judge, [one.item for one in rows[start : start + size]])
        check_answered(made[start:])
    job.folder.write(given.file, "".join(f"{dump(judgement)}\n" for judgement in made).encode())
    return PartReport(given.number, count(made), first_failure(made))


def counted(job: JudgingJob, given: PartTask) -> PartReport:
    """The counts of a part that an earlier run wrote."""
    lines = job.folder.read(given.file).splitlines()
    return PartReport(given.number, count(map(Judgement.model_validate_json, lines)))


def begin(folder: OutputFolder, record: Mapping[str, Any], *, overwrite: bool = False) -> list[str]:
    """Begin a run in a folder, or go on with one; the files that are there.

    Raises:
        OutputError: the folder is another run's or holds something else, or the run is complete.

    """
    there = [name for name in folder.names() if not name.startswith(".")]
    before = {name: folder.manifest(name) for name in (MANIFEST, BEGUN) if name in there}
    if there and not before:
        raise OutputError(f"{folder.url}: is not empty, and holds no run; choose another folder")
    if overwrite:
        folder.remove(name for name in there if name.startswith("part-") or name in before)
        there = []
    elif before:
        other = next(iter(before.values()))
        for what, own in record.items():
            if other.get(what) != own:
                raise OutputError(
                    f"{folder.url}: was begun with another {what}: {json.dumps(other.get(what))}; "
                    f"this run has {json.dumps(own)}; choose another folder or pass --overwrite"
                )
        if MANIFEST in before and not before[MANIFEST]["counts"]["n_failed"]:
            raise OutputError(f"{folder.url}: {EXISTS}")
    folder.write_manifest(BEGUN, record)
    folder.remove(name for name in there if name == MANIFEST)  # of a run with failed rows
    return there


def end(folder: OutputFolder, manifest: Mapping[str, Any]) -> None:
    """Write the manifest; delete what only a run that was stopped needs."""
    folder.write_manifest(MANIFEST, manifest)
    folder.remove(name for name in folder.names() if name == BEGUN or name.endswith(".tmp"))
