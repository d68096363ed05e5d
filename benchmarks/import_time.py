"""Measure the time of ``import gradegpt``, compared with the interpreter's own start.

python benchmarks/import_time.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

CASES = {
    "interpreter alone": "pass",
    "import gradegpt": "import gradegpt",
    "from gradegpt import Item, RuleJudge": "from gradegpt import Item, RuleJudge",
}


def median_seconds(code: str, runs: int) -> float:
    """Median wall seconds of ``python -c code`` over ``runs`` runs, after a first to warm up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    """Print each case's median and its ratio to the interpreter's own start."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    own = median_seconds(CASES["interpreter alone"], runs)
    print(f"{'case':<40}{'median s':>10}{'over own start':>16}{'ratio':>8}")
    for name, code in CASES.items():
        seconds = median_seconds(code, runs)
        print(f"{name:<40}{seconds:>10.3f}{seconds - own:>16.3f}{seconds / own:>8.2f}")


if __name__ == "__main__":
    main()
