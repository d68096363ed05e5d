"""Public sets: the judges of a finished evaluation beside math-verify, as a table and a picture.

    gradegpt eval configs/eval/public.yaml
    python -m scripts.results collect runs/public docs/results/public.json
    python benchmarks/public.py runs/public docs/results/public.json -o docs/public.svg
    python -m scripts.results render

Grades the rows of the evaluation with math-verify, which gives a verdict for every row, adds its
figures to the summary, and draws risk against coverage of all judges over all rows.
Needs: pip install math-verify matplotlib
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from rules_vs_math_verify import run
from tqdm import tqdm

from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt.core.records import write_json
from gradegpt.core.schema import Example, Verdict
from gradegpt.core.settings import load_settings

NAMES = {"rules": ("rules", "#4c78a8"), "model": ("rules, then the 1.5B", "#e07b39")}
"""The judges of the run that the picture shows: a name and a colour."""


def main(argv: Sequence[str] | None = None) -> None:
    """Add math-verify to the summary, and draw the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("run", type=Path, help="such as runs/public")
    parser.add_argument("summary", type=Path, help="such as docs/results/public.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the picture, SVG")
    parser.add_argument("--config", default="configs/eval/public.yaml")
    options = parser.parse_args(argv)
    rows = read_sources(load_settings(EvalSettings, options.config))
    right = [_right(row) for row in tqdm(rows, desc="math-verify")]
    summary = json.loads(options.summary.read_text(encoding="utf-8"))
    for name, figures in summary["rows"].items():
        named = summary["rows"].keys()
        sources = [row.source if row.source in named else "rest" for row in rows]
        ours = [one for one, at in zip(right, sources, strict=True) if name in ("all", at)]
        figures["math-verify"] = {"accuracy": round(sum(ours) / len(ours), 6)}
    write_json(options.summary, summary)
    report = json.loads((options.run / "report.json").read_text(encoding="utf-8"))
    judges = {one["name"]: one["risk_coverage"] for one in report["judges"]}
    draw(judges, 1 - sum(right) / len(right), len(rows), options.output)


def _right(row: Example) -> bool:
    """Whether math-verify calls a row correct exactly if its label does."""
    return run("math-verify", [row]).calls[0] is (row.verdict is Verdict.CORRECT)


def draw(judges: Mapping[str, Any], other: float, n_rows: int, path: Path) -> None:
    """Risk against coverage: a curve a judge, its dot at what it decides; math-verify is a dot."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4), layout="constrained")
    for name, (label, colour) in NAMES.items():
        curve = judges[name]
        points = [one for one in curve["points"] if one["coverage"] >= 0.1]
        x, y = zip(*((100 * p["coverage"], 100 * p["risk"]["value"]) for p in points), strict=True)
        axes.plot(x, y, color=colour, linewidth=2)
        at = 100 * curve["operating"]["coverage"], 100 * curve["operating"]["risk"]["value"]
        axes.plot(*at, "o", color=colour, markersize=7)
        axes.annotate(label, at, (-8, 8), textcoords="offset points", color=colour, ha="right")
    axes.plot(100, 100 * other, "D", color="#777777", markersize=7, clip_on=False)
    axes.annotate("math-verify", (100, 100 * other), (-8, -4), textcoords="offset points",
                  color="#777777", ha="right")  # fmt: skip
    axes.set(xlim=(0, 100), xlabel=f"rows with a verdict, % of {n_rows:,}",
             ylim=(0, None), ylabel="wrong verdicts, % of these")  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
