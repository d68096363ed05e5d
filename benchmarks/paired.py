"""Compare two judges on the same rows: a score of each, and the difference with its interval.

    python benchmarks/paired.py configs/eval/real.yaml OLD.jsonl NEW.jsonl [SCORE]

``SCORE`` is ``balanced_accuracy``, ``accuracy``, ``kappa`` or another of ``judges.statistics``.

The judges' files are from the ``judgements/`` of evaluations with that config. The 95 % interval is
from a paired bootstrap over questions, as an easy question is easy for both.
"""

from __future__ import annotations

import re
import sys

import numpy as np

from eval.settings import EvalSettings
from gradegpt.core.records import read_rows
from gradegpt.core.schema import Example, Judgement
from gradegpt.core.settings import load_settings
from gradegpt.judges.statistics import by_question, estimate, resampled, score
from gradegpt.tables.importers.labelled import read_examples

DRAWS = 4_000
_PEOPLE = re.compile(r"human|teacher", re.IGNORECASE)


def line(what: str, name: str, rows: list[Example], *judgements: list[Judgement]) -> str:
    """The line of the table for some rows."""
    cells = np.stack([by_question(rows, judged) for judged in judgements], axis=1)
    drawn = score(resampled(cells, DRAWS, 0))[what]
    a, b = drawn[0]
    gain, low, high = estimate(drawn[:, 1] - drawn[:, 0])
    return f"{name:<28}{len(rows):>7,}{a:>9.3f}{b:>9.3f}{gain:>+9.3f}  ({low:+.3f} to {high:+.3f})"


def main() -> None:
    """Print a line per source, one for rows graded by people, and one for all rows."""
    config, *files = sys.argv[1:4]
    what = sys.argv[4] if len(sys.argv) > 4 else "balanced_accuracy"
    settings = load_settings(EvalSettings, config)
    rows = [row for source in settings.sources for row in read_examples(source)]
    old, new = ({j.id: j for j in read_rows(file, Judgement)} for file in files)
    groups: dict[str, list[Example]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    groups["graded by people"] = [r for r in rows if _PEOPLE.search(r.labelled_by)]
    groups["all"] = rows
    print(f"{what:<28}{'rows':>7}{'old':>9}{'new':>9}{'gain':>9}  (95 %)")
    for name, group in groups.items():
        print(line(what, name, group, *([j[r.id] for r in group] for j in (old, new))))


if __name__ == "__main__":
    main()
