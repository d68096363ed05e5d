"""Five steps of each recipe on a GPU, on random weights of the true shape, beside the trace.

    scripts/gpu.sh [--tiny] [RECIPE ...]

A line of JSON each: seconds of a step, tokens a second, the share of the GPU's peak in operations,
the most memory that was allocated, and what ``benchmarks.memory`` traced. Before them the local
engine: rows a second, tags alone and with chains. Each part runs in a process of its own, so that
one that fails or lacks memory ends no other. ``--tiny``: small shapes, on any machine.
"""
# ruff: noqa: TID253  nothing else runs here

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from typing import Any, Final

import torch
from datasets import Dataset
from torch.nn import Linear
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.memory import CHAIN, CONFIGS, config_of
from gradegpt.chains.chain import PromptSettings
from gradegpt.core.schema import Item
from gradegpt.core.settings import load_settings
from gradegpt.engines.local import LocalEngine, quiet_start
from gradegpt.judges.model import ModelJudge
from train import sft
from train.checkpoints import Plan
from train.rows import IGNORED
from train.settings import SFTSettings

STEPS: Final = 5
RECIPES: Final = tuple(
    f"qwen3-{size}{kind}" for size in ("0.6b", "1.7b", "4b", "8b", "14b") for kind in ("", "-qlora")
)
TINY: Final = ("sft.max_length=64", "rows_per_step=4", "sft.per_device_train_batch_size=2")
TOKENIZER: Final = CONFIGS.parents[1] / "models" / "gradegpt-nano"
JUDGE: Final = "Qwen/Qwen2.5-Coder-1.5B-Instruct"
PEAKS: Final = {
    "H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L40": 181e12, "4090": 165e12,
}  # fmt: skip
"""Products of bfloat16 a second without sparsity, by NVIDIA's data sheets."""
LIMIT_S: Final = 150


def trained(name: str, *, tiny: bool) -> dict[str, Any]:
    """Train ``STEPS`` steps of a recipe, of one pass each; what they took."""
    changes = [
        f"sft.max_steps={STEPS}", "sft.eval_strategy=no", "dev_rows=0", "sft.report_to=none",
        "sft.logging_steps=1", f"sft.save_steps={10**9}", *(TINY if tiny else ()),
    ]  # fmt: skip
    recipe = CONFIGS / f"{name}.yaml"
    settings = load_settings(SFTSettings, recipe, changes)
    base, rows = "tiny" if tiny else settings.model, settings.passes(1)[0]
    with tempfile.TemporaryDirectory() as out:
        settings = settings.model_copy(update={"rows_per_step": rows, "out": out})
        model = random_base(base, qlora=settings.qlora)
        tokenizer = AutoTokenizer.from_pretrained(TOKENIZER)
        length, size = settings.sft["max_length"], rows * STEPS
        parts = {"train": random_rows(length, size, 256), "dev": random_rows(length, 1, 256)}
        trainer = sft._trainer(settings, tokenizer, model, parts, Plan({}, STEPS))
        run = sft._train(trainer, None)
    rate = run.tokens_per_second
    assert rate is not None, "it trained"
    # Two passes forward, as layers are recomputed, and one back to their inputs alone.
    work = 2 * run.parameters[1] * (3 if settings.sft["gradient_checkpointing"] else 2)
    used = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return {
        "recipe": name, "device": device(), "rows": rows, "length": length,
        "step_s": round(rows * length / rate, 3), "tokens_per_s": round(rate),
        "share_of_peak": round(rate * work / peak, 3) if (peak := peak_of(device())) else None,
        "memory_gb": round(used / 1e9, 1), "loss": run.metrics["train_loss"],
        "traced_gb": re.findall(r"Memory: (\S+) GB", recipe.read_text(encoding="utf-8")),
    }  # fmt: skip


def random_base(base: str, *, qlora: bool) -> Any:
    """A base of random weights, in 4 bits where the recipe wants that."""
    where = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(where):
        model = AutoModelForCausalLM.from_config(config_of(base), dtype=torch.bfloat16)
    if qlora:
        in_four_bits(model, where)
    return model


