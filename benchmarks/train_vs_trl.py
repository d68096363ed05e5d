"""Compare the training throughput with TRL's stock settings, on the same base and rows.

    python benchmarks/train_vs_trl.py data/demo [--steps 30] [--model nano] [--threads 2]
    python benchmarks/train_vs_trl.py data/demo --base FOLDER --steps 4 --rows 4 --dev 4 --rounds 1

Stock is ``SFTTrainer`` with the default ``SFTConfig()`` and LoRA of the same rank on the same chat
rows; only steps, rows per step, rank, learning rate, schedule and evaluation are set equal. Ours is
``train.sft`` with its defaults, which put rows of similar length into a step; "mixed" is ours
without that, so that both draw their rows in the same way. The first step is never counted. Each
runs in its own process, in turns and twice, so that other work on the machine affects all; tokens
are those of the rows, without padding.
With ``--base``, a real base, stock is compared with ``share_prefix``; on a processor without bf16
products stock runs in float32, as one step would take many minutes otherwise. Memory is the peak of
the whole process, including loading. The losses are measured in the same way: the mean over chain
tokens of held-out rows, after the same number of rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

RANK, ALPHA, RATE = 16, 32, 1e-3


def main(argv: Sequence[str] | None = None) -> None:
    """Print the rates, their ratios to stock, and the losses at the same number of rows."""
    options = _options(argv)
    if options.only:
        print(json.dumps(_RUNS[options.only](options)))
        return
    names = ("stock", "shared") if options.base else tuple(n for n in _RUNS if n != "shared")
    made: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name, runs in made.items():
            runs.append(_measure(name, argv or sys.argv[1:]))
    rates = {name: max(run["tokens_per_second"] for run in runs) for name, runs in made.items()}
    print(f"{'':9}{'tokens/s':>10}{'rows/s':>8}{'seconds':>9}{'ratio':>8}{'GB':>7}")
    for name, runs in made.items():
        best = max(runs, key=lambda run: run["tokens_per_second"])
        print(f"{name:9}{rates[name]:>10,.0f}{best['rows'] / best['seconds']:>8.1f}"
              f"{best['seconds']:>9.1f}{rates[name] / rates['stock']:>8.2f}"
              f"{best['gigabytes']:>7.1f}")  # fmt: skip
    print(f"\nheld-out loss\n{'rows seen':>10}", *(f"{name:>9}" for name in made))
    curves = {name: dict(runs[-1]["losses"]) for name, runs in made.items()}
    for rows in curves["stock"]:
        print(f"{rows:>10,}", *(f"{curve[rows]:>9.4f}" for curve in curves.values()))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", help="a folder with train.jsonl and dev.jsonl")
    parser.add_argument("--steps", type=int, default=30, help="optimizer steps of each run")
    parser.add_argument("--rows", type=int, default=16, help="rows per step")
    parser.add_argument("--model", default="nano")
    parser.add_argument("--base", default="", help="the folder of a real base, instead of --model")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each, in turns")
    parser.add_argument("--dev", type=int, default=64, help="rows that the loss is measured on")
    parser.add_argument(
        "--threads", type=int, default=None, help="threads of ours; stock uses torch's default"
    )
    parser.add_argument("--only", choices=sorted(_RUNS), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _measure(name: str, argv: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, __file__, *argv, "--only", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _settings(options: argparse.Namespace, out: str, share: bool, sampling: str) -> Any:
    from train.settings import SFTSettings

    sft = {
        "per_device_train_batch_size": options.rows, "max_steps": options.steps,
        "learning_rate": RATE, "lr_scheduler_type": "constant", "warmup_steps": 0,
        "eval_strategy": "no", "save_steps": 10**9, "report_to": "none",
        "train_sampling_strategy": sampling,
    }  # fmt: skip
    given = {
        "name": "benchmark", "data": options.data, "model": options.base or options.model,
        "out": out, "share_prefix": share, "sft": sft, "lora": {"r": RANK, "lora_alpha": ALPHA},
        "dev_rows": 0, "rows_per_step": options.rows,
    }  # fmt: skip
    return SFTSettings.model_validate(given)


def _ours(
    options: argparse.Namespace, share: bool = False, sampling: str = "group_by_length"
) -> dict[str, Any]:
    import torch

    from train import sft

    if options.threads:
        torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as out:
        settings = _settings(options, out, share, sampling)
        sft._set_up(settings)
        tokenizer, model = sft.load_base(settings)
        parts = {
            part: sft._dataset(Path(options.data) / f"{part}.jsonl", tokenizer, settings)
            for part in ("train", "dev")
        }
        trainer = sft._trainer(settings, tokenizer, model, parts, sft._plan(settings, 1))
        return _timed(trainer, tokenizer, options)


def _stock(options: argparse.Namespace) -> dict[str, Any]:
    import torch
    from datasets import load_dataset
    from peft import LoraConfig
    from transformers import AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    from gradegpt.core.machine import cpu_has_bf16
    from gradegpt.core.shipped import base_of

    on_gpu = torch.cuda.is_available()
    base = base_of(options.base or options.model)
    rows = load_dataset("json", data_files=str(Path(options.data) / "train.jsonl"), split="train")
    tokenizer = AutoTokenizer.from_pretrained(base)
    with tempfile.TemporaryDirectory() as out:
        trainer = SFTTrainer(
            model=base,
            args=SFTConfig(
                output_dir=out, max_steps=options.steps, per_device_train_batch_size=options.rows,
                learning_rate=RATE, lr_scheduler_type="constant", report_to="none",
                save_strategy="no", use_cpu=not on_gpu,
                bf16=on_gpu or not options.base or cpu_has_bf16(),
            ),
            train_dataset=rows.select_columns(["prompt", "completion"]),
            processing_class=tokenizer,
            peft_config=LoraConfig(
                task_type="CAUSAL_LM", r=RANK, lora_alpha=ALPHA, target_modules="all-linear"
            ),
        )  # fmt: skip
        return _timed(trainer, tokenizer, options)


def _timed(trainer: Any, tokenizer: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Train; the clock starts after the first step and is stopped while the loss is measured."""
    from transformers import TrainerCallback

    dev = _dev_rows(tokenizer, options)
    clock = {"seconds": 0.0, "tokens": 0, "since": 0.0}
    losses: list[tuple[int, float]] = []
    laid = getattr(trainer, "_prefixes", None)
    collate = laid or trainer.data_collator

    def counted(rows: list[dict[str, Any]]) -> Any:
        queue.append(sum(len(row["input_ids"]) for row in rows))
        return collate(rows)

    class Watch(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            tokens = queue.pop(0)
            if state.global_step > 1:
                clock["seconds"] += time.perf_counter() - clock["since"]
                clock["tokens"] += tokens
            if state.global_step % max(1, options.steps // 5) == 0:
                losses.append((state.global_step * options.rows, _loss(trainer.model, dev)))
            clock["since"] = time.perf_counter()

    queue: list[int] = []
    setattr(trainer, "_prefixes" if laid else "data_collator", counted)
    trainer.add_callback(Watch())
    trainer.train()
    return {
        "tokens_per_second": clock["tokens"] / clock["seconds"],
        "seconds": clock["seconds"],
        "rows": (options.steps - 1) * options.rows,
        "losses": losses,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def _dev_rows(tokenizer: Any, options: argparse.Namespace) -> list[dict[str, list[int]]]:
    from train.rows import encode_file

    rows = encode_file(Path(options.data) / "dev.jsonl", tokenizer, 1024)
    return [*rows][: options.dev]


def _loss(model: Any, rows: list[dict[str, list[int]]]) -> float:
    """Mean over chain tokens, row by row in fp32, the same for both."""
    import torch

    was_training, total, count = model.training, 0.0, 0
    model.eval()
    with torch.no_grad():
        for row in rows:
            labels = torch.tensor(row["labels"], device=model.device)
            ids = torch.tensor([row["input_ids"]], device=model.device)
            logits = model(input_ids=ids, use_cache=False).logits[0, :-1].float()
            losses = torch.nn.functional.cross_entropy(logits, labels[1:], reduction="sum")
            total, count = total + losses.item(), count + int((labels[1:] != -100).sum())
    model.train(was_training)
    return total / count


_RUNS = {
    "stock": _stock,
    "ours": _ours,
    "mixed": partial(_ours, sampling="random"),
    "shared": partial(_ours, share=True),
}

if __name__ == "__main__":
    main()
