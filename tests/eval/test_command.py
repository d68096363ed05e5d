"""The command: its settings, its shipped configs and its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.__main__ import app
from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt.errors import GradeGPTError
from gradegpt.records import read_rows
from gradegpt.schema import Judgement
from gradegpt.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
HANDMADE = ROOT / "configs" / "eval" / "handmade.yaml"
COMMAND = "# gradegpt eval configs/eval/"
BENCHMARKS = {"olympiadbench", "olympicarena", "arb", "atlas", "cmmath"}
CONFIGS = sorted(
    path
    for path in (ROOT / "configs" / "eval").glob("*.yaml")
    if path.read_text("utf-8").startswith(COMMAND)
)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["bootstrp=3"], "unknown setting 'bootstrp'; did you mean 'bootstrap'?"),
        (["judges=[{kind: rules}, {kind: rules}]"], "two judges are called 'rules'"),
        (["judges=[{kind: rules, name: a/b}]"], "'a/b' cannot name a file"),
        (["sources=[{path: a.jsonl}, {path: b/a.jsonl}]"], "two sources are called 'a'"),
        (["judges=[]"], "judges: Tuple should have at least 1 item"),
        (["sources=[{path: nowhere.jsonl}]"], "nowhere.jsonl: no such file"),
    ],
    ids=["unknown", "judges", "file name", "sources", "no judge", "no file"],
)
def test_a_mistake_in_the_settings_is_one_line_that_says_what_to_do(
    overrides: list[str], message: str
) -> None:
    """Nothing is loaded or judged before the settings are known to be good."""
    with pytest.raises(GradeGPTError) as caught:
        read_sources(load_settings(EvalSettings, HANDMADE, overrides).sources)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_config_loads_and_opens_with_its_command(config: Path) -> None:
    """The first line of a config is the command that runs it."""
    settings = load_settings(EvalSettings, config)
    assert config.read_text("utf-8").startswith(f"{COMMAND}{config.name}\n")
    assert bool(settings.answers) is (config.stem in BENCHMARKS)


def test_there_are_configs() -> None:
    """The glob above finds what it should."""
    assert {path.stem for path in CONFIGS} >= {"handmade", "demo", "real"}


def test_the_command_runs_the_rules_on_the_shipped_rows(tmp_path: Path) -> None:
    """The first thing a user tries works without any model."""
    arguments = [
        str(ROOT / "configs/eval/handmade.yaml"), "judges=[{kind: rules}]", f"out={tmp_path}",
        f"sources=[{{path: {ROOT / 'eval/data/handmade.jsonl'}, fields: null}}]", "bootstrap=20",
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "by answer type" in result.output
    assert len(list(read_rows(tmp_path / "judgements/rules.jsonl", Judgement))) > 100
    (rules,) = json.loads((tmp_path / "report.json").read_text())["judges"]
    assert rules["overall"]["accuracy"] == 1, "the rules contradict a label given by hand"


def test_the_command_ends_with_the_exit_code_of_the_error(tmp_path: Path) -> None:
    """A user sees one line on stderr, and a script sees the code."""
    done = subprocess.run(
        [sys.executable, "-m", "eval", "nowhere.yaml"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: nowhere.yaml: no such settings file")
    assert done.stderr.count("\n") == 1
