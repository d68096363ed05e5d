"""How many rows the fast engine should write together.

    python -m train.export nano runs/nano-int8
    python benchmarks/rows_together.py runs/nano-int8 data/nano-judge/dev.jsonl [ROWS]

One thread, one batch at a time; rows a second of the processor's time, the median of the rounds,
which take turns.
"""

from __future__ import annotations

import random
import statistics
import sys
import time

from gradegpt.engines.fast import FastEngine
from gradegpt.records import read_rows
from gradegpt.schema import TrainingRow

ROUNDS = 3
SIZES = (1, 2, 4, 8, 32)


def main() -> None:
    """Print a column a size."""
    folder, rows, count = (*sys.argv[1:4], *("", "", "32")[len(sys.argv) - 1 :])
    given = [row.prompt for row in read_rows(rows, TrainingRow)]
    prompts = random.Random(0).sample(given, int(count))
    engine = FastEngine(folder, threads=1, workers=1)
    engine.generate(prompts[:2], max_new_tokens=384)
    rates: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS):
        for size, found in rates.items():
            engine.batch_size = size
            started = time.process_time()
            engine.generate(prompts, max_new_tokens=384)
            found.append(len(prompts) / (time.process_time() - started))
    print("rows together ", *(f"{size:>7}" for size in SIZES))
    print("rows a second ", *(f"{statistics.median(found):>7.1f}" for found in rates.values()))


if __name__ == "__main__":
    main()
