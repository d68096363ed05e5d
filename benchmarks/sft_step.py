"""Measure a LoRA step of the built-in judge, and the gain of each optimisation.

    python benchmarks/sft_step.py [THREADS] [RANK]

The nano with new adapters on random rows of 200 to 400 tokens, bf16 autocast, loss on the last 60.
Each variant adds one change to the one before it: PEFT's own layers with a padding mask, adapters
folded into one product, no mask, a compiled backbone. Every variant runs in its own process; they
run in turns, and the median over the rounds is printed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

VARIANTS = ("stock", "folded", "no mask", "compiled")
ROUNDS = 3
STEPS = 10
WARM = 4
"""Steps before the clock starts, as the first ones compile."""


def step_rate(variant: str, threads: int, rank: int) -> float:
    """Tokens per second, without padding."""
    import torch
    from peft import LoraConfig, get_peft_model
    from torch.nn.functional import cross_entropy
    from torch.nn.utils.rnn import pad_sequence
    from transformers import AutoModelForCausalLM

    from gradegpt.shipped import base_of
    from train.faster import compiled_backbone, fold_adapters
    from train.memory import keep_freed_memory

    keep_freed_memory()
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(
        base_of("nano"), attn_implementation="eager", dtype=torch.float32
    )
    model = get_peft_model(base, LoraConfig(r=rank, lora_alpha=rank, target_modules="all-linear"))
    model.train()
    if variant != "stock":
        fold_adapters(model)
    compiled = compiled_backbone(model) if variant == "compiled" else None
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], fused=True)
    head = model.get_output_embeddings()
    seen = 0
    for step in range(WARM + STEPS):
        if step == WARM:
            seen, start = 0, time.perf_counter()
        lengths = torch.randint(200, 400, (16,)).tolist()
        rows = [torch.randint(4096, (n,)) for n in lengths]
        ids = pad_sequence(rows, batch_first=True)
        keep = torch.zeros(ids.shape, dtype=torch.bool)
        for row, n in enumerate(lengths):
            keep[row, n - 61 : n - 1] = True
        masked = variant in ("stock", "folded")
        mask = (
            pad_sequence([torch.ones(n, dtype=torch.long) for n in lengths], batch_first=True)
            if masked
            else None
        )
        handle = head.register_forward_pre_hook(lambda _, inputs, at=keep: (inputs[0][at],))
        with torch.autocast("cpu", torch.bfloat16):
            if compiled is None:
                logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
            else:
                with compiled():
                    logits = model(input_ids=ids, use_cache=False).logits
        handle.remove()
        cross_entropy(logits.float(), ids.roll(-1, 1)[keep]).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seen += sum(lengths)
    return seen / (time.perf_counter() - start)


def main() -> None:
    """Print a line per variant, and its ratio to the stock one."""
    threads, rank = (*sys.argv[1:3], *("1", "48")[len(sys.argv) - 1 :])
    rates: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(ROUNDS):
        for variant, found in rates.items():
            command = [sys.executable, __file__, "--one", variant, threads, rank]
            found.append(float(subprocess.check_output(command, text=True)))
    print(f"rank {rank}, {threads} threads; median of {ROUNDS} rounds")
    print(f"{'variant':<12}{'tokens/s':>10}{'ratio':>8}")
    stock = statistics.median(rates["stock"])
    for variant, found in rates.items():
        rate = statistics.median(found)
        print(f"{variant:<12}{rate:>10,.0f}{rate / stock:>8.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(step_rate(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        main()
