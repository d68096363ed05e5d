"""A part of a run, and the folder it is written to; without Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradegpt.app.cluster import judging
from gradegpt.app.cluster.judging import (
    BEGUN,
    Checked,
    JudgingJob,
    PartTask,
    begin,
    check_files,
    counted,
    end,
    judge_files,
    judge_of,
    judged,
    pool_for,
)
from gradegpt.app.cluster.storage import OutputFolder, inputs
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import EngineError, InputError, OutputError
from gradegpt.core.records import FOLDER_MANIFEST as MANIFEST
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Judgement
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings
from tests.command import call

EASY = {"question": "2+2=?", "reference": "4", "response": "The answer is 4."}
HARD = {"question": "Why?", "reference": "because of gravity", "response": "Things fall."}
YES = "The answers agree: <Yes>"
SETTINGS = JudgeSettings.of(kind="cascade", model="m", batch_size=1)
"""Two rows at a time."""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The model of the cascade of rules and a model that every node builds."""
    engine = ScriptedEngine(lambda _: YES)
    cascade = CascadeJudge([RuleJudge(), ModelJudge(engine)])
    monkeypatch.setattr(judging, "judge_of", lambda _: cascade)
    return engine


def checked(path: Path, rows: list[dict[str, Any]], size: int = 100) -> Checked:
    """A file with these rows, in parts of so many."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return check_files(inputs([str(path)]), lambda f, values: [f(v) for v in values], rows=size)


def part_of(path: Path, folder: Path, rows: list[dict[str, Any]]) -> tuple[JudgingJob, PartTask]:
    """A file with these rows as one part."""
    source = checked(path, rows)
    own, there = judging.judge_of(SETTINGS).fingerprint, OutputFolder.of(str(folder))
    job = JudgingJob(SETTINGS, own, source.columns, False, there)
    return job, PartTask(0, source.parts[0], source.items[0])


def test_a_part_has_the_bytes_of_a_local_run(tmp_path: Path, engine: ScriptedEngine) -> None:
    """In its batches."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD, EASY, EASY, HARD, HARD])
    report = judged(job, given)
    assert len(engine.prompts) == 3
    local = CascadeJudge([RuleJudge(), ModelJudge(ScriptedEngine(lambda _: YES))])
    source = check_input(tmp_path / "in.jsonl")
    made = judge_file(source, tmp_path / "local.jsonl", local, rows_per_write=2)
    assert (tmp_path / "part-00000.jsonl").read_bytes() == made.output.read_bytes()
    assert report.counts == made.counts == counted(job, given).counts


