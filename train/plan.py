"""Settings of a fine-tuning for this machine, and what it will take: memory, disk and time."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from typing_extensions import override

from gradegpt.engines.files import check_folder
from gradegpt.machine import cpu_has_bf16
from gradegpt.shipped import ADAPTER_CONFIG, adapter_of

from .loading import linear_names, load_errors, load_tokenizer
from .rows import encode_file
from .settings import SFTSettings

_BATCH: Final = 8
_TAGS: Final = {"epochs": 4, "verdict_weight": 4}
_CHAINS: Final = {"epochs": 2, "verdict_weight": 8}
"""With chains each answer is seen three times in a pass, and few of its tokens are a verdict."""
_LEAST_LINE: Final = 512
"""The least tokens of a line of shared prefixes: shorter lines share less."""
_ANY_LENGTH: Final = 10**9
_SMALL: Final = 2**24
"""Parameters up to which all layers are adapted on a CPU, and at a higher rate."""
_USED: Final = 0.4
"""The share of the speed of one matrix product that a training step reaches."""
_PROBE_SECONDS: Final = 0.5


class Shape(NamedTuple):
    """A base's parameters with and without embeddings, its layers and its widths."""

    parameters: int
    body: int
    layers: int
    hidden: int
    inner: int
    linear: int
    """The sum of inputs and outputs of a layer's matrices: LoRA's weights by rank."""


