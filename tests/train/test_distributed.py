"""Several processes: the same trajectory as one, and launch files that accelerate understands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from gradegpt.records import read_rows, write_rows
from gradegpt.schema import TrainingRow
from gradegpt.settings import load_settings
from train.callbacks import STAMP
from train.settings import SFTSettings
from train.sft import fine_tune

# PEFT and TRL use transformers' old names for itinternally.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)

ROOT: Final = Path(__file__).parents[2]
LAUNCH: Final = ROOT / "configs" / "accelerate"
FILES: Final = sorted(LAUNCH.glob("*.yaml"))
STEPS: Final = 5
SAME: Final = (
    "name=same", f"max_steps={STEPS}", "learning_rate=1e-2", "lora_rank=4", "bf16=false",
    "threads=1", "eval_steps=0", "dev_rows=0", "best_by=loss", "logging_steps=1", "report_to=none",
    "verdict_weight=4", "lr_scheduler=constant",
)  # fmt: skip


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


def settings(base: Path, data: Path, out: Path, *more: str) -> SFTSettings:
    """Rows of very different weight, at a rate that moves the weights."""
    file = out.parent / "run.yaml"
    given = (*SAME, f"model={base / 'model'}", f"data={data}", f"out={out}", *more)
    file.write_text("\n".join(line.replace("=", ": ", 1) for line in given), encoding="utf-8")
    return load_settings(SFTSettings, file)


def log_of(out: Path) -> list[dict[str, Any]]:
    """The logged values of each step."""
    state = json.loads((out / f"checkpoint-{STEPS}" / "trainer_state.json").read_text())
    return [entry for entry in state["log_history"] if "grad_norm" in entry]


def test_two_processes_follow_the_trajectory_of_one(
    base: Path, uneven: Path, tmp_path: Path
) -> None:
    """Each step has the same rows, loss and gradient.

    Also with two passes per step, to combine accumulation, processes and the verdict's weight.
    """
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    fine_tune(settings(base, uneven, tmp_path / "one" / "out", "batch_size=4"))
    halves = ("batch_size=1", "gradient_accumulation=2")
    settings(base, uneven, tmp_path / "two" / "out", *halves)
    # What accelerate launch does on GPUs; on CPUs it always starts one process.
    run = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
            "-m", "gradegpt", "train", str(tmp_path / "two" / "run.yaml"),
        ],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    one, two = log_of(tmp_path / "one" / "out"), log_of(tmp_path / "two" / "out")
    assert len(one) == len(two) == STEPS
    for a, b in zip(one, two, strict=True):
        for name in ("loss", "grad_norm", "num_input_tokens_seen"):
            assert b[name] == pytest.approx(a[name], rel=1e-4), (a["step"], name)
    assert len({entry["loss"] for entry in one}) == STEPS
    stamps = [tmp_path / name / "out" / f"checkpoint-{STEPS}" / STAMP for name in ("one", "two")]
    rows = [json.loads(stamp.read_text())["shaping"]["rows_per_step"] for stamp in stamps]
    assert rows == [4, 4]


# --- launch files ---------------------------------------------------------------------------------


def test_there_is_a_launch_file_for_each_way() -> None:
    """The other tests would pass with an empty glob."""
    assert {path.stem for path in FILES} == {"ddp", "fsdp", "deepspeed-zero3"}


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
