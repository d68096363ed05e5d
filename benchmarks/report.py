"""Time and size of ``gradegpt report`` on judged files of several sizes.

    python -m benchmarks.report

Made rows of five sources, four answers to a question, and the judgements of two judges, which name
the answers; with labels, and without, which adds the scores over several answers to a question. The
time grows linearly where the last column, the processor's time of a row by that in the first size,
is not above 1.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from eval.report.__main__ import main as report
from gradegpt.core.records import sha256_file, write_json, write_rows

SIZES = [20_000, 200_000]


def rows_of(n: int) -> Iterator[dict[str, Any]]:
    """The answers: three of four are right."""
    for k in range(n):
        right, said = k // 4 + 2, k // 4 + 2 + (k % 4 == 0)
        yield {
            "id": str(k), "question": f"What is {k // 4} + 2? Give the number.",
            "reference": str(right), "response": f"I add both numbers. The answer is {said}.",
            "label": said == right, "source": f"source {k // 4 % 5}", "lang": "en",
            "tags": {"subject": f"subject {k // 4 % 7}"},
        }  # fmt: skip


def judged(n: int, errs: float, rng: random.Random) -> Iterator[dict[str, Any]]:
    """The judgements: a tenth undecided, and a share of errors."""
    for k in range(n):
        right = (k % 4 != 0) is (rng.random() >= errs)
        base = {"id": str(k), "method": "rules", "reason": "number:equal"}
        if rng.random() < 0.1:
            yield base | {"outcome": "undecided", "reason": "number:no-answer"}
        else:
            verdict = "correct" if right else "incorrect"
            confidence = rng.choice([0.8, 0.9, 0.95, 0.99])
            found = {"verdict": verdict, "answer": str(k // 4 + 2 + (k % 4 == 0))}
            yield base | {"outcome": "judged", "confidence": confidence} | found


def measured(folder: Path, n: int, *, labelled: bool) -> tuple[float, float, float]:
    """The seconds of a report on ``n`` rows, by the clock and of the processor; its megabytes."""
    items, page = folder / f"{n}.jsonl", folder / f"{n}.html"
    write_rows(items, rows_of(n))
    source = {"path": str(items), "sha256": sha256_file(items)}
    files = [folder / f"{name}-{n}.jsonl" for name in ("one", "other")]
    for place, file in enumerate(files):
        write_rows(file, judged(n, 0.05 * (1 + place), random.Random(place)))
        write_json(file.with_name(file.name + ".manifest.json"), {"input": source})
    started = time.perf_counter(), time.process_time()
    report(files, out=[page], labels=items if labelled else None)
    ended = time.perf_counter(), time.process_time()
    return ended[0] - started[0], ended[1] - started[1], page.stat().st_size / 1e6


def main(sizes: Annotated[list[int], typer.Option("--rows")] = SIZES) -> None:
    """Print seconds, megabytes and the ratio of the time of a row to that in the first size."""
    named = ("rows", "labels", "seconds", "CPU seconds", "page, MB", "CPU time of a row, ratio")
    table = Table(*named)
    first = dict[bool, float]()
    with TemporaryDirectory() as folder:
        for n, labelled in product(sizes, (True, False)):
            seconds, of_processor, size = measured(Path(folder), n, labelled=labelled)
            ratio = of_processor / n / first.setdefault(labelled, of_processor / n)
            table.add_row(
                f"{n:,}", "yes" if labelled else "no", f"{seconds:.1f}", f"{of_processor:.1f}",
                f"{size:.1f}", f"{ratio:.2f}",
            )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
