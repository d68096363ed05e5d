"""Judging on a Ray of this machine: what only Ray itself can show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.app.cluster.judging import check_files, judge_files
from gradegpt.app.cluster.pipeline import connect, each, piped
from gradegpt.app.cluster.storage import inputs
from gradegpt.app.run import check_input, judge_file
from gradegpt.core.errors import InputError
from gradegpt.judges.build import build_judge
from gradegpt.judges.settings import JudgeSettings
from tests.command import call

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
"""Ray warns of its own settings."""


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[None]:
    """One core is enough, and a pool of models needs none."""
    options = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    with connect("local", **options):
        yield


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A right and a wrong sum, and a text that no rule decides."""
    path = tmp_path / "in.jsonl"
    asked = (("1+1=?", "2", "It is 2."), ("1+2=?", "3", "It is 4."), ("Why?", "gravity", "Weight."))
    rows = (dict(zip(("question", "reference", "response"), row, strict=True)) for row in asked)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_folder_of_parts_is_the_file_of_the_local_command(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes; an error of a task is raised here."""
    folder, local = tmp_path / "out", tmp_path / "local.jsonl"
    command = ("judge", source, "--judge", "rules")
    assert call(*command, "-o", local) == 0
    before = capsys.readouterr().out.splitlines()[:2]
    assert call(*command, "-o", folder, "--on", "ray") == 0
    assert capsys.readouterr().out.splitlines()[:2] == before
    assert (folder / "part-00000.jsonl").read_bytes() == local.read_bytes()
    with pytest.raises(InputError, match="two"):
        list(piped(InputError, ["two"]))


@pytest.mark.slow
def test_a_pool_judges_as_one_machine_does(source: Path, tmp_path: Path) -> None:
    """A judge with a model is loaded in processes of its own; here a panel stands for it."""
    judges = (JudgeSettings.of(kind="rules"), JudgeSettings.of(kind="cascade"))
    settings = JudgeSettings.of(kind="panel", judges=judges)
    local = judge_file(check_input(source), tmp_path / "local.jsonl", build_judge(settings))
    checked = check_files(inputs([str(source)]), each)
    made = judge_files(checked, str(tmp_path / "out"), settings, workers=1)
    assert (tmp_path / "out/part-00000.jsonl").read_bytes() == local.output.read_bytes()
    assert made.counts == local.counts


@pytest.mark.slow
def test_what_a_worker_that_is_killed_was_doing_is_done_again(tmp_path: Path) -> None:
    """Each value once, in tasks and in a pool."""

    def killed_once(value: int, name: str) -> Any:
        mark = tmp_path / f"{name}-{value}"
        if value == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return value

    assert sorted(piped(lambda value: killed_once(value, "task"), [0, 1])) == [0, 1]
    assert sorted(piped(lambda value: killed_once(value, "pool"), [0, 1], 1)) == [0, 1]
    assert {path.name for path in tmp_path.iterdir()} == {"task-1", "pool-1"}
