"""Recompute what ``gradegpt finetune`` printed, from the files alone and with scikit-learn.

    python benchmarks/finetune_figures.py judges/mine judges/other ...

It reads labels and judgements as JSON, uses none of the project's code, and ends with exit code 1
where a figure of the card differs by more than its rounding.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

_LINE = re.compile(
    r"^ +([\w-]+) +(\d+\.\d)(?: \([^)]*\))?(?:, kappa (-?\d\.\d\d))?(?:, AUC (\d\.\d\d))?"
    r"(?:; decides (\d+) of (\d+)(?:, (\d+\.\d) %)?)?",
    re.MULTILINE,
)


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def figures(labels: list[bool], judged: list[dict[str, Any]]) -> list[float | None]:
    """Balanced accuracy of all rows, kappa, AUC, rows decided, all rows, and accuracy of those."""
    given = [None if j["verdict"] is None else j["verdict"] == "correct" for j in judged]
    strict = [(not y) if g is None else g for y, g in zip(labels, given, strict=True)]
    decided = [(y, g) for y, g in zip(labels, given, strict=True) if g is not None]
    sure = [j["score"] if j["confidence"] is None else j["confidence"] for j in judged]
    known = [
        (y, s if g else 1 - s)
        for y, g, s in zip(labels, given, sure, strict=True)
        if g is not None and s is not None
    ]
    y, g = zip(*decided, strict=True) if decided else ((), ())
    return [
        100 * balanced_accuracy_score(labels, strict),
        cohen_kappa_score(y, g) if decided else None,
        roc_auc_score(*zip(*known, strict=True)) if len({k for k, _ in known}) == 2 else None,
        len(decided),
        len(labels),
        100 * sum(a == b for a, b in decided) / len(decided) if decided else None,
    ]


def main() -> int:
    """Print each figure that differs; the exit code says whether there is one."""
    wrong = compared = 0
    for folder in map(Path, sys.argv[1:]):
        examples = rows(folder / "work" / "data" / "examples" / "test.jsonl")
        labels = [e["verdict"] == "correct" for e in examples]
        card = (folder / "README.md").read_text(encoding="utf-8").partition("## Measured")[2]
        for name, *shown in _LINE.findall(card):
            path = folder / "work" / "eval" / "judgements" / f"{name}.jsonl"
            if not path.is_file():
                continue
            judged = rows(path)
            assert [j["id"] for j in judged] == [e["id"] for e in examples]
            for text, value in zip(shown, figures(labels, judged), strict=True):
                near = 0.051 if text.count(".") and len(text.partition(".")[2]) == 1 else 0.0051
                compared += bool(text)
                if text and (value is None or abs(float(text) - value) > near):
                    wrong += 1
                    print(f"{folder} {name}: printed {text}, recomputed {value}")
    print(f"{compared} figures compared, {wrong} differ")
    return int(wrong > 0 or not compared)


if __name__ == "__main__":
    sys.exit(main())
