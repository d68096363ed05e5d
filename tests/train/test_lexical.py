"""Fitting the lexical judge: its training rows, and the exported trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradegpt.core.records import read_beside, write_rows
from gradegpt.core.schema import Example, Verdict
from gradegpt.judges.lexical import Weights
from gradegpt.tables.importers.labelled import Source
from train.lexical import LexicalSettings, fit, main, measure, open_texts

THINGS = ("the old bridge over the river", "a change of the wind at night", "salt in the sea water")


def rows(n: int) -> list[Example]:
    """Half give the reference in other words, half another answer; one is a number."""
    made = [
        Example(
            id=f"r{i}",
            question=f"What was seen on day {i}?",
            reference=(THINGS[i % 3],),
            response=f"That day they all saw {THINGS[(i + i % 2) % 3][2:]}, it seems, friend {i}",
            verdict=Verdict.INCORRECT if i % 2 else Verdict.CORRECT,
        )
        for i in range(n)
    ]
    number = made[0].model_copy(update={"reference": ("7",), "response": "It is 8."})
    return [*made, number]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    write_rows(tmp_path / "rows.jsonl", (row.model_dump(mode="json") for row in rows(120)))
    return Source(path=str(tmp_path / "rows.jsonl"), fields=None)


def test_it_is_fitted_to_texts_that_the_rules_leave_open(source: Source) -> None:
    examples = open_texts(source)
    assert 0 < len(examples) <= 120
    assert all(example.reference[0] in THINGS for example in examples)


def test_the_exported_trees_separate_right_from_wrong(source: Source) -> None:
    settings = LexicalSettings(train=(source,), trees=20)
    weights = fit(settings)
    assert weights.fitted == {"rows": len(open_texts(source))}
    assert weights == fit(settings), "the same rows and settings give the same weights"
    measured = measure(source, weights)
    assert measured is not None
    assert measured.auc > 0.95
    assert measured.balanced > 0.9


def test_a_file_with_one_verdict_measures_nothing(source: Source, tmp_path: Path) -> None:
    weights = fit(LexicalSettings(train=(source,), trees=2))
    right = [row for row in rows(40) if row.verdict is Verdict.CORRECT]
    write_rows(tmp_path / "right.jsonl", (row.model_dump(mode="json") for row in right))
    assert measure(Source(path=str(tmp_path / "right.jsonl"), fields=None), weights) is None


def test_the_command_writes_what_the_judge_reads(
    source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "lexical.yaml"
    listed = f"[{{path: {source.path}, fields: null}}]"
    config.write_text(f"train: {listed}\ntest: {listed}\nout: {tmp_path}/w.json\ntrees: 5\n")
    main(config)
    weights = read_beside(str(tmp_path), "w.json", Weights)
    assert weights is not None
    assert len(weights.trees) == 5
    printed = capsys.readouterr().out
    assert "5 trees, fitted to rows" in printed
    assert "balanced" in printed
