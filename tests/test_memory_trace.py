"""The trace of a recipe's memory: on one GPU and in shards, and of few layers for many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradegpt.core.settings import load_settings
from train.settings import SFTSettings

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs" / "train"


@pytest.fixture(scope="module")
def memory() -> Any:
    """The benchmark, whose import of PyTorch takes long."""
    return pytest.importorskip("benchmarks.memory")


def settings(*changes: str) -> SFTSettings:
    """A recipe for short rows."""
    return load_settings(SFTSettings, CONFIGS / "qwen3-0.6b.yaml", ["sft.max_length=64", *changes])


@pytest.fixture(scope="module")
def tiny(memory: Any) -> Any:
    """A base of one layer and few tokens."""
    return memory.config_of("tiny", num_hidden_layers=1, vocab_size=512)


@pytest.fixture(scope="module")
def whole(memory: Any, tiny: Any) -> Any:
    """The tiny base on one GPU."""
    return memory.traced(settings(), tiny)


def test_the_trace_counts_what_is_trained_and_holds_at_least_the_weights(whole: Any) -> None:
    """Rank 32 on the seven layers; the base in 2 bytes, the adapter in 16 with its moments."""
    hidden, inner, keys = 64, 128, 32
    ends = 2 * 2 * hidden + 2 * (hidden + keys) + 3 * (hidden + inner)
    assert whole.trainable == 32 * ends
    base = whole.parameters - whole.trainable
    assert whole.peak > 2 * base + 16 * whole.trainable


@pytest.mark.parametrize("qlora", [False, True])
def test_an_adapter_beside_weights_in_four_bits_is_in_two_bytes(
    memory: Any, tiny: Any, qlora: bool
) -> None:
    """As TRL has it; else it is in four. The base is in two."""
    held = memory._on_meta(settings(f"qlora={qlora}"), tiny).named_parameters()
    sizes = {("lora_" in name, each.dtype.itemsize) for name, each in held}
    assert sizes == {(False, 2), (True, 2 if qlora else 4)}


def test_a_gpu_holds_less_in_shards(memory: Any, tiny: Any, whole: Any) -> None:
    """On eight, of which each has an eighth of the rows, weights and moments."""
    shards = memory.traced(settings(), tiny, 8)
    assert shards[1:] == whole[1:]
    saved = 7 / 8 * (2 * (whole.parameters - whole.trainable) + 12 * whole.trainable)
    assert whole.peak - shards.peak > 0.5 * saved


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 8])
def test_layers_that_are_not_traced_take_as_much(memory: Any, processes: int) -> None:
    """Six layers, by two and four, and traced themselves."""
    found = memory.predicted(settings(), "tiny", processes)
    assert found == memory.traced(settings(), memory.config_of("tiny"), processes)


def test_every_base_of_a_recipe_for_gpus_has_its_shape(memory: Any) -> None:
    """And the shipped judges' bases."""
    bases = {load_settings(SFTSettings, path, ()).model for path in CONFIGS.glob("*.yaml")}
    assert bases <= memory.SHAPES.keys()


@pytest.mark.slow
def test_the_measurement_for_a_gpu_runs_dry() -> None:
    """On tiny shapes: the local engine, a recipe in 16 bits and one in 4."""
    pytest.importorskip("bitsandbytes")
    names = ["qwen3-0.6b", "qwen3-0.6b-qlora"]
    ran = subprocess.run(
        ["scripts/gpu.sh", "--tiny", *names], cwd=ROOT, check=True,
        capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable},
    )  # fmt: skip
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line.get("recipe", "engine") for line in lines] == ["engine", *names]
    assert not any("failed" in line for line in lines), lines
