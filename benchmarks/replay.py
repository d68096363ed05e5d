"""The replay of the rules: what each rule decides on labelled files, and what of it is wrong.

    python benchmarks/replay.py configs/eval/rules.yaml docs/results/rules-replay.json [--pairs N]

A rule is a verdict with its reason. Its record has the rows that it decides in each source of the
recipe, the ids of those that the label calls wrong, the time of a judgement, and the changed pairs
of these rows (``changed_references.py``) that it calls correct. A reason with no row decides
nothing. The time is that of the whole judgement, on average over the rows that the rule decides,
on one core of an idle machine.
Then: ``python -m scripts.results render``.
"""

from __future__ import annotations

import argparse
import datetime
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from changed_references import changed_pairs, thinned

from eval.judging import read_sources
from eval.settings import EvalSettings
from gradegpt.core.records import write_json
from gradegpt.core.schema import Example, Judgement, Verdict
from gradegpt.core.settings import load_settings
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.statistics import says_yes

_WARM: Final = 500
"""Rows judged before the clock starts: they load the dictionary and the units."""


def main() -> None:
    """Write the record of each rule as a summary for ``scripts.results``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pairs", type=int, default=20_000, help="the most changed pairs")
    options = parser.parse_args()
    rules = RuleJudge()
    judge = ParallelJudge(rules)
    rows = read_sources(load_settings(EvalSettings, options.recipe, []))
    rules.judge(random.Random(1).sample(rows, min(_WARM, len(rows))))
    judgements, seconds = list[Judgement](), list[float]()
    for row in rows:
        start = time.perf_counter()
        judgements += rules.judge([row])
        seconds.append(time.perf_counter() - start)
    records = recorded(rows, judgements, seconds)
    ruled = zip(rows, judgements, strict=True)
    right = [e for e, j in ruled if j.verdict is Verdict.CORRECT]
    changed = list(changed_pairs(right, "", seed=1))
    pairs = thinned(changed, options.pairs, random.Random(1))
    for again in judge.judge([pair.item for pair in pairs]):
        if again.verdict is Verdict.CORRECT:
            records[_rule(again)]["pairs"] += 1
    made = _summary(records, judge.fingerprint, len(rows), len(pairs), options)
    write_json(options.out, made)


def recorded(
    rows: list[Example], judgements: list[Judgement], seconds: list[float]
) -> dict[str, Any]:
    """The record of each rule, the one that decides most first."""
    judged = zip(rows, judgements, seconds, strict=True)
    named = [(_rule(j), e, j, took) for e, j, took in judged if j.verdict]
    counts = Counter(rule for rule, *_ in named)
    records: dict[str, Any] = {
        rule: {"decided": n, "wrong": 0, "microseconds": 0.0, "pairs": 0, "files": {}, "ids": []}
        for rule, n in counts.most_common()
    }
    for rule, example, judgement, took in named:
        record = records[rule]
        record["microseconds"] += 1e6 * took / record["decided"]
        record["files"][example.source] = record["files"].get(example.source, 0) + 1
        if judgement.verdict and says_yes(judgement.verdict) is not says_yes(example.verdict):
            record["wrong"] += 1
            record["ids"].append(example.id)
    return records


def _rule(judgement: Judgement) -> str:
    return f"{judgement.verdict} {judgement.reason}"


def _summary(
    records: dict[str, Any], judge: str, rows: int, pairs: int, options: argparse.Namespace
) -> dict[str, Any]:
    """The table of the records; the page has the counts, the file also sources and ids."""
    for record in records.values():
        record["share"] = record["wrong"] / record["decided"]
    return {
        "title": "Replay of each rule", "order": 24, "recorded": True,
        "date": str(datetime.datetime.now(tz=datetime.UTC).date()),
        "command": f"python benchmarks/replay.py {options.recipe} {options.out}",
        "note": f"What each rule decides on {rows:,} labelled rows, without those set aside, and "
        f"how many of {pairs:,} changed pairs it calls correct. The rules were developed on "
        "these rows. Microseconds are those of a whole judgement, on average over the rows that "
        "the rule decides. The file also has the sources of each rule and the ids of the rows "
        "that it decides wrongly.",
        "signature": {"rules": judge}, "first": "rule",
        "columns": {
            "decided": "{decided:,}", "wrong": "{wrong:,}", "share": "{share:.2%}",
            "microseconds": "{microseconds:,.0f}",
            "changed pairs called correct": "{pairs:,}",
        },
        "rows": records,
    }  # fmt: skip


if __name__ == "__main__":
    main()
