"""A killed run resumes with the same results, or is refused with the reason.

Here its folder is a copy; test_distributed kills a process.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.records import read_rows, sha256_file, write_rows
from gradegpt.core.schema import TrainingRow
from tests.train.options import QUICK, settings_of
from train.checkpoints import STAMP, Plan, resume_point
from train.plan import estimate
from train.sft import fine_tune

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
ADAPTER = "adapter_model.safetensors"
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def few(judge_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven rows, so six steps of three rows are two and a half passes, and two dev rows."""
    out = tmp_path_factory.mktemp("few")
    rows = list(read_rows(judge_data / "train.jsonl", TrainingRow))
    write_rows(out / "train.jsonl", rows[:7])
    write_rows(out / "dev.jsonl", rows[7:9])
    shutil.copyfile(judge_data / "manifest.json", out / "manifest.json")
    return out


@pytest.fixture(scope="module")
def values(base: Path, few: Path) -> dict[str, Any]:
    """Dropout, a decaying rate, a weighted verdict, accumulation: what a resume could lose."""
    return {
        "name": "x", "data": str(few), "model": str(base / "model"), "max_steps": 6,
        "rows_per_step": 3, "r": 2, "lora_dropout": 0.2, "learning_rate": 0.05,
        "verdict_weight": 3, "eval_strategy": "steps", "eval_steps": 2, "save_steps": 1,
        "metric_for_best_model": "loss",
    }  # fmt: skip


@pytest.fixture(scope="module")
def train(values: dict[str, Any]) -> Run:
    def go(out: Path, **changes: Any) -> dict[str, Any]:
        return fine_tune(settings_of(**(QUICK | values | {"out": str(out)} | changes)))

    return go


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all runs are made, as a trainer's state has absolute paths."""
    return tmp_path_factory.mktemp("place") / "out"


