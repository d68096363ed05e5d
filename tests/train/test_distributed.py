"""Processes: several follow the trajectory of one, and launch files start them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from gradegpt.core.records import read_rows, sha256_file, write_rows
from gradegpt.core.schema import TrainingRow
from gradegpt.core.settings import load_settings
from tests.train.options import QUICK, settings_of
from tests.train.processes import (
    LIMIT_S,
    exit_codes,
    free_port,
    train_and_die,
    train_as_one_of,
    train_in_shards,
    train_with_deepspeed,
)
from train.checkpoints import STAMP
from train.settings import SFTSettings
from train.sft import fine_tune

# PEFT and TRL use transformers' old names for itinternally.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)

ROOT: Final = Path(__file__).parents[2]
LAUNCH: Final = ROOT / "configs" / "accelerate"
FILES: Final = [LAUNCH / f"{name}.yaml" for name in ("ddp", "fsdp", "deepspeed-zero3")]
STEPS: Final = 5
SAME: Final = {
    "name": "same", "max_steps": STEPS, "learning_rate": 1e-3, "r": 4, "verdict_weight": 4,
    "lr_scheduler_type": "constant", "save_steps": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory, judge_data: Path) -> Path:
    """Rows of different lengths, so that processes count different numbers of supervised tokens."""
    folder = tmp_path_factory.mktemp("uneven")
    rows = list(read_rows(judge_data / "train.jsonl", TrainingRow))
    rows.sort(key=lambda row: len(row.completion[-1].content))
    write_rows(folder / "train.jsonl", [*rows[:10], *rows[-10:]])
    write_rows(folder / "dev.jsonl", rows[:2])
    (folder / "manifest.json").write_bytes((judge_data / "manifest.json").read_bytes())
    return folder


def write_settings(base: Path, data: Path, out: Path, a_pass: int = 4) -> Path:
    """Rows of very different weight, at a rate that moves the weights: the file of a run."""
    file = out.with_name(f"{out.name}.yaml")
    given = {
        "model": str(base / "model"), "data": str(data), "out": str(out),
        "rows_per_step": 4, "per_device_train_batch_size": a_pass,
    }  # fmt: skip
    file.write_text(settings_of(**(QUICK | SAME | given)).model_dump_json(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory, base: Path, uneven: Path) -> Path:
    """A run of one process: its output folder."""
    out = tmp_path_factory.mktemp("one") / "out"
    fine_tune(load_settings(SFTSettings, write_settings(base, uneven, out)))
    return out


def log_of(out: Path) -> list[dict[str, Any]]:
    """The logged values of each step."""
    state = json.loads((out / f"checkpoint-{STEPS}" / "trainer_state.json").read_text())
    return [entry for entry in state["log_history"] if "grad_norm" in entry]


@pytest.mark.slow
def test_two_processes_follow_the_trajectory_of_one(
    one: Path, base: Path, uneven: Path, tmp_path: Path
) -> None:
    """Each step has the same rows, loss and gradient.

    Also with two passes per step, to combine accumulation, processes and the verdict's weight.
    """
    file = write_settings(base, uneven, tmp_path / "two", 1)
    port = free_port()
    assert exit_codes(train_as_one_of, [(rank, 2, port, file) for rank in (0, 1)]) == [0, 0]
    logs = log_of(one), log_of(tmp_path / "two")
    assert len(logs[0]) == len(logs[1]) == STEPS
    for a, b in zip(*logs, strict=True):
        for name in ("loss", "grad_norm", "num_input_tokens_seen"):
            assert b[name] == pytest.approx(a[name], rel=1e-4), (a["step"], name)
    assert len({entry["loss"] for entry in logs[0]}) == STEPS
    stamps = [out / f"checkpoint-{STEPS}" / STAMP for out in (one, tmp_path / "two")]
    rows = [json.loads(stamp.read_text())["shaping"]["rows_per_step"] for stamp in stamps]
    assert rows == [4, 4]


@pytest.mark.slow
def test_two_processes_with_fsdp2_follow_the_trajectory_of_one(
    one: Path, base: Path, uneven: Path, tmp_path: Path
) -> None:
    """With the weights in shards, as the launch file says: the same losses and gradients."""
    check_shards(one, base, uneven, tmp_path / "shards", train_in_shards, "fsdp")


@pytest.mark.slow
def test_two_processes_with_deepspeed_follow_the_trajectory_of_one(
    one: Path, base: Path, uneven: Path, tmp_path: Path
) -> None:
    """With ZeRO-3, as the launch file says; needs pip install deepspeed."""
    pytest.importorskip("deepspeed")
    check_shards(one, base, uneven, tmp_path / "zero", train_with_deepspeed, "deepspeed-zero3")


def check_shards(
    one: Path, base: Path, data: Path, out: Path, train: Callable[..., None], launch: str
) -> None:
    """Two processes that share the weights have the losses and gradients of one, and save all."""
    file, port = write_settings(base, data, out), free_port()
    given = [(rank, 2, port, file, LAUNCH / f"{launch}.yaml") for rank in (0, 1)]
    assert exit_codes(train, given) == [0, 0]
    for a, b in zip(log_of(one), log_of(out), strict=True):
        for name in ("loss", "grad_norm", "num_input_tokens_seen"):
            assert b[name] == pytest.approx(a[name], rel=1e-4), (a["step"], name)
    adapters = [run / "adapter" / "adapter_model.safetensors" for run in (one, out)]
    assert adapters[0].stat().st_size == adapters[1].stat().st_size


@pytest.mark.slow
def test_a_killed_process_loses_nothing(
    one: Path, base: Path, uneven: Path, tmp_path: Path
) -> None:
    """It gets SIGKILL as soon as the second checkpoint is complete; test_resume stops elsewhere."""
    file = write_settings(base, uneven, tmp_path / "killed")
    assert exit_codes(train_and_die, [(file, 2)]) == [-signal.SIGKILL]
    assert not (tmp_path / "killed" / "adapter").exists()
    fine_tune(load_settings(SFTSettings, file))
    adapters = [out / "adapter" / "adapter_model.safetensors" for out in (one, tmp_path / "killed")]
    assert sha256_file(adapters[0]) == sha256_file(adapters[1])


@pytest.mark.slow
def test_torchrun_restarts_a_run_whose_process_was_killed(
    one: Path, base: Path, uneven: Path, tmp_path: Path
) -> None:
    """One of two gets SIGKILL at its third step; both are started again and go on from there."""
    file = write_settings(base, uneven, tmp_path / "elastic")
    torchrun = (
        sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=1",
        f"--master-port={free_port()}", "-m", "tests.train.processes", str(file), "3",
    )  # fmt: skip
    # Without it gloo sometimes waits for ever for the processes of the first start.
    lazy = {"TORCH_GLOO_LAZY_INIT": "1", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        torchrun, cwd=ROOT, env={**os.environ, **lazy}, check=False,
        capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "(exitcode: -9) local_rank: 1" in ran.stderr
    for a, b in zip(log_of(one), log_of(tmp_path / "elastic"), strict=True):
        assert b["loss"] == pytest.approx(a["loss"], rel=1e-4), a["step"]


# --- launch files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_accelerate_knows_every_key_of_a_launch_file(path: Path) -> None:
    """Top-level keys are checked by its class, nested keys by its command's options."""
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    config = load_config_from_file(str(path))
    options = vars(launch_command_parser().parse_args(["x"]))
    for name, value in (config.fsdp_config | config.deepspeed_config).items():
        assert name in options, name
        assert value is not None, name
    assert config.num_machines == 1
    assert config.mixed_precision == "bf16"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_launch_file_opens_with_its_command(path: Path) -> None:
    """The command names an existing recipe."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    command, _, recipe = first.rpartition(" ")
    launch = f"accelerate launch --config_file configs/accelerate/{path.name}"
    assert command == f"# {launch} -m gradegpt train"
    load_settings(SFTSettings, ROOT / recipe)


def test_the_fsdp_file_is_version_two_and_its_values_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The class that reads the launcher's environment variables accepts them."""
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.utils import FullyShardedDataParallelPlugin

    for name, value in load_config_from_file(str(LAUNCH / "fsdp.yaml")).fsdp_config.items():
        monkeypatch.setenv(name.upper(), str(value).lower() if value is True else str(value))
    plugin = FullyShardedDataParallelPlugin()
    assert (plugin.fsdp_version, plugin.reshard_after_forward) == (2, True)
    assert plugin.cpu_ram_efficient_loading
    assert plugin.auto_wrap_policy.__name__ == "transformer_auto_wrap_policy"
