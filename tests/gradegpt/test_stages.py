"""The commands of the stages: complete, called by name."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradegpt.app.stages import COMMANDS, packages_of
from gradegpt.core.errors import MissingError
from tests.command import call

ROOT = Path(__file__).parents[2]
RUNS = re.compile(r"    run(?:_command)?\(app, name=\"(.+)\"\)\n\Z")


def command_lines() -> Iterator[tuple[Path, str]]:
    """The modules of the stages that end in a command line, with its name."""
    for stage in ("data_gen", "train", "eval", "serve"):
        for path in (ROOT / stage).rglob("*.py"):
            if found := RUNS.search(path.read_text(encoding="utf-8")):
                yield path, found[1]


def test_every_command_line_of_a_stage_is_a_command() -> None:
    """There is no other; help and errors use the name of the command."""
    names = dict(command_lines())
    assert sorted(names.values()) == sorted(f"gradegpt {name}" for name in COMMANDS)
    for path, name in names.items():
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__main__")
        short = {
            "data_gen": "data", "eval.report": "report", "train.finetune": "finetune",
        }.get(module, module)  # fmt: skip
        assert name == f"gradegpt {short}"


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
def test_arguments_output_and_exit_code_are_those_of_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With options and errors."""
    monkeypatch.setattr(sys, "argv", ["gradegpt"])
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": "2+2=?", "reference": "4"}))
    assert call("eval.references", str(questions)) == 0
    assert capsys.readouterr().out.startswith("0 of 1 rows")
    assert call("eval.references", str(tmp_path / "none.jsonl")) == 2
    assert "none.jsonl" in capsys.readouterr().err
    assert call("eval.references", "--help") == 0
    assert capsys.readouterr().out.startswith("Usage: gradegpt eval.references ")


@pytest.mark.parametrize(
    ("command", "extra"),
    [("serve", "serve"), ("data", "data"), ("eval.estimate", "eval"), ("train.merge", "train"),
     ("eval.ablation", "all")],
)  # fmt: skip
def test_the_error_of_a_missing_package_names_its_extra(command: str, extra: str) -> None:
    """The command in it can be pasted into a shell."""
    message = rf"thing: not installed; gradegpt {command} needs: pip install 'gradegpt\[{extra}\]'"
    with pytest.raises(MissingError, match=message), packages_of(command):
        raise ModuleNotFoundError("no", name="thing")
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(rf"^{extra} = \[", declared, re.MULTILINE)


@pytest.mark.parametrize("command", ["serve", "gradegpt"])
def test_a_missing_module_of_the_project_is_not_reported_as_a_missing_package(command: str) -> None:
    """It is an error in the code, as is a package that the library itself misses."""
    name = "serve.nothing" if command == "serve" else "thing"
    with pytest.raises(ModuleNotFoundError), packages_of(command):
        raise ModuleNotFoundError("no", name=name)


_MEANT = "; a setting has no dashes: did you mean "


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("serve cascade --max-items 9", f"{_MEANT}max_items=9"),
        ("serve cascade --max-items=9", f"{_MEANT}max_items=9"),
        ("serve --model x", f"{_MEANT}judge.model=x"),
        ("train x.yaml --learning-rate 1e-4", f"{_MEANT}sft.learning_rate=1e-4"),
        ("finetune x.csv --learning-rate 1e-4", f"{_MEANT}sft.learning_rate=1e-4"),
        ("eval.attacks x.yaml --left-open true", f"{_MEANT}left_open=true"),
        ("train x.yaml --lr 3", ""),
        ("report x.jsonl --port 9", "; port is a setting of gradegpt serve"),
        ("eval x.csv --port 9", "; port is a setting of gradegpt serve"),
        ("judge x.csv --port 9", "; port is a setting of gradegpt serve"),
        ("judge x.csv --out y", ""),
    ],
)
def test_a_setting_written_as_an_option_is_answered_with_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str, hint: str
) -> None:
    """With its whole name and value where the command has it, else with the command that does."""
    monkeypatch.setattr(sys, "argv", ["gradegpt"])
    assert call(*given.split()) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    option = given.partition("--")[2].partition(" ")[0].partition("=")[0]
    assert said.partition(" (")[0] == f"Error: No such option: --{option}{hint}"


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # by other tests
def test_an_option_without_its_value_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no setting that was written with dashes."""
    monkeypatch.setattr(sys, "argv", ["gradegpt"])
    assert call("eval", "x.yaml", "--model") == 2
    assert "'--model' requires an argument" in capsys.readouterr().err