@pytest.fixture(scope="module")
def unbroken(train: Run, place: Path) -> Path:
    """Six steps at once; beside it is what each complete checkpoint would leave to a kill."""
    from train.callbacks import Stamp

    save = Stamp.on_save

    def save_and_copy(self: Any, args: Any, state: Any, control: Any, **rest: Any) -> None:
        save(self, args, state, control, **rest)
        shutil.copytree(place, place.with_name(f"after-{state.global_step}"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stamp, "on_save", save_and_copy)
        train(place)
    return place.rename(place.with_name("unbroken"))


@pytest.fixture
def killed(unbroken: Path, place: Path) -> Iterator[Callable[[int], Path]]:
    """The folder of a run that was killed when the checkpoint of a step was complete."""

    def after(step: int) -> Path:
        shutil.copytree(unbroken.with_name(f"after-{step}"), place)
        assert not (place / "manifest.json").exists()
        return place

    yield after
    shutil.rmtree(place)


def history(out: Path) -> list[tuple[int, str, float]]:
    """Losses, gradient norms and rates by step."""
    state = json.loads((out / "checkpoint-6" / "trainer_state.json").read_text())
    names = ("loss", "grad_norm", "learning_rate", "eval_loss")
    return [(e["step"], n, e[n]) for e in state["log_history"] for n in names if n in e]


@pytest.mark.parametrize(
    ("step", "cut"), [(2, False), (5, True)], ids=["mid-pass, evaluated", "while saving"]
)
def test_a_broken_run_ends_in_the_weights_of_an_unbroken_one(
    step: int,
    cut: bool,
    unbroken: Path,
    killed: Callable[[int], Path],
    train: Run,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They are equal bit for bit: rows, rates, dropout, moments and the best step are restored."""
    out = killed(step)
    if cut:  # the incomplete checkpoint is overwritten
        os.truncate(out / f"checkpoint-{step}" / "optimizer.pt", 100)
        step -= 1
    stamp = out / f"checkpoint-{step}" / STAMP
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"seconds": 6000}))
    manifest = train(out)
    assert f"resuming from step {step}\n" in capsys.readouterr().err
    assert 100 <= manifest["minutes"] < 110  # with those before it was killed
    assert history(out) == history(unbroken)
    for name in ("checkpoint-6", "adapter"):
        assert sha256_file(out / name / ADAPTER) == sha256_file(unbroken / name / ADAPTER)
    assert manifest["best"] == json.loads((unbroken / "manifest.json").read_text())["best"]


def test_the_estimate_counts_what_is_left(
    values: dict[str, Any], killed: Callable[[int], Path]
) -> None:
    """By the last complete checkpoint, in as many steps as the trainer takes."""
    given = QUICK | values | {"out": str(killed(2))}
    assert ", 6 steps, 4 of them left; by estimate" in estimate(settings_of(**given))[0]
    whole = {"max_steps": -1, "num_train_epochs": 4, "rows_per_step": 8}
    more = settings_of(**(given | whole))
    assert more.steps(229) == 116


@pytest.mark.parametrize("damage", ["no stamp", "cut optimizer", "no state", "no adapter"])
def test_an_incomplete_checkpoint_is_skipped(
    damage: str, unbroken: Path, tmp_path: Path, logged: io.StringIO
) -> None:
    """The last complete one is used, with a warning."""
    out = shutil.copytree(unbroken, tmp_path / "out")
    newest = out / "checkpoint-6"
    stamp = json.loads((newest / STAMP).read_text())
    match damage:
        case "no stamp":
            (newest / STAMP).unlink()
        case "cut optimizer":
            os.truncate(newest / "optimizer.pt", 100)
        case "no state":
            (newest / "trainer_state.json").unlink()
        case _:
            (newest / ADAPTER).unlink()
    found = resume_point(out, Plan(stamp["shaping"], stamp["steps"]))
    assert found is not None
    assert (found.step, found.finished) == (5, False)
    assert "checkpoint-6: incomplete" in logged.getvalue()
    for folder in out.glob("checkpoint-*"):
        (folder / STAMP).unlink(missing_ok=True)
    assert resume_point(out, Plan({}, 6)) is None


def test_a_finished_run_is_not_trained_again(unbroken: Path, train: Run, tmp_path: Path) -> None:
    """Missing results are written again from its checkpoints."""
    out = shutil.copytree(unbroken, tmp_path / "out")
    digest = sha256_file(out / "adapter" / ADAPTER)
    before = json.loads((out / "manifest.json").read_text())
    shutil.rmtree(out / "adapter")
    (out / "manifest.json").unlink()
    manifest = train(out)
    assert sha256_file(out / "adapter" / ADAPTER) == digest
    assert (manifest["steps"], manifest["best"]) == (before["steps"], before["best"])
    assert not (out / "checkpoint-7").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"learning_rate": 0.01, "seed": 3}, r"data_seed=0 \(now 3\), sft.learning_rate=0.05"),
     ({"rows_per_step": 2}, r"rows_per_step=3 \(now 2\); resume with the"),
     ({"r": 4}, r"lora\.r=2 \(now 4\)"),
     ({"metric_for_best_model": "verdict_accuracy"}, r"best_model=loss \(now verdict_accuracy"),
     ({"max_steps": 4}, r"steps in all 6 \(now 4\)")],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_other_settings_are_refused(
    changes: dict[str, Any], message: str, unbroken: Path, train: Run, tmp_path: Path
) -> None:
    """The error says what differs and what to do; nothing is changed."""
    with pytest.raises(SettingsError, match=message):
        train(unbroken, **changes)
    assert (unbroken / "manifest.json").is_file()


def test_other_rows_are_refused(unbroken: Path, train: Run, few: Path, tmp_path: Path) -> None:
    """They are detected by the digest of train.jsonl."""
    data = shutil.copytree(few, tmp_path / "data")
    rows = list(read_rows(data / "train.jsonl", TrainingRow))
    write_rows(data / "train.jsonl", rows[::-1])
    with pytest.raises(SettingsError, match=r"was made with train\.jsonl="):
        train(unbroken, data=str(data))
