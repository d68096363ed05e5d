"""A tiny data folder of each kind and a tiny base, made once by the project's code."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from data_gen.generate import generate
from data_gen.settings import DataGenSettings
from gradegpt.records import read_rows, write_rows
from gradegpt.schema import TrainingRow
from train.settings import BaseSettings, SFTSettings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

Tiny = Callable[..., BaseSettings]
_TINY: Final[dict[str, Any]] = {
    "name": "tiny", "vocab_size": 512, "hidden_size": 32, "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2, "head_dim": 16, "batch_tokens": 1024, "max_steps": 4,
    "warmup_steps": 2, "bf16": False,
    "threads": 1, "eval_every": 2, "save_every": 2,
}  # fmt: skip


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Small matrices gain nothing from a second thread, and the suite may share its cores."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    logging.getLogger("transformers").setLevel(logging.ERROR)


@pytest.fixture(autouse=True, scope="module")
def _no_garbage_of_packages() -> None:
    """Training collects garbage in every run, which need not visit what earlier files loaded."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    """Settings of a base that trains in a second, with changes."""

    def make(data: Path, out: Path, **changes: Any) -> BaseSettings:
        return BaseSettings.model_validate({**_TINY, "data": str(data), "out": str(out), **changes})

    return make


def _data(folder: Path, kind: str, **changes: Any) -> Path:
    prompt = {"budget": {"question": 40, "reference": 30, "response": 60}}
    values = {
        "name": kind,
        "out": str(folder),
        "kind": kind,
        "bank": 0,
        "parametric": 100,
        "prompt": prompt,
        "workers": 1,
        "card": False,
        "quality": {"artifact_probe": False},
    }
    generate(DataGenSettings.model_validate(values | changes))
    return folder


@pytest.fixture(scope="session")
def base_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of the pre-training mixture."""
    return _data(tmp_path_factory.mktemp("base-data"), "base")


@pytest.fixture(scope="session")
def judge_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rows of prompts and chains, as every run encodes them all."""
    folder = _data(tmp_path_factory.mktemp("judge-data"), "judge", drills=6)
    rows = list(read_rows(folder / "train.jsonl", TrainingRow))
    write_rows(folder / "train.jsonl", rows[:40])
    return folder


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, base_data: Path, tiny: Tiny) -> Path:
    """A run of ``train.base``: its output folder."""
    from train.base import pretrain

    out = tmp_path_factory.mktemp("base")
    pretrain(tiny(base_data, out))
    return out


@pytest.fixture(scope="session")
def judge_run(tmp_path_factory: pytest.TempPathFactory, base: Path, judge_data: Path) -> Path:
    """A run of ``train`` whose adapter differs from its base, with a checkpoint per step."""
    from train.sft import fine_tune

    out = tmp_path_factory.mktemp("judge-run")
    settings = SFTSettings(
        name="x", data=str(judge_data), model=str(base / "model"), out=str(out), max_steps=3,
        batch_size=4, learning_rate=0.1, lora_rank=4, bf16=False, threads=1, eval_steps=0,
        save_steps=1, dev_rows=0, best_by="loss", report_to="none",
    )  # fmt: skip
    fine_tune(settings)
    return out


@pytest.fixture(scope="session")
def tokenizer(base: Path) -> PreTrainedTokenizerFast:
    """The tiny base's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(base / "model")
