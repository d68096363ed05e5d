"""Compare the transformers engine and the fast engine on the same rows.

    gradegpt export models/gradegpt-nano -o runs/nano-int8
    python benchmarks/engines.py runs/nano-int8 data/demo/dev.jsonl [ROWS] [MODEL] [ADAPTER]

``MODEL`` and ``ADAPTER`` are the source of the exported folder; by default the built-in judge. The
engines run in turns (``taskset -c 0`` gives each one core); printed are medians of wall time
and of CPU time, which other work on the machine affects less.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence

from gradegpt.chains.chain import parse_chain
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Message, TrainingRow, Verdict
from gradegpt.core.shipped import NANO, base_of
from gradegpt.engines.base import Engine, Generation
from gradegpt.engines.fast import FastEngine
from gradegpt.engines.local import LocalEngine

ROUNDS = 3
MAX_NEW_TOKENS = 384
Prompts = Sequence[Sequence[Message]]


def measure(engine: Engine, prompts: Prompts, size: int) -> tuple[int, float, float]:
    """Generated tokens, wall seconds and CPU seconds, with ``size`` prompts per call."""
    wall, cpu = time.perf_counter(), time.process_time()
    tokens = 0
    for at in range(0, len(prompts), size):
        tokens += sum(m.completion_tokens for m in answers(engine, prompts[at : at + size]))
    return tokens, time.perf_counter() - wall, time.process_time() - cpu


def answers(engine: Engine, prompts: Prompts) -> list[Generation]:
    """The engine's generations; a failure is raised."""
    made = []
    for answer in engine.generate(prompts, max_new_tokens=MAX_NEW_TOKENS):
        if not isinstance(answer, Generation):
            raise answer
        made.append(answer)
    return made


def table(engines: dict[str, Engine], prompts: Prompts, size: int) -> None:
    """Print a line per engine: the medians, and the ratio to the first."""
    rounds: dict[str, list[tuple[int, float, float]]] = {name: [] for name in engines}
    for _ in range(ROUNDS):
        for name, engine in engines.items():
            rounds[name].append(measure(engine, prompts, size))
    slowest = [statistics.median(r[n] for r in next(iter(rounds.values()))) for n in (1, 2)]
    for name, found in rounds.items():
        tokens, wall, cpu = (statistics.median(r[n] for r in found) for n in range(3))
        print(
            f"{name:<14}{size:>6}{tokens / wall:>10,.0f}{len(prompts) / wall:>8.2f}"
            f"{slowest[0] / wall:>8.1f}{tokens / cpu:>14,.0f}{slowest[1] / cpu:>8.1f}"
        )


def verdict_of(made: Generation) -> Verdict | None:
    """The verdict of a text, or None."""
    chain = parse_chain(made.text).chain
    return chain.verdict if chain else None


def share(
    same: Callable[[Generation, Generation], bool], pairs: list[tuple[Generation, ...]]
) -> str:
    """The number of rows on which the engines agree, as text."""
    return f"{sum(same(*pair) for pair in pairs)} of {len(pairs)}"


def main() -> None:
    """Print the speeds with one and with 32 prompts per call, then how often the engines agree."""
    folder, rows, count, model, adapter = (
        *sys.argv[1:6],
        *("", "", "64", "", "")[len(sys.argv) - 1 :],
    )
    given = [row.prompt for row in read_rows(rows, TrainingRow)]
    prompts = random.Random(0).sample(given, min(int(count), len(given)))
    engines: dict[str, Engine] = {
        "transformers": LocalEngine(
            model or base_of(NANO),
            adapter or None,
            device="cpu",
        ),
        "onnx": FastEngine(folder),
    }
    print(f"{'engine':<14}{'batch':>6}{'tokens/s':>10}{'rows/s':>8}{'ratio':>8}"
          f"{'tokens/CPU-s':>14}{'ratio':>8}")  # fmt: skip
    table(engines, prompts[:8], 1)
    table(engines, prompts[:32], 32)
    pairs = list(zip(*(answers(engine, prompts) for engine in engines.values()), strict=True))
    print(f"same verdict  {share(lambda a, b: verdict_of(a) is verdict_of(b), pairs)}")
    print(f"same text     {share(lambda a, b: a.text == b.text, pairs)}")


if __name__ == "__main__":
    main()
