"""What changes when a judge is replaced: the numbers by hand, the files, what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.report.__main__ import app
from eval.report.replaced import differing, replacement
from eval.report.results import read_judged
from gradegpt.core.errors import OutputError
from gradegpt.core.records import write_json, write_rows
from gradegpt.core.schema import Judgement, Outcome, Verdict

MODELS = ("x", "y", "z")
YES, NO = Verdict.CORRECT, Verdict.INCORRECT
OLD = ["ccccci", "cccciiu", "cciiiii"]
NEW = ["ccccic", "ccciiic", "ciiiiii"]
"""The results of each model's answers: correct, incorrect, undecided."""


def judgement(id_: str, result: str, tokens: int) -> Judgement:
    verdict = {"c": YES, "i": NO, "u": None}[result]
    return Judgement(
        id=id_, outcome=Outcome.JUDGED if verdict else Outcome.UNDECIDED, verdict=verdict,
        method="m", reason="r", prompt_tokens=tokens, completion_tokens=1,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty answers of three models, judged by two judges; the new one gives each truth."""
    rows = [(model, n) for model, results in zip(MODELS, NEW, strict=True)
            for n in range(len(results))]  # fmt: skip
    items = [
        {"id": f"{m}{n}", "question": f"{n}?", "reference": "1", "response": "1", "model": m}
        for m, n in rows
    ]
    write_rows(tmp_path / "items.jsonl", items)
    for name, results, tokens in (("old", OLD, 0), ("new", NEW, 10)):
        found = "".join(results)
        made = [judgement(str(i["id"]), r, tokens) for i, r in zip(items, found, strict=True)]
        write_rows(tmp_path / f"{name}.jsonl", made)
    write_json(tmp_path / "new.jsonl.manifest.json", {"seconds": 2.5})
    labels = [
        {"id": f"{m}{n}", "label": r == "c"}
        for m, results in zip(MODELS, NEW, strict=True) for n, r in enumerate(results)
    ]  # fmt: skip
    write_rows(tmp_path / "labels.jsonl", labels)
    return tmp_path


def results(folder: Path, labels: bool = True):  # type: ignore[no-untyped-def]
    return read_judged(
        [folder / "old.jsonl", folder / "new.jsonl"], items=folder / "items.jsonl",
        labels=folder / "labels.jsonl" if labels else None, by="model",
    )  # fmt: skip


def invoke(folder: Path, *options: object) -> str:
    given = (folder / "old.jsonl", folder / "new.jsonl")
    where = ("--items", folder / "items.jsonl")
    ended = CliRunner().invoke(app, [str(o) for o in (*given, *where, *options)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.output


def test_the_results_of_both_are_counted(folder: Path) -> None:
    """One answer is now correct, three no longer, and one is decided now; the table adds up."""
    found = replacement(results(folder), "model")
    assert found.results["undecided"]["correct"] == 1
    assert (found.pair.second_only, found.pair.first_only) == (1, 3)
    assert sum(n for row in found.results.values() for n in row.values()) == found.n_items == 20
    assert found.pair.n_both == 19
    assert found.pair.agreement == pytest.approx(15 / 19)
    assert found.pair.kappa_interval is not None
    assert found.pair.kappa is not None
    assert found.pair.kappa_interval.low < found.pair.kappa < found.pair.kappa_interval.high


def test_labels_say_who_is_right(folder: Path) -> None:
    """The new judge gives the label everywhere; without labels nobody is right."""
    found = replacement(results(folder), "model")
    assert (found.pair.a_right, found.pair.b_right) == (0, 4)
    assert replacement(results(folder, labels=False), "model").pair.a_right is None


def test_scores_and_ranks_move(folder: Path) -> None:
    """Of what both judged: x has 5 of 6 by both, y 4 of 6 by the old one and 3 by the new."""
    models = {m.name: m for m in replacement(results(folder), "model").models}
    assert list(models) == ["x", "y", "z"]
    assert models["y"].old.value == pytest.approx(4 / 6)
    assert (models["y"].new.value, models["y"].n_both) == (0.5, 6)
    assert models["y"].difference == pytest.approx(3 / 6 - 4 / 6)
    assert models["z"].difference == pytest.approx(-1 / 7)
    for one in models.values():
        assert one.interval is None or one.interval.low <= one.difference <= one.interval.high
    assert [m.new_rank for m in models.values()] == [1, 2, 3]


def test_opposite_verdicts_come_first(folder: Path) -> None:
    """Then what one judge left open."""
    rows = differing(results(folder))
    assert [(row["old"], row["new"]) for row in rows] == [
        ("correct", "incorrect"), ("incorrect", "correct"), ("correct", "incorrect"),
        ("correct", "incorrect"), ("undecided", "correct"),
    ]  # fmt: skip


def test_a_judge_that_changes_nothing_has_no_interval(folder: Path) -> None:
    """No difference among a few items does not show that there is none."""
    same = folder / "same.jsonl"
    same.write_bytes((folder / "old.jsonl").read_bytes())
    found = replacement(
        read_judged([folder / "old.jsonl", same], items=folder / "items.jsonl", by="model"), "model"
    )
    assert all(m.difference == 0 and m.interval is None for m in found.models)


def test_the_command_writes_what_the_suffix_says(folder: Path) -> None:
    """Numbers, items and the page; the table shows costs and seconds."""
    names = [folder / name for name in ("r.json", "d.csv", "d.jsonl", "p.html")]
    shown = invoke(
        folder, "--labels", folder / "labels.jsonl", *(x for n in names for x in ("-o", n))
    )
    assert "cost of new: 200 prompt and 20 completion tokens, 2.5 s" in shown
    assert "balanced accuracy: new better by" in shown
    assert json.loads(names[0].read_text("utf-8"))["pair"]["n_both"] == 19
    with names[1].open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)][:2] == ["incorrect", "correct"]
    assert len(names[2].read_text("utf-8").splitlines()) == 5
    assert names[3].read_text("utf-8").startswith("<!doctype html>")


def test_a_file_of_another_form_is_refused(folder: Path) -> None:
    """Before anything is measured."""
    with pytest.raises(OutputError, match="unknown suffix"):
        invoke(folder, "-o", "x.txt")
