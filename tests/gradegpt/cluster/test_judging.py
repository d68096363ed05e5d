"""Stages of a part, and the folder it is written to; without Ray."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gradegpt.cluster import judging
from gradegpt.cluster.checks import Checked, check_files
from gradegpt.cluster.files import inputs
from gradegpt.cluster.judging import Given, Job, State, advanced, begun, probe, stages_of
from gradegpt.cluster.output import BEGUN, begin, counted, end, written
from gradegpt.engines import ScriptedEngine
from gradegpt.errors import EngineError, InputError, OutputError
from gradegpt.judges import CascadeJudge, ModelJudge, RuleJudge
from gradegpt.judges.build import JudgeSettings
from gradegpt.records import FOLDER_MANIFEST as MANIFEST
from gradegpt.records import read_rows
from gradegpt.run import check_input, judge_file
from gradegpt.schema import Judgement
from gradegpt.tables import Form

EASY = {"question": "2+2=?", "reference": "4", "response": "The answer is 4."}
HARD = {"question": "Why?", "reference": "because of gravity", "response": "Things fall."}
YES = "The answers agree: <Yes>"
SETTINGS = JudgeSettings(kind="cascade", batch_size=1)
"""Two rows at a time."""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The model of the cascade of rules and a model that every node builds."""
    engine = ScriptedEngine(lambda _: YES)
    cascade = CascadeJudge([RuleJudge(), ModelJudge(engine)])
    monkeypatch.setattr(judging, "build_judge", lambda _: cascade)
    monkeypatch.setattr(judging, "stages_of", cache(lambda _: cascade))
    judging._check.cache_clear()
    return engine


def part_of(path: Path, folder: Path, rows: list[dict[str, Any]]) -> tuple[Job, Given]:
    """A file with these rows as one part."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    source: Checked = check_files(inputs([str(path)]), lambda f, values: [f(v) for v in values])
    found = probe(SETTINGS)
    job = Job(
        SETTINGS, found.stages, found.free, source.columns, False, str(folder), Form.JSONL, {}, {}
    )
    return job, Given(0, source.parts[0], source.items[0])


def test_only_what_is_open_travels_to_the_model(tmp_path: Path, engine: ScriptedEngine) -> None:
    """In the batches of a local run; of a settled row there is the judgement alone."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD, EASY, EASY, HARD, HARD])
    state = begun(job, given)
    assert sorted(state.open) == [1, 4, 5]
    assert not engine.prompts
    state = advanced(job, 1, state)
    assert not state.open
    assert len(engine.prompts) == 3
    written(job, state)
    local = CascadeJudge([RuleJudge(), ModelJudge(ScriptedEngine(lambda _: YES))])
    source = check_input(tmp_path / "in.jsonl")
    made = judge_file(source, tmp_path / "local.jsonl", local, rows_per_write=2)
    assert (tmp_path / "part-00000.jsonl").read_bytes() == made.output.read_bytes()


def test_a_part_without_open_rows_does_not_ask(tmp_path: Path, engine: ScriptedEngine) -> None:
    """The model's batch is never empty."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY])
    assert len(advanced(job, 1, begun(job, given)).judgements) == 1
    assert not engine.prompts


def test_an_engine_that_is_down_stops_the_run(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen failures in a batch without one answer; with an answer a row is counted as failed."""
    monkeypatch.setattr(engine, "_script", lambda _: EngineError("refused"))
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [HARD] * 16)
    job = job._replace(settings=JudgeSettings(kind="cascade"))
    with pytest.raises(EngineError, match=r"all 16 items failed: engine:error: refused"):
        advanced(job, 1, begun(job, given))
    one = part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD])
    report = written(one[0], advanced(one[0], 1, begun(*one)))
    assert (report.counts.n_failed, report.failure) == (1, "engine:error: refused")
    assert counted(one[0], 0).counts == report.counts