def in_four_bits(model: Any, where: str) -> None:
    """Put bitsandbytes' layers in the place of the linear ones, as transformers does at loading."""
    from bitsandbytes.nn import Linear4bit, Params4bit

    head = model.get_output_embeddings()
    layers = [(n, p) for n, p in model.named_modules() if isinstance(p, Linear) and p is not head]
    for name, part in layers:
        made = Linear4bit(
            part.in_features, part.out_features, bias=part.bias is not None,
            compute_dtype=torch.bfloat16, quant_type="nf4", device="meta",
        )  # fmt: skip
        given = {"quant_type": "nf4", "compress_statistics": True, "requires_grad": False}
        made.weight = Params4bit(part.weight.data, **given).to(where)
        made.bias = part.bias
        owner, _, own = name.rpartition(".")
        setattr(model.get_submodule(owner), own, made)
    model.is_loaded_in_4bit = True


def random_rows(length: int, count: int, vocabulary: int) -> Dataset:
    """Rows of the full length, whose last tokens are supervised."""
    rng, chain = random.Random(0), min(CHAIN, length // 2)
    rows = [[rng.randrange(vocabulary) for _ in range(length)] for _ in range(count)]
    labels = [[IGNORED] * (length - chain) + row[-chain:] for row in rows]
    return Dataset.from_dict({"input_ids": rows, "labels": labels})


def judged(*, tiny: bool) -> dict[str, Any]:
    """The local engine's rows a second on a judge of 1.5B."""
    model = random_base("tiny" if tiny else JUDGE, qlora=False)
    tokenizer = AutoTokenizer.from_pretrained(TOKENIZER, padding_side="left")
    engine = LocalEngine.of(model.eval(), tokenizer, batch_size=64)
    found: dict[str, Any] = {"engine": "tiny" if tiny else JUDGE, "device": device()}
    for form, count, tokens in (("outcome", 512, 4), ("cross_lingual", 128, 96)):
        prompt = PromptSettings.model_validate({"chain_format": form})
        judge = ModelJudge(engine, prompt, max_new_tokens=tokens)
        items = [
            Item(question=f"What is {n} plus {n}?", reference=(str(2 * n),), response=f"It is {n}.")
            for n in range(8 if tiny else count)
        ]
        judge.judge(items[:4])
        started = time.perf_counter()
        judge.judge(items)
        found[f"{form}_rows_per_s"] = round(len(items) / (time.perf_counter() - started), 1)
    return found


def device() -> str:
    """The GPU's name, or ``cpu``."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def peak_of(name: str) -> float:
    """The peak of a GPU in operations a second; 0 where it is not known."""
    return next((peak for known, peak in PEAKS.items() if known in name), 0.0)


def main() -> None:
    """Run one part here, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipes", nargs="*")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only")
    given = parser.parse_args()
    quiet_start()
    if given.only:
        name = given.only
        made = judged(tiny=given.tiny) if name == "engine" else trained(name, tiny=given.tiny)
        print(json.dumps(made))
    else:
        for name in ("engine", *(given.recipes or RECIPES)):
            print(apart(name, tiny=given.tiny), flush=True)


def apart(name: str, *, tiny: bool) -> str:
    """The line of one part, run in a process of its own, or why it has none."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.gpu", "--only", name]
    more = ["--tiny"] if tiny else []
    try:
        ran = subprocess.run(
            [*command, *more], capture_output=True, text=True, timeout=LIMIT_S, check=True
        )
    except subprocess.TimeoutExpired:
        return json.dumps({"recipe": name, "failed": f"more than {LIMIT_S} s"})
    except subprocess.CalledProcessError as error:
        return json.dumps({"recipe": name, "failed": error.stderr.strip().splitlines()[-1:]})
    return ran.stdout.splitlines()[-1]


if __name__ == "__main__":
    main()
