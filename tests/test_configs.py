"""The shipped settings: each loads, names its command, and writes the file that the next reads."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from data_gen.settings import AttackRowSettings, DataGenSettings, LabelledSettings
from eval.ablation import AblationSettings
from eval.attacks import AttackSettings
from eval.calibrate import CalibrationSettings
from eval.settings import EvalSettings
from gradegpt.core.settings import Settings, load_settings
from serve.settings import ServeSettings
from train.settings import SFTSettings

CONFIGS = Path(__file__).parents[1] / "configs"
STAGES: dict[str, Callable[[Path], type[Settings]]] = {
    "data_gen": lambda path: {
        "labelled": LabelledSettings,
        "twins": LabelledSettings,
        "attacks": AttackRowSettings,
    }.get(path.stem.partition("-")[0], DataGenSettings),
    "train": lambda path: {}.get(path.stem, SFTSettings),
    "eval": lambda path: {
        "ablation": AblationSettings,
        "attacks": AttackSettings,
        "calibrate": CalibrationSettings,
    }.get(path.stem.partition("-")[0], EvalSettings),
    "serve": lambda _: ServeSettings,
}
COMMANDS = {
    DataGenSettings: "data",
    LabelledSettings: "data",
    AttackRowSettings: "data",
    AblationSettings: "eval.ablation",
    AttackSettings: "eval.attacks",
    CalibrationSettings: "eval.calibrate",
}
"""The settings of commands whose name is not their stage's."""
LAUNCH = CONFIGS / "accelerate"
"""accelerate's own settings, which tests/train/test_distributed.py reads."""
LISTS = {CONFIGS / "eval" / f"{name}.txt" for name in ("set_aside", "unconfirmed")}
"""Lists of rows that some settings refer to."""
SHIPPED = re.compile(r"(?<![\w./-])(?:(?:train|eval)/data|configs|data_gen|models)/[\w./-]*\w")
"""A path in a folder that comes with the code."""
FILES = sorted(path for path in CONFIGS.rglob("*.yaml") if path.parent != LAUNCH)


def test_every_stage_has_settings_and_every_file_a_stage() -> None:
    """Without any file every other test here would pass."""
    assert {path.parent.name for path in FILES} == STAGES.keys()
    assert all(path.parent.parent == CONFIGS for path in FILES)
    others = {path for path in CONFIGS.rglob("*") if path.is_file()} - {*FILES}
    assert others == LISTS | {*LAUNCH.glob("*.yaml")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_it_loads_and_begins_with_its_command(path: Path) -> None:
    """It is valid for its stage; the first line can be pasted into a shell."""
    stage = path.parent.name
    load_settings(STAGES[stage](path), path)
    command = COMMANDS.get(STAGES[stage](path), stage)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    names = (f"configs/{stage}/{path.name}", path.stem)
    assert first in [f"# gradegpt {command} {name}" for name in names]


@pytest.mark.parametrize("path", {p.parent: p for p in FILES}.values(), ids=lambda p: p.parent.name)
def test_an_unknown_key_in_it_would_be_refused(path: Path, tmp_path: Path) -> None:
    """By every stage, so no file has a setting that was renamed in the code."""
    copy = Path(shutil.copytree(path.parent, tmp_path / "configs")) / path.name
    copy.write_text(path.read_text(encoding="utf-8") + "\nno_such_setting: 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="unknown setting 'no_such_setting'"):
        load_settings(STAGES[path.parent.name](path), copy)


def test_a_stage_reads_the_folder_that_the_previous_one_writes() -> None:
    """By the names in the shipped settings."""
    pairs = (
        ("gradegpt-56k", "qwen3-0.6b"),
        ("gradegpt-real", "gradegpt-0.5b"),
        ("gradegpt-short", "gradegpt-1.5b"),
    )
    for rows, recipe in pairs:
        data = load_settings(DataGenSettings, CONFIGS / "data_gen" / f"{rows}.yaml")
        train = load_settings(SFTSettings, CONFIGS / "train" / f"{recipe}.yaml")
        assert (data.kind, train.data) == ("judge", str(data.folder))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_shipped_files_that_it_names_are_there(path: Path) -> None:
    """A file that git ignores is missing in a clone."""
    named = SHIPPED.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if not (CONFIGS.parent / name).exists()] == []
