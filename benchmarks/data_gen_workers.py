"""Measure the data generator's accepted pairs per second, by the number of workers.

    python benchmarks/data_gen_workers.py configs/data_gen/demo.yaml 1 2

One run per number, each in its own process; the wall time covers everything from the start of the
interpreter to the data card. All runs must write the same bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def measure(config: str, workers: int, folder: Path) -> tuple[int, float, dict[str, str]]:
    """The pairs, the seconds and the digests of the written files."""
    out = folder / str(workers)
    command = [sys.executable, "-m", "data_gen", config, f"out={out}", f"workers={workers}"]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - started
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    counts = manifest["counts"]
    rows = {name: digest for name, digest in manifest["outputs"].items() if name.endswith("jsonl")}
    return counts["train"] + counts.get("dev", 0), seconds, rows


def main() -> None:
    """Print a line per number of workers, with the ratio to the first."""
    config, *numbers = sys.argv[1:] or ["configs/data_gen/demo.yaml"]
    first: tuple[float, dict[str, str]] | None = None
    with tempfile.TemporaryDirectory() as folder:
        for workers in map(int, numbers or ("1", "2")):
            pairs, seconds, rows = measure(config, workers, Path(folder))
            first = first or (pairs / seconds, rows)
            if rows != first[1]:
                raise SystemExit(f"{workers} workers wrote other bytes")
            rate = pairs / seconds
            print(
                f"{workers} workers: {pairs:,} pairs in {seconds:.0f} s, {rate:.0f} a second, "
                f"{rate / first[0]:.2f} times the first"
            )


if __name__ == "__main__":
    main()
