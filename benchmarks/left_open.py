"""Judges by file, with unjudged rows counted as wrong, and on rows that the rules leave open.

    python benchmarks/left_open.py configs/eval/real-fast.yaml [NAME=VALUE ...]

It reads a finished evaluation with a judge ``rules``. A report's accuracy is over judged rows only;
here a judge gains nothing by abstaining. The open rows are those of files with human labels, with
95 % bootstrap intervals over questions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt.core.records import read_rows
from gradegpt.core.schema import AnswerType, Example, Judgement, Outcome
from gradegpt.core.settings import load_settings
from gradegpt.judges.calibration import kind_of, type_of
from gradegpt.judges.statistics import by_question, estimate, resampled, score, unjudged_as_wrong

DRAWS = 2_000
_LEAST = 20
_PEOPLE = re.compile(r"human|teacher", re.IGNORECASE)
Row = tuple[Example, Judgement]


def balanced(rows: Sequence[Row]) -> tuple[float, float, float]:
    """Balanced accuracy with its interval."""
    cells = unjudged_as_wrong(by_question([e for e, _ in rows], [j for _, j in rows]))
    return estimate(score(resampled(cells, DRAWS, 0))["balanced_accuracy"])


def table(name: str, rows: Sequence[Row], *keys: Callable[[Example], str]) -> None:
    """Print a line for all rows and, by each key, for each group of at least ``_LEAST``."""
    print(f"{name:<42}{'rows':>6}{'judged':>8}{'right of them':>15}{'balanced, all rows':>30}")
    groups: dict[str, list[Row]] = {"all": list(rows)}
    for key in keys:
        for example, judgement in rows:
            groups.setdefault(key(example), []).append((example, judgement))
    for group, members in groups.items():
        if len(members) < _LEAST:
            continue
        judged_rows = [(e, j) for e, j in members if j.outcome is Outcome.JUDGED]
        right = sum((j.verdict == "correct") is (e.verdict == "correct") for e, j in judged_rows)
        value, low, high = balanced(members)
        print(
            f"  {group:<40}{len(members):>6,}{len(judged_rows) / len(members):>8.1%}"
            f"{right / max(1, len(judged_rows)):>15.1%}{value:>12.3f} ({low:.3f} to {high:.3f})"
        )


def _source(example: Example) -> str:
    return example.source


def _closed(example: Example) -> str:
    """The group of a row: its source, or free text of all sources together."""
    free = type_of(example) is AnswerType.TEXT
    return "free text" if free else f"{example.source}, not free text"


def main() -> None:
    """Print two tables per judge."""
    settings = load_settings(EvalSettings, Path(sys.argv[1]), sys.argv[2:])
    examples = read_sources(settings)
    judged_rows = {
        judge.label: list(
            read_rows(settings.folder / "judgements" / f"{judge.label}.jsonl", Judgement)
        )
        for judge in settings.judges
    }
    left = [
        place
        for place, (example, ruled) in enumerate(zip(examples, judged_rows["rules"], strict=True))
        if ruled.outcome is not Outcome.JUDGED and _PEOPLE.search(example.labelled_by)
    ]
    for name, judged in judged_rows.items():
        rows = list(zip(examples, judged, strict=True))
        table(name, rows, _source, _closed)
        unread = sum(j.outcome is Outcome.UNPARSED for j in judged)
        print(f"  unparsed: {unread} of {len(judged):,}")
        table(f"{name}, open to the rules", [rows[place] for place in left], kind_of, _source)


if __name__ == "__main__":
    main()