def test_an_engine_that_is_down_stops_the_run(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen failures in a batch without one answer; with an answer a row is counted as failed."""
    monkeypatch.setattr(engine, "_script", lambda _: EngineError("refused"))
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [HARD] * 16)
    with pytest.raises(EngineError, match=r"all 16 items failed: engine:error: refused"):
        judged(job._replace(settings=JudgeSettings.of(kind="cascade")), given)
    report = judged(*part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD]))
    assert (report.counts.n_failed, report.failure) == (1, "2: engine:error: refused")


def test_a_node_with_another_judge_stops_the_run(tmp_path: Path, engine: ScriptedEngine) -> None:
    """Else verdicts of two versions would be mixed."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY])
    with pytest.raises(EngineError, match=r"instead of rules-1\); install the same gradegpt"):
        judged(job._replace(judge="rules-1"), given)


def test_an_input_that_changes_during_the_run_stops_it(
    tmp_path: Path, engine: ScriptedEngine
) -> None:
    """Its parts would be those of two files."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY])
    with pytest.raises(InputError, match=r"in\.jsonl: has changed"):
        judged(job, given._replace(rows=2))


@pytest.mark.parametrize("kind", ["rules", "cascade"])
def test_rules_are_judged_in_a_child_of_the_process(kind: Any) -> None:
    """One child, also for a few items: what kills it costs one item and not the part."""
    asked = {"base_url": "http://127.0.0.1:9", "model": "m"} if kind == "cascade" else {}
    judge: Any = judge_of(JudgeSettings.of(kind=kind, **asked))
    first = judge.stages[0].judge if kind == "cascade" else judge
    assert (first.processes, first._least) == (1, 0)
    assert first.fingerprint == RuleJudge().fingerprint


@pytest.mark.parametrize(
    ("settings", "pool"),
    [
        ({"kind": "rules"}, (1, 0)),
        ({"kind": "cascade"}, (1, 0)),
        ({"kind": "cascade", "model": "m"}, (11, 1)),
        ({"kind": "model", "model": "m", "base_url": "http://127.0.0.1:9"}, (1, 0)),
    ],
)
def test_a_process_with_a_model_has_a_gpu(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], pool: tuple[int, int]
) -> None:
    """None for a server or a processor."""
    nodes = [{"Alive": True, "Resources": {"CPU": 8.0, "GPU": n}} for n in (8.0, 3.0)]
    gone = {"Alive": False, "Resources": {"GPU": 8.0}}
    monkeypatch.setattr("ray.nodes", lambda: [*nodes, {"Alive": True, "Resources": {}}, gone])
    assert pool_for(JudgeSettings.of(**settings)) == pool


def test_more_gpus_than_there_are_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray would wait for them."""
    monkeypatch.setattr(judging, "pool_for", lambda _: (2, 1))
    with pytest.raises(EngineError, match=r"workers: 3, .* the cluster has 2; give fewer"):
        judge_files(checked(tmp_path / "in.jsonl", [EASY]), str(tmp_path), SETTINGS, workers=3)


def test_what_was_written_is_kept_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of an earlier run stays as it is, one that is missing is written again."""
    monkeypatch.setattr(judging, "piped", lambda function, values, *_: map(function, values))
    folder, settings = tmp_path / "out", JudgeSettings.of(kind="rules")
    source = checked(tmp_path / "in.jsonl", [EASY, HARD, EASY], size=1)
    first = judge_files(source, str(folder), settings)
    whole = {path.name: path.read_bytes() for path in folder.glob("part-*")}
    (folder / MANIFEST).rename(folder / BEGUN)
    (folder / "part-00001.jsonl").unlink()
    kept = (folder / "part-00000.jsonl").stat().st_mtime_ns
    seen: list[tuple[int, ...]] = []
    again = judge_files(source, str(folder), settings, on_progress=lambda *done: seen.append(done))
    assert (folder / "part-00000.jsonl").stat().st_mtime_ns == kept
    assert {path.name: path.read_bytes() for path in folder.glob("part-*")} == whole
    assert (again.counts, again.rows_before, seen) == (first.counts, 2, [(2, 3), (3, 3)])
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["counts"] == first.counts.model_dump()
    assert [part["rows"] for part in manifest["parts"]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "dask", "-o", "out"), "must be ray"),
        (("--on", "ray"), "give -o FOLDER"),
        (("--on", "ray", "-o", "out", "--cache", "c.sqlite"), "--cache: is a file"),
        (("--on", "ray", "-o", "out", "--workers", "2"), "--workers: not for --judge rules"),
        (("--workers", "2"), "--workers is for --on ray"),
        (("b.jsonl",), "are for --on ray"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    """Before anything is connected or read."""
    assert call("judge", "a.jsonl", "--judge", "rules", *options) == 2
    assert words in capsys.readouterr().err


RECORD: dict[str, Any] = {
    "judge": "rules-1", "input": {"digests": ["x"], "rows": 1}, "output": {"rows_per_part": 1},
}  # fmt: skip


def test_a_run_goes_on_in_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    """An error names what differs."""
    folder = OutputFolder.of(str(tmp_path / "out"))
    assert begin(folder, RECORD) == []
    folder.write("part-00000.jsonl", b"")
    assert "part-00000.jsonl" in begin(folder, RECORD)
    with pytest.raises(OutputError, match='another judge: "rules-1"; this run has "rules-2"'):
        begin(folder, {**RECORD, "judge": "rules-2"})
    with pytest.raises(OutputError, match="another input: "):
        begin(folder, {**RECORD, "input": {"digests": ["y"], "rows": 1}})
    assert begin(folder, {**RECORD, "judge": "rules-2"}, overwrite=True) == []
    assert folder.names() == [BEGUN]


def test_a_complete_run_is_kept_and_one_with_failed_rows_goes_on(tmp_path: Path) -> None:
    """As a file of the local command."""
    folders = [OutputFolder.of(str(tmp_path / f"out{failed}")) for failed in (0, 1)]
    for failed, folder in enumerate(folders):
        begin(folder, RECORD)
        end(folder, {**RECORD, "counts": {"n_failed": failed}})
    with pytest.raises(OutputError, match="exists already"):
        begin(folders[0], RECORD)
    assert begin(folders[1], RECORD) == [MANIFEST]
    assert folders[1].names() == [BEGUN]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Also with --overwrite: another tool's parts may have the same names."""
    folder = OutputFolder.of(str(tmp_path))
    folder.write("part-00000.parquet", b"mine")
    with pytest.raises(OutputError, match="is not empty"):
        begin(folder, RECORD, overwrite=True)
    folder.write(MANIFEST, b"{")
    with pytest.raises(OutputError, match="cannot be read"):
        begin(folder, RECORD)
    with pytest.raises(OutputError, match="cannot be written"):
        begin(OutputFolder.of(str(tmp_path / MANIFEST / "below")), RECORD)


def test_judgements_of_a_part_are_those_that_are_read_back(
    tmp_path: Path, engine: ScriptedEngine
) -> None:
    """Whole judgements, a line each, part after part; not before all parts are there."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD])
    judged(job, given)
    judged(job, given._replace(number=100_000))
    with pytest.raises(InputError, match="run the command that wrote it again"):
        list(read_rows(tmp_path, Judgement))
    end(job.folder, {})
    rows = list(read_rows(tmp_path, Judgement))
    assert (len(rows), rows[:2]) == (4, rows[2:])
