"""A small data folder and a tiny base, made once for all tests."""

from __future__ import annotations

import gc
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from data_gen.generate import generate
from data_gen.settings import DataGenSettings
from gradegpt.core.records import read_rows, write_rows
from gradegpt.core.schema import TrainingRow
from tests.tiny import train_tokenizer
from tests.train.options import QUICK, settings_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


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
def judge_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rows of prompts and chains, as every run encodes them all."""
    folder = tmp_path_factory.mktemp("judge-data")
    values = {
        "name": "tiny", "out": str(folder), "bank": 0, "parametric": 100, "workers": 1,
        "prompt": {"budget": {"question": 40, "reference": 30, "response": 60}},
    }  # fmt: skip
    generate(DataGenSettings.model_validate(values))
    rows = list(read_rows(folder / "train.jsonl", TrainingRow))
    write_rows(folder / "train.jsonl", rows[:40])
    return folder


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, judge_data: Path) -> Path:
    """A folder with ``model``: a random decoder of two layers, with a tokenizer of 512 tokens."""
    folder = tmp_path_factory.mktemp("base")
    rows = read_rows(judge_data / "train.jsonl", TrainingRow)
    texts = [message.content for row in rows for message in (*row.prompt, *row.completion)]
    write_base(folder / "model", train_tokenizer(texts, vocab_size=512, max_length=2048))
    return folder


def write_base(folder: Path, tokenizer: PreTrainedTokenizerFast, **changes: int) -> None:
    """A random decoder with two layers, other sizes by ``changes``."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    sizes = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16,
        "max_position_embeddings": 2048,
    }  # fmt: skip
    config = Qwen3Config(
        **(sizes | changes), tie_word_embeddings=True, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="session")
def judge_run(tmp_path_factory: pytest.TempPathFactory, base: Path, judge_data: Path) -> Path:
    """A run of ``train`` whose adapter differs from its base, with a checkpoint per step."""
    from train.sft import fine_tune

    out = tmp_path_factory.mktemp("judge-run")
    given = {
        "name": "x", "data": str(judge_data), "model": str(base / "model"), "out": str(out),
        "max_steps": 3, "rows_per_step": 4, "learning_rate": 0.1, "r": 4,
        "save_steps": 1,
    }  # fmt: skip
    fine_tune(settings_of(**(QUICK | given)))
    return out


@pytest.fixture(scope="session")
def tokenizer(base: Path) -> PreTrainedTokenizerFast:
    """The tiny base's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(base / "model")
