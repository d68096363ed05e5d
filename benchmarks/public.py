"""Public sets, rows never seen: our judges beside math-verify, as a table and a picture.

    python benchmarks/public.py            # or with changes of the settings: sample=50

Fetches the rows, judges them by configs/eval/public.yaml, grades them with math-verify, which
gives a verdict for every row, and writes docs/results/public.json and docs/public.svg, risk
against coverage of all judges over all rows. Then: python -m scripts.results render
Needs: pip install math-verify matplotlib
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from rules_vs_math_verify import run
from tqdm import tqdm

from data_gen.public import fetch
from data_gen.settings import PublicSettings
from eval.evaluate import evaluate
from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt.core.records import write_json
from gradegpt.core.schema import Example, Verdict
from gradegpt.core.settings import load_settings
from scripts.results import ROOT, collected, read_summary

CONFIG = "configs/eval/public.yaml"
SUMMARY = ROOT / "docs/results/public.json"
NOTE = """At most 300 rows a set, of questions on which no rule was developed (`gradegpt data public
unseen=true`), of sets that trained no shipped judge; three of them calibrated the model, on other
questions. math-verify gives a verdict on every row."""
NAMES = {"model": ("rules, then the 1.5B", "#e07b39", "-"), "rules": ("rules", "#4c78a8", "--")}
"""The judges of the run that the picture shows: a name, a colour and a line; the last on top."""


def main(changes: Sequence[str]) -> None:
    """Fetch, judge, grade with math-verify, and write the summary and the picture."""
    settings = load_settings(EvalSettings, CONFIG, changes)
    sets = tuple(source.label for source in settings.sources)
    fetch(PublicSettings(name="public", out="data/public", sets=sets, unseen=True))
    evaluate(settings)
    rows: dict[str, dict[str, Any]] = {name: {} for name in (*sets, "all")}
    made = {"rows": rows, "note": NOTE, "command": "python benchmarks/public.py"}
    summary = collected(settings.folder, read_summary(SUMMARY).model_copy(update=made))
    examples = read_sources(settings)
    right = [_right(row) for row in tqdm(examples, desc="math-verify")]
    for name, figures in summary.rows.items():
        ours = [
            one for one, row in zip(right, examples, strict=True) if name in ("all", row.source)
        ]
        figures["math-verify"] = {"accuracy": round(sum(ours) / len(ours), 6)}
    write_json(SUMMARY, summary.model_dump(mode="json", exclude_defaults=True))
    report = json.loads((settings.folder / "report.json").read_text(encoding="utf-8"))
    judges = {one["name"]: one["risk_coverage"] for one in report["judges"]}
    draw(judges, 1 - sum(right) / len(right), len(examples), ROOT / "docs/public.svg")


def _right(row: Example) -> bool:
    """Whether math-verify calls a row correct exactly if its label does."""
    return run("math-verify", [row]).calls[0] is (row.verdict is Verdict.CORRECT)


def draw(judges: Mapping[str, Any], other: float, n_rows: int, path: Path) -> None:
    """Risk against coverage: a curve a judge, its dot at what it decides; math-verify is a dot."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4), layout="constrained")
    for name, (label, colour, line) in NAMES.items():
        curve = judges[name]
        points = [one for one in curve["points"] if one["coverage"] >= 0.1]
        x, y = zip(*((100 * p["coverage"], 100 * p["risk"]["value"]) for p in points), strict=True)
        axes.plot(x, y, line, color=colour, linewidth=2)
        at = 100 * curve["operating"]["coverage"], 100 * curve["operating"]["risk"]["value"]
        axes.plot(*at, "o", color=colour, markersize=7, clip_on=False)
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
    main(sys.argv[1:])