class Estimate(NamedTuple):
    """What a training takes: bytes of memory and disk, and seconds."""

    rows: int
    tokens: int
    steps: int
    memory: float
    disk: float
    seconds: float

    @override
    def __str__(self) -> str:
        """One line for people."""
        minutes = max(1, round(self.seconds / 60))
        took = f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
        return (
            f"training: {self.rows:,} rows, {self.tokens:,} tokens a pass, {self.steps:,} steps; "
            f"by estimate {took}, {self.memory / 1e9:.1f} GB of memory, "
            f"{self.disk / 1e9:.2f} GB of disk"
        )


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` with the other settings, by what this machine has.

    A GPU packs rows, and loads the base in 4 bits where its memory is short. A CPU shares prefixes
    and adapts the later half of the layers, which saves a quarter of a step. A judge to train on
    from keeps its own LoRA settings.
    """
    import torch

    shape = shape_of(given["model"])
    lengths = _lengths(given["model"], given["data"])
    manifest = json.loads((Path(given["data"]) / "manifest.json").read_text(encoding="utf-8"))
    on_gpu, small = torch.cuda.is_available(), shape.parameters <= _SMALL
    settings = {
        **(_CHAINS if manifest["counts"]["chains"] else _TAGS),
        "batch_size": _BATCH,
        "max_length": max(*lengths, _LEAST_LINE),
        "learning_rate": _rate(shape.hidden) / (3 if given["adapter"] else 1),
        "warmup_ratio": 0.05,
        "lora_rank": 16,
        "lora_alpha": 32,
        "best_by": "loss",
        "dev_rows": 0,
        "eval_steps": -(-len(lengths) // _BATCH),
        "save_steps": 20,
        "logging_steps": 5,
        "report_to": "none",
        "save_dtype": "bfloat16",
    }
    if on_gpu:
        free, _ = torch.cuda.mem_get_info()
        short = 3 * shape.parameters > free
        settings |= {"packing": True, "gradient_checkpointing": True, "qlora": short}
        settings["bf16"] = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        half = 0 if small else shape.layers // 2
        settings |= {"share_prefix": True, "group_by_length": False, "lora_layers": half}
    if given["adapter"]:
        settings |= _lora_of(Path(adapter_of(given["adapter"])))
    return settings | dict(given)


def _rate(hidden: int) -> float:
    """The learning rate of LoRA for a model of this width.

    Schulman and Thinking Machines Lab, LoRA Without Regret (2025): ten times the rate of full
    fine-tuning, 5e-5, times (2000 / width) to a power that is 0.775 for Qwen.
    """
    return round(5e-4 * math.pow(2000 / hidden, 0.775), 5)


def _lora_of(folder: Path) -> dict[str, Any]:
    """The LoRA settings of an adapter, as it can only be trained on with these."""
    check_folder(str(folder), "adapter", (ADAPTER_CONFIG,))
    found = json.loads((folder / ADAPTER_CONFIG).read_text(encoding="utf-8"))
    return {
        "lora_rank": found["r"],
        "lora_alpha": found["lora_alpha"],
        "lora_dropout": found["lora_dropout"],
        "lora_layers": len(found["layers_to_transform"] or ()),
        "use_dora": found["use_dora"],
        "use_rslora": found["use_rslora"],
    }


def estimate(settings: SFTSettings) -> Estimate:
    """What a training takes on this machine, from the base's shape and the speed of a product."""
    import torch

    shape = shape_of(settings.model)
    lengths = [n for n in _lengths(settings.model, settings.data) if n <= settings.max_length]
    step_rows = settings.batch_size * settings.gradient_accumulation
    passes = settings.max_steps * step_rows / len(lengths)
    passes = settings.epochs if settings.max_steps <= 0 else passes
    trained = (settings.lora_layers or shape.layers) / shape.layers
    on_gpu = torch.cuda.is_available()
    size = 4 if not settings.bf16 or (not on_gpu and not cpu_has_bf16()) else 2
    again = 1 if settings.gradient_checkpointing else 0
    work = 2 * shape.body * (1 + trained * (1 + again)) * sum(lengths) * passes
    adapter = settings.lora_rank * shape.linear * shape.layers * trained
    line = settings.max_length * (settings.batch_size if not settings.share_prefix else 1)
    kept = line * (10 * shape.hidden + 5 * shape.inner) * shape.layers * trained * size
    weights = shape.parameters * (0.7 if settings.qlora else size)
    return Estimate(
        rows=len(lengths),
        tokens=sum(lengths),
        steps=math.ceil(passes * len(lengths) / step_rows),
        memory=1e9 + weights + 16 * adapter + kept / (10 if again else 1),
        disk=4 * 12 * adapter + 2e8,
        seconds=work / (_USED * _speed(shape.hidden, shape.inner, size, on_gpu=on_gpu)),
    )


@cache
def shape_of(base: str) -> Shape:
    """The shape of a base, from its configuration alone."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with load_errors(base):
        config = AutoConfig.from_pretrained(base, trust_remote_code=False)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
    text = config.get_text_config()
    embeddings = model.get_input_embeddings().weight.numel()
    names = {*linear_names(model)}
    matrices = [
        part
        for name, part in model.named_modules()
        if isinstance(part, torch.nn.Linear) and name.rpartition(".")[2] in names
    ]
    body = sum(part.weight.numel() for part in matrices)
    widths = sum(part.in_features + part.out_features for part in matrices)
    return Shape(
        parameters=body + embeddings,
        body=body,
        layers=text.num_hidden_layers,
        hidden=text.hidden_size,
        inner=text.intermediate_size,
        linear=widths // text.num_hidden_layers,
    )


@cache
def _lengths(base: str, data: str) -> list[int]:
    """The tokens of each training row."""
    tokenizer = load_tokenizer(base)
    rows = encode_file(Path(data) / "train.jsonl", tokenizer, _ANY_LENGTH)
    return [len(row["input_ids"]) for row in rows]


def _speed(hidden: int, inner: int, size: int, *, on_gpu: bool) -> float:
    """The operations a second of a product of a layer's size."""
    import torch

    made = {"dtype": torch.bfloat16 if size == 2 else torch.float32}
    made["device"] = "cuda" if on_gpu else "cpu"
    x, weight = torch.randn(_LEAST_LINE, hidden, **made), torch.randn(hidden, inner, **made)
    started, products = time.perf_counter(), 0
    while (took := time.perf_counter() - started) < _PROBE_SECONDS:
        (x @ weight).sum().item()
        products += 1
    return 2 * _LEAST_LINE * hidden * inner * products / took
