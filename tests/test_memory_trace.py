"""The trace of a recipe's memory: on one GPU and in shards, and of few layers for many."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks.memory import CONFIGS, SHAPES, Traced, config_of, predicted, traced
from gradegpt.core.settings import load_settings
from train.settings import SFTSettings

pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)
TINY = config_of("tiny", num_hidden_layers=1, vocab_size=512)


def settings(*changes: str) -> SFTSettings:
    """A recipe for short rows."""
    return load_settings(SFTSettings, CONFIGS / "qwen3-0.6b.yaml", ["sft.max_length=64", *changes])


@pytest.fixture(scope="module")
def whole() -> Traced:
    """The tiny base on one GPU."""
    return traced(settings(), TINY)


def test_the_trace_counts_what_is_trained_and_holds_at_least_the_weights(whole: Traced) -> None:
    """Rank 32 on the seven layers; the base in 2 bytes, the adapter in 16 with its moments."""
    hidden, inner, keys = 64, 128, 32
    ends = 2 * 2 * hidden + 2 * (hidden + keys) + 3 * (hidden + inner)
    assert whole.trainable == 32 * ends
    base = whole.parameters - whole.trainable
    assert whole.peak > 2 * base + 16 * whole.trainable


def test_a_gpu_holds_less_in_shards(whole: Traced) -> None:
    """On eight, of which each has an eighth of the rows, weights and moments."""
    shards = traced(settings(), TINY, 8)
    assert shards[1:] == whole[1:]
    saved = 7 / 8 * (2 * (whole.parameters - whole.trainable) + 12 * whole.trainable)
    assert whole.peak - shards.peak > 0.5 * saved


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 8])
def test_layers_that_are_not_traced_take_as_much(processes: int) -> None:
    """Six layers, by two and four, and traced themselves."""
    found = predicted(settings(), "tiny", processes)
    assert found == traced(settings(), config_of("tiny"), processes)


def test_every_base_of_a_recipe_for_gpus_has_its_shape() -> None:
    """And the shipped judges' bases."""
    bases = {load_settings(SFTSettings, path, ()).model for path in CONFIGS.glob("*.yaml")}
    assert bases <= SHAPES.keys()


@pytest.mark.slow
def test_the_measurement_for_a_gpu_runs_dry() -> None:
    """On tiny shapes: the local engine, a recipe in 16 bits and one in 4."""
    pytest.importorskip("bitsandbytes")
    names = ["qwen3-0.6b", "qwen3-0.6b-qlora"]
    ran = subprocess.run(
        ["scripts/gpu.sh", "--tiny", *names], cwd=CONFIGS.parents[1], check=True,
        capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable},
    )  # fmt: skip
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line.get("recipe", "engine") for line in lines] == ["engine", *names]
    assert not any("failed" in line for line in lines), lines
