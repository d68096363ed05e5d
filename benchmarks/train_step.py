"""Measure a pre-training step of the nano, by attention kernel and by heap configuration.

    python benchmarks/train_step.py [ROWS] [LENGTH]

Forward, backward and AdamW on random tokens, bf16 autocast. Every variant runs in its own process,
as a heap is configured once; they run in turns, and the median over the rounds is printed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from itertools import product

ROUNDS = 3
STEPS = 8


def step_rate(attention: str, heap: str, rows: int, length: int) -> float:
    """Tokens per second over ``STEPS`` steps, after two warm-up steps."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from train.memory import keep_freed_memory

    if heap == "kept":
        keep_freed_memory()
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=4096, hidden_size=192, intermediate_size=576, num_hidden_layers=6,
        num_attention_heads=4, num_key_value_heads=4, head_dim=48, tie_word_embeddings=True,
        attn_implementation=attention,
    )  # fmt: skip
    model = Qwen3ForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(4096, (rows, length))
    start = 0.0
    for step in range(STEPS + 2):
        if step == 2:
            start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(input_ids=ids, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return STEPS * rows * length / (time.perf_counter() - start)


def main() -> None:
    """Print a line per variant, and its ratio to the stock one."""
    rows, length = (*sys.argv[1:3], *("40", "204")[len(sys.argv) - 1 :])
    variants = list(product(("sdpa", "eager"), ("stock", "kept")))
    rates: dict[tuple[str, str], list[float]] = {variant: [] for variant in variants}
    for _ in range(ROUNDS):
        for variant in variants:
            command = [sys.executable, __file__, "--one", *variant, rows, length]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rates[variant].append(float(done.stdout))
    print(f"{rows} rows of {length} tokens; median of {ROUNDS} rounds")
    print(f"{'attention':<12}{'heap':<8}{'tokens/s':>10}{'ratio':>8}")
    stock = statistics.median(rates[variants[0]])
    for (attention, heap), found in rates.items():
        rate = statistics.median(found)
        print(f"{attention:<12}{heap:<8}{rate:>10,.0f}{rate / stock:>8.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(step_rate(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
    else:
        main()
