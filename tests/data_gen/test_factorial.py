"""``train/data/factorial.jsonl``: right and wrong answers in near and in far wording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from data_gen.readings import digest_of, read_readings
from gradegpt.chains.chain import needs_gloss
from gradegpt.core.records import read_objects
from gradegpt.core.schema import Item, Verdict

DATA = Path(__file__).parents[2] / "train" / "data"
ROWS = [row for _, row in read_objects(DATA / "factorial.jsonl")]


def item(row: dict[str, Any]) -> Item:
    return Item(question=row["question"], reference=row["reference"], response=row["response"])


def test_label_and_wording_are_crossed() -> None:
    """So the words that an answer shares with its reference say nothing about its label."""
    cells = Counter((row["kind"], row["lang"], row["label"], row["wording"]) for row in ROWS)
    asked = {cell[:2] for cell in cells}
    assert len(cells) == 4 * len(asked) == 4 * 8
    for kind in asked:
        assert len({n for cell, n in cells.items() if cell[:2] == kind}) == 1


def test_every_answer_has_a_reading_that_agrees() -> None:
    """With a verbatim quote, its English where it is Chinese, and a reason."""
    readings = read_readings((str(DATA / "factorial_readings.jsonl"),))
    for row in ROWS:
        one = readings[digest_of(item(row))]
        assert one.verdict is (Verdict.CORRECT if row["label"] else Verdict.INCORRECT)
        chain = one.chain(row["response"])
        assert chain.quotes == (chain.answer,)
        assert needs_gloss(chain.quotes[0]) == any(chain.glosses)
        assert 3 <= len(chain.why.split()) <= 40