def test_a_node_with_another_judge_stops_the_run(tmp_path: Path, engine: ScriptedEngine) -> None:
    """Else verdicts of two versions would be mixed."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY])
    with pytest.raises(EngineError, match=r"rules-1 .*install the same version"):
        begun(job._replace(fingerprints=("rules-1 ", "")), given)


def test_an_input_that_changes_during_the_run_stops_it(
    tmp_path: Path, engine: ScriptedEngine
) -> None:
    """Its parts would be those of two files."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY])
    with pytest.raises(InputError, match=r"in\.jsonl: has changed"):
        begun(job, given._replace(rows=2))


@pytest.mark.parametrize("kind", ["rules", "cascade"])
def test_rules_are_judged_in_a_child_of_the_process(kind: Any) -> None:
    """One child, also for a few items: what kills it costs one item and not the part."""
    first = stages_of(JudgeSettings(kind=kind, base_url="http://127.0.0.1:9", model="m")).stages[0]
    judge: Any = first.judge
    assert (judge.processes, judge._least) == (1, 0)
    assert judge.fingerprint == RuleJudge().fingerprint


RECORD: dict[str, Any] = {
    "judge": "rules-1",
    "input": {"files": [{"path": "a", "size": 1, "digest": "x"}], "rows": 1},
    "output": {"format": "jsonl", "rows_per_part": 2},
}


def test_a_run_goes_on_in_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    """The same judge and input, though moved; an error names what differs."""
    folder = str(tmp_path / "out")
    assert begin(folder, RECORD) == []
    (tmp_path / "out/part-00000.jsonl").write_text("")
    moved = {**RECORD, "input": {"files": [{"path": "b", "size": 1, "digest": "x"}], "rows": 1}}
    assert "part-00000.jsonl" in begin(folder, moved)
    with pytest.raises(OutputError, match='another judge: "rules-1"; this run has "rules-2"'):
        begin(folder, {**RECORD, "judge": "rules-2"})
    with pytest.raises(OutputError, match="another input: "):
        begin(folder, {**RECORD, "input": {"files": [], "rows": 1}})
    assert begin(folder, {**RECORD, "judge": "rules-2"}, overwrite=True) == []
    assert [path.name for path in (tmp_path / "out").iterdir()] == [BEGUN]


def test_a_complete_run_is_kept_and_one_with_failed_rows_goes_on(tmp_path: Path) -> None:
    """As a file of the local command."""
    for failed in (0, 1):
        folder = str(tmp_path / f"out{failed}")
        begin(folder, RECORD)
        end(folder, {**RECORD, "counts": {"n_failed": failed}})
    with pytest.raises(OutputError, match="exists already"):
        begin(str(tmp_path / "out0"), RECORD)
    assert begin(str(tmp_path / "out1"), RECORD) == [MANIFEST]
    assert [path.name for path in (tmp_path / "out1").iterdir()] == [BEGUN]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Also with --overwrite: another tool's parts may have the same names."""
    (tmp_path / "part-00000.parquet").write_text("mine")
    with pytest.raises(OutputError, match="is not empty"):
        begin(str(tmp_path), RECORD, overwrite=True)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(OutputError, match="cannot be read"):
        begin(str(tmp_path), RECORD)
    with pytest.raises(OutputError, match="cannot be written"):
        begin(str(tmp_path / MANIFEST / "below"), RECORD)


def test_judgements_of_a_part_are_those_that_are_read_back(
    tmp_path: Path, engine: ScriptedEngine
) -> None:
    """Whole judgements, a line each, part after part; not before all parts are there."""
    job, given = part_of(tmp_path / "in.jsonl", tmp_path, [EASY, HARD])
    state: State = advanced(job, 1, begun(job, given))
    written(job, state)
    written(job, state._replace(given=given._replace(number=100_000)))
    with pytest.raises(InputError, match="run the command that wrote it again"):
        list(read_rows(tmp_path, Judgement))
    end(str(tmp_path), {})
    assert list(read_rows(tmp_path, Judgement)) == 2 * [state.judgements[0], state.judgements[1]]
