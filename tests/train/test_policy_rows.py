"""``train/data/policy.csv``: the labelled answers of the demo, and what a judge can learn there."""

from __future__ import annotations

import csv
import io
import json
import runpy
from collections import Counter
from pathlib import Path

import pytest

from gradegpt.core.schema import Item
from gradegpt.judges.rules import RuleJudge

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "train/data/policy.csv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(io.StringIO(TEXT)))


def test_the_script_writes_the_file(tmp_path: Path) -> None:
    """Row by row, and the readings beside it, of which every row has one."""
    made = runpy.run_path(str(ROOT / "scripts/policy_rows.py"))
    assert list(made["rows"]()) == ROWS
    text = (ROOT / "train/data/policy_readings.jsonl").read_text(encoding="utf-8")
    assert list(made["readings"]()) == [json.loads(line) for line in text.splitlines()]


def test_both_labels_are_as_frequent_to_every_question_and_in_both_languages() -> None:
    """So always giving one label has half of the rows."""
    labels = Counter((row["question"], row["label"]) for row in ROWS)
    assert set(labels.values()) == {4}
    assert Counter(row["lang"] for row in ROWS) == {"en": 480, "zh": 480}


def test_the_response_alone_does_not_give_the_label() -> None:
    """A classifier of its words, fitted on some questions, is at chance on the others."""
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_score

    words = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)).fit_transform(
        [row["response"] for row in ROWS]
    )
    right = [row["label"] == "correct" for row in ROWS]
    groups = [row["question"] for row in ROWS]
    found = cross_val_score(
        LogisticRegression(max_iter=2000), words, right, groups=groups, cv=GroupKFold(5)
    )
    assert found.mean() < 0.56


def test_the_rules_leave_most_of_it_undecided() -> None:
    """So it is the model that has to learn it."""
    items = [
        Item(question=row["question"], reference=(row["reference"],), response=row["response"])
        for row in ROWS
    ]
    decided = sum(judgement.verdict is not None for judgement in RuleJudge().judge(items))
    assert decided < 0.15 * len(ROWS)
