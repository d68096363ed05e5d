"""Settings of a fine-tuning for this machine, and what it will take: memory, disk and time."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.core.shipped import ADAPTER_CONFIG, adapter_of
from gradegpt.engines.encoder import LONGEST
from gradegpt.engines.files import load_errors
from gradegpt.engines.local import quiet_start

from .checkpoints import last_complete
from .loading import compute_type, is_encoder, linear_names, load_tokenizer
from .rows import encode_file
from .settings import OF_ADAPTER, SFTSettings

_TAGS: Final = (4, 4)
"""Passes over the rows, and the weight of a verdict."""
_CHAINS: Final = (2, 8)
"""With chains each answer is seen three times in a pass, and few of its tokens are a verdict."""
_LEAST_LINE: Final = 512
"""The least tokens of a line of shared prefixes: shorter lines share less."""
_SMALL: Final = 2**24
"""Parameters up to which, on a CPU, all layers are adapted, in float32 and in longer lines: the
time of a step is that of starting its operations."""
_SMALL_LINE: Final = 2048
_USED: Final = 0.4
"""The share of the speed of one matrix product that a training step reaches."""


class Shape(NamedTuple):
    """A base: parameters without embeddings and in all, layers, widths, LoRA weights by rank."""

    body: int
    parameters: int
    layers: int
    hidden: int
    inner: int
    lora: int


def chosen(given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``given`` with the other settings, by what this machine has.

    A GPU loads the base in 4 bits where its memory is short. A CPU shares prefixes
    and adapts the later half of the layers, which saves a quarter of a step. A judge to train on
    from keeps its own LoRA settings.
    """
    import torch

    shape, lengths = shape_of(given["model"]), _lengths(given["model"], given["data"])
    manifest = json.loads((Path(given["data"]) / "manifest.json").read_text(encoding="utf-8"))
    passes, weight = _CHAINS if manifest["counts"]["chains"] else _TAGS
    sft: dict[str, Any] = {
        "seed": seed, "num_train_epochs": passes,
        "max_length": max(*lengths, _LEAST_LINE), "warmup_steps": 0.05,
        # The rate of LoRA by the width (Schulman and Thinking Machines Lab, LoRA Without Regret,
        # 2025): ten times that of full fine-tuning, 5e-5, times a power that is Qwen's.
        "learning_rate": round(5e-4 * math.pow(2000 / shape.hidden, 0.775), 5),
        # The last step: on few rows the loss rises with certainty while the order still improves.
        "eval_strategy": "no", "save_steps": 20, "logging_steps": 0.05, "report_to": "none",
    }  # fmt: skip
    lora: dict[str, Any] = {}
    settings = {
        "verdict_weight": weight, "save_dtype": "bfloat16", "rows_per_step": 8
    }  # fmt: skip
    free = torch.cuda.mem_get_info()[0] if torch.cuda.is_available() else None
    if free is not None:
        settings["qlora"] = 3 * shape.parameters > free and not is_encoder(given["model"])
        sft["bf16"] = torch.cuda.is_bf16_supported(including_emulation=False)
    elif not is_encoder(given["model"]):
        settings["share_prefix"], sft["train_sampling_strategy"] = True, "random"
        if shape.parameters > _SMALL:
            lora["layers_to_transform"] = [*range(shape.layers - shape.layers // 2, shape.layers)]
        else:
            sft |= {"bf16": False, "max_length": max(sft["max_length"], _SMALL_LINE)}
    if given["adapter"]:
        folder = Path(adapter_of(given["adapter"]))
        found = json.loads((folder / ADAPTER_CONFIG).read_text(encoding="utf-8"))
        lora = {name: found[name] for name in OF_ADAPTER}
        sft["learning_rate"] /= 3
    made = settings | dict(given) | {"sft": sft, "lora": lora}
    if free is not None:
        # Of narrow bases all activations take up to 1.7 times the estimate, by trace.
        needed = 1.7 * _memory(SFTSettings.model_validate(made), shape)
        sft["gradient_checkpointing"] = needed > free
    return made


def estimate(settings: SFTSettings) -> tuple[str, float]:
    """What is left of a training takes on this machine, in one line, and the bytes of disk."""
    shape, sft = shape_of(settings.model), settings.sft
    lengths = [n for n in _lengths(settings.model, settings.data) if n <= sft["max_length"]]
    steps = settings.steps(len(lengths))
    found = last_complete(settings.folder)
    left = max(0, steps - (found[0].step if found else 0))
    trained = _trained(settings, shape)
    tokens = sum(lengths) * left * settings.rows_per_step / len(lengths)
    passes = 1 + trained * (2 if sft["gradient_checkpointing"] else 1)
    seconds = 2 * shape.body * passes * tokens / (_USED * _speed(shape, compute_type(settings)))
    memory = _memory(settings, shape)
    disk = (
        4 * 12 * settings.lora["r"] * shape.lora * trained + 2e8
    )  # four checkpoints in float32 with two moments, and the reports
    took = f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
    took = took if seconds >= 60 else "less than a minute"
    begun = f", {left:,} of them left" if left < steps else ""
    return (
        f"training: {len(lengths):,} rows, {sum(lengths):,} tokens a pass, {steps:,} steps{begun}; "
        f"by estimate {took}, {memory / 1e9:.1f} GB of memory, {disk / 1e9:.2f} GB of disk"
    ), disk


def _memory(settings: SFTSettings, shape: Shape) -> float:
    """The bytes that a training takes at its peak, where every row is as long as the longest."""
    kind, trained = compute_type(settings), _trained(settings, shape)
    rows = 1 if settings.share_prefix else settings.passes(1)[0]
    line = settings.sft["max_length"] * rows
    kept = line * (10 * shape.hidden + 5 * shape.inner) * shape.layers * trained * kind.itemsize
    weights = shape.parameters * (0.7 if settings.qlora else kind.itemsize)
    # Itself, its gradient and two moments: TRL keeps them in bfloat16 on 4-bit weights.
    adapter = settings.lora["r"] * shape.lora * trained * (8 if settings.qlora else 16)
    memory = 1e9 + weights + adapter + kept / (10 if settings.sft["gradient_checkpointing"] else 1)
    return float(memory)


def _trained(settings: SFTSettings, shape: Shape) -> float:
    """The share of the layers that have an adapter."""
    layers = settings.lora.get("layers_to_transform") or range(shape.layers)
    return len(layers) / shape.layers


@cache
def shape_of(base: str) -> Shape:
    """The shape of a base, from its configuration alone."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification

    kind = AutoModelForSequenceClassification if is_encoder(base) else AutoModelForCausalLM
    with load_errors(base), torch.device("meta"):
        config = AutoConfig.from_pretrained(base, trust_remote_code=False)
        model = kind.from_config(config)
    names, text = linear_names(model), config.get_text_config()
    parts = [p for n, p in model.named_modules() if n.rpartition(".")[2] in names]
    body = sum(p.weight.numel() for p in parts)
    return Shape(
        body, body + model.get_input_embeddings().weight.numel(), text.num_hidden_layers,
        text.hidden_size, text.intermediate_size, sum(p.in_features + p.out_features for p in parts)
    )  # fmt: skip


@cache
def _lengths(base: str, data: str) -> list[int]:
    """The tokens of each training row."""
    from transformers import AutoTokenizer

    quiet_start()
    from .encoder import encoder_rows

    path = Path(data) / "train.jsonl"
    if is_encoder(base):
        rows = encoder_rows(path, AutoTokenizer.from_pretrained(base), LONGEST)
    else:
        rows = encode_file(path, load_tokenizer(base), 10**9)
    return [len(row["input_ids"]) for row in rows]


def _speed(shape: Shape, kind: Any) -> float:
    """The operations a second of products of a layer's size, over half a second."""
    import torch

    made = {"dtype": kind, "device": "cuda" if torch.cuda.is_available() else "cpu"}
    x, weight = (torch.ones(n, shape.hidden, **made) for n in (_LEAST_LINE, shape.inner))
    started, products = time.perf_counter(), 0
    while (took := time.perf_counter() - started) < 0.5:
        (x @ weight.t())[0, 0].item()
        products += 1
    return 2 * _LEAST_LINE * shape.hidden * shape.inner * products / took
