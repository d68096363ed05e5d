"""Averaging: the mean of the last checkpoints of a run, as an adapter like any other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from gradegpt.engines.files import prompt_settings_beside
from gradegpt.engines.local import LocalEngine
from gradegpt.errors import InputError, MissingError, OutputError
from gradegpt.records import sha256_file
from gradegpt.schema import Message
from train.average import average
from train.merge import WEIGHTS

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, judge_run: Path) -> Path:
    """Three steps, each with its checkpoint, and one incomplete checkpoint."""
    return Path(shutil.copytree(judge_run, tmp_path_factory.mktemp("to-average") / "run"))


def test_the_mean_of_the_last_checkpoints_is_an_adapter(
    run: Path, base: Path, tmp_path: Path
) -> None:
    """It is the mean of the requested checkpoints, and loads as the run's own adapter does."""
    manifest = average(run, tmp_path / "mean", last=2)
    assert manifest["steps"] == [2, 3]
    assert json.loads((tmp_path / "mean" / "manifest.json").read_text()) == manifest
    second, third = (load_file(run / f"checkpoint-{n}" / WEIGHTS) for n in (2, 3))
    mean = load_file(tmp_path / "mean" / WEIGHTS)
    assert mean.keys() == third.keys()
    assert any(not second[name].equal(third[name]) for name in mean)
    for name, value in mean.items():
        assert value.allclose((second[name] + third[name]) / 2)
    settings = prompt_settings_beside(str(tmp_path / "mean"))
    assert settings == prompt_settings_beside(str(run / "adapter")) is not None
    engine = LocalEngine(str(base / "model"), str(tmp_path / "mean"), threads=1)
    prompts = [[Message(role="user", content="Is 1 the same as 1?")]]
    made = engine.generate(prompts, max_new_tokens=2)
    assert len(made) == 1


def test_where_the_run_began_counts_as_much_as_all_checkpoints(run: Path, tmp_path: Path) -> None:
    """The manifest has its digest; another shape is refused, and nothing is written."""
    before = tmp_path / "before"
    shutil.copytree(run / "checkpoint-1", before)
    manifest = average(run, tmp_path / "both", last=2, before=before)
    assert manifest["before"] == sha256_file(before / WEIGHTS)
    first, second, third = (load_file(run / f"checkpoint-{n}" / WEIGHTS) for n in (1, 2, 3))
    for name, value in load_file(tmp_path / "both" / WEIGHTS).items():
        assert value.allclose(first[name] / 2 + (second[name] + third[name]) / 4)
    save_file({name: value[:1] for name, value in first.items()}, before / WEIGHTS)
    with pytest.raises(InputError, match="its matrices differ in shape from those of"):
        average(run, tmp_path / "none", last=2, before=before)
    (before / WEIGHTS).unlink()
    with pytest.raises(MissingError, match="does not exist; give an adapter"):
        average(run, tmp_path / "none", last=2, before=before)
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_averaged_is_an_error(run: Path, tmp_path: Path) -> None:
    """There are too few complete checkpoints, or the run has not ended; nothing is written."""
    out = tmp_path / "out"
    with pytest.raises(
        MissingError, match="has 3 complete checkpoints, not 4; ask for fewer with --last"
    ):
        average(run, out, last=4)
    with pytest.raises(
        MissingError, match=r"adapter_config\.json: does not exist; give the folder of"
    ):
        average(run / "checkpoint-1", out)
    weights = run / "checkpoint-2" / WEIGHTS
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1])
    with pytest.raises(MissingError, match="has 2 complete checkpoints, not 3"):
        average(run, out)
    assert average(run, tmp_path / "both", last=2)["steps"] == [1, 3]
    weights.write_bytes(whole)
    assert not out.exists()
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(OutputError, match="exists already; choose another folder"):
        average(run, out)
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
