"""Judging on a Ray of this machine, one for all tests: what only Ray itself can show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from gradegpt.app import cli
from gradegpt.app.cluster.judging import check_files, judge_files, pool_for
from gradegpt.app.cluster.pipeline import connect, each, piped
from gradegpt.app.cluster.storage import inputs
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import EngineError, InputError
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from gradegpt.tables import Form

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
"""Ray warns of its own settings."""


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[None]:
    """One core is enough, and a pool of models needs none."""
    options = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        with connect("local", **options):
            yield


def gradegpt(*arguments: object) -> int:
    """Run the command line in this process; the exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.run(cli.app, [str(one) for one in arguments], name="gradegpt")
    return int(ended.value.code or 0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Sums, of which every third is wrong, and texts that no rule decides."""
    path = tmp_path / "in.jsonl"
    with path.open("w") as out:
        for n in range(9):
            row = {
                "question": f"{n}+1=?",
                "reference": str(n + 1),
                "response": f"It is {n + n % 3}.",
            }
            text = {"question": "Why?", "reference": "gravity", "response": "Due to gravity."}
            out.write(json.dumps(text if n % 4 == 3 else row) + "\n")
    return path


def test_a_folder_of_parts_is_the_table_of_the_local_command(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same rows, columns and verdicts; the run that was stopped writes what is missing."""
    folder, local = tmp_path / "out", tmp_path / "local.parquet"
    command = ("judge", source, "--judge", "rules")
    assert gradegpt(*command, "-o", local) == 0
    before = capsys.readouterr().out.splitlines()[:2]
    assert gradegpt(*command, "-o", folder, "--on", "ray") == 0
    assert capsys.readouterr().out.splitlines()[:2] == before
    assert parquet.read_table(folder).to_pylist() == parquet.read_table(local).to_pylist()
    assert gradegpt(*command, "-o", folder, "--on", "ray") == 3
    assert "exists already" in capsys.readouterr().err


def test_what_was_written_is_kept_and_counted(source: Path, tmp_path: Path) -> None:
    """A part of an earlier run stays as it is, one that is missing is written again."""
    folder, settings = tmp_path / "out", JudgeSettings.of(kind="rules")
    checked = check_files(inputs([str(source)]), each, rows=3)
    first = judge_files(checked, str(folder), settings)
    whole = {path.name: path.read_bytes() for path in folder.glob("part-*")}
    (folder / "_manifest.json").rename(folder / "_manifest.partial.json")
    (folder / "part-00001.parquet").unlink()
    kept = (folder / "part-00000.parquet").stat().st_mtime_ns
    seen: list[tuple[int, int]] = []
    report = lambda done, total: seen.append((done, total))  # noqa: E731
    again = judge_files(checked, str(folder), settings, on_progress=report)
    assert (folder / "part-00000.parquet").stat().st_mtime_ns == kept
    assert {path.name: path.read_bytes() for path in folder.glob("part-*")} == whole
    assert (again.counts, again.rows_before, seen) == (first.counts, 6, [(6, 9), (9, 9)])
    manifest = json.loads((folder / "_manifest.json").read_text())
    assert manifest["counts"] == first.counts.model_dump()
    assert [part["rows"] for part in manifest["parts"]] == [3, 3, 3]


@pytest.mark.slow
def test_a_pool_judges_as_one_machine_does(source: Path, tmp_path: Path) -> None:
    """A judge with a model is loaded in processes of its own; here a panel stands for it."""
    judges = (JudgeSettings.of(kind="rules"), JudgeSettings.of(kind="cascade"))
    settings = JudgeSettings.of(kind="panel", judges=judges)
    local = judge_file(check_input(source), tmp_path / "local.jsonl", build_judge(settings))
    checked = check_files(inputs([str(source)]), each)
    made = judge_files(checked, str(tmp_path / "out"), settings, form=Form.JSONL, workers=1)
    assert (tmp_path / "out/part-00000.jsonl").read_bytes() == local.output.read_bytes()
    assert made.counts == local.counts


def test_an_error_of_a_task_is_that_of_the_local_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and its exit code; nothing of Ray, and nothing is written."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"reference": "4", "response": "4"}\n{"reference": "4"}\n')
    assert gradegpt("judge", path, "--judge", "rules", "-o", tmp_path / "x.jsonl") == 2
    local = capsys.readouterr().err
    assert gradegpt("judge", path, "--judge", "rules", "-o", tmp_path / "out", "--on", "ray") == 2
    assert capsys.readouterr().err == local
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_a_worker_that_is_killed_was_doing_is_done_again(tmp_path: Path) -> None:
    """Each value once, in tasks and in a pool; an error is raised."""

    def killed_once(value: int, name: str) -> Any:
        mark = tmp_path / f"{name}-{value}"
        if value == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return InputError("two") if value == 2 else value

    assert sorted(piped(lambda value: killed_once(value, "task"), [0, 1])) == [0, 1]
    assert sorted(piped(lambda value: killed_once(value, "pool"), [0, 1], 1)) == [0, 1]
    assert {path.name for path in tmp_path.iterdir()} == {"task-1", "pool-1"}
    with pytest.raises(InputError, match="two"):
        list(piped(lambda value: killed_once(value, "task"), [2]))


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
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray would wait for them."""
    monkeypatch.setattr("gradegpt.app.cluster.judging.pool_for", lambda _: (2, 1))
    checked = check_files(inputs([str(source)]), each)
    with pytest.raises(EngineError, match=r"workers: 3, .* the cluster has 2; give fewer"):
        judge_files(checked, str(tmp_path / "out"), JudgeSettings.of(kind="cascade"), workers=3)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--on", "dask", "-o", "out"), 2, "must be ray"),
        (("--on", "ray"), 2, "give -o FOLDER"),
        (("--on", "ray", "-o", "out", "--format", "csv"), 2, "parquet or jsonl"),
        (("--on", "ray", "-o", "out", "--cache", "c.sqlite"), 2, "--cache: is a file"),
        (("--on", "ray", "-o", "out", "--workers", "2"), 2, "--workers: not for --judge rules"),
        (("--workers", "2"), 2, "are for --on ray"),
        (("b.jsonl",), 2, "are for --on ray"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], code: int, words: str
) -> None:
    """Before anything is connected or read."""
    assert gradegpt("judge", "a.jsonl", "--judge", "rules", *options) == code
    assert words in capsys.readouterr().err
