"""A panel of an evaluation's judges: agreement, differences, whom to leave out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.evaluate import evaluate, evaluate_answers
from eval.panel import app, differing, panel_report, read_run
from eval.settings import EvalSettings
from gradegpt.errors import InputError, MissingError
from gradegpt.judges import Judge, Vote
from gradegpt.judges.build import JudgeSettings
from gradegpt.records import read_objects, write_rows
from gradegpt.schema import Item, Judgement, Outcome, Verdict


class Says:
    """Wrong on every ``wrong``-th row only; the first letter of the response is the truth."""

    def __init__(self, name: str, wrong: int) -> None:
        self.name = self.fingerprint = name
        self._wrong = wrong

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        judgements = []
        for item in items:
            right = item.response.startswith("r") is bool(int(item.id) % self._wrong)
            verdict = Verdict.CORRECT if right else Verdict.INCORRECT
            judgements.append(
                Judgement(id=item.id, outcome=Outcome.JUDGED, verdict=verdict, method="says")
            )
        return judgements


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """An evaluation of three judges on 60 rows: wrong on every 3rd, 4th and 2nd."""
    rows = (
        {"id": str(n), "question": f"{n}?", "reference": "x", "response": "ry"[n % 5 % 2],
         "label": not n % 5 % 2}
        for n in range(60)
    )  # fmt: skip
    write_rows(tmp_path / "rows.jsonl", rows)
    wrong = {"three": 3, "four": 4, "two": 2}
    settings = EvalSettings.model_validate(
        {"name": "small", "out": str(tmp_path / "run"), "bootstrap": 0,
         "sources": [{"path": str(tmp_path / "rows.jsonl"),
                      "fields": {"lang": "", "labelled_by": "", "answer_type": ""}}],
         "judges": [{"name": name, "kind": "model"} for name in wrong]}
    )  # fmt: skip

    def build(one: JudgeSettings) -> Judge:
        return Says(one.name, wrong[one.name])

    evaluate(settings, build=build)
    return settings.folder


def test_a_panel_is_counted_by_hand(ran: Path) -> None:
    """Of twelve rows in a cycle the judges are wrong on 4, 3 and 6; two of them on rows 0, 4, 6, 8.

    Together wrong on 4 of 12. Without the second judge a row on which the others differ is left
    open; those on which both are right are 1, 5, 7 and 11: 4 of 12.
    """
    examples, judged = read_run(ran)
    report = panel_report(examples, judged, bootstrap=0)
    assert report.judges["three"].acc_outcome == pytest.approx(100 * 8 / 12)
    assert report.panel.acc_outcome == pytest.approx(100 * 8 / 12)
    assert report.without["four"].acc_outcome == pytest.approx(100 * 4 / 12)
    assert report.n_differ == len(differing(judged)) == 60 * 7 // 12
    assert report.better_without is None
    weighted = panel_report(examples, judged, Vote.WEIGHTED, bootstrap=0)
    assert weighted.panel.acc_outcome is not None
    pair = report.pairs[0]
    assert (pair.a, pair.b, pair.n_both) == ("three", "four", 60)
    assert (pair.n_differ, pair.a_right, pair.b_right) == (25, 10, 15)


def test_answers_without_labels_have_no_panel(tmp_path: Path) -> None:
    """The error says what is missing and where the run reports the agreement of its judges."""
    row = {"id": "1", "question": "?", "reference": "x", "response": "x"}
    write_rows(tmp_path / "rows.jsonl", [row])
    settings = EvalSettings.model_validate(
        {"name": "open", "out": str(tmp_path / "run"), "answers": [str(tmp_path / "rows.jsonl")],
         "judges": [{"name": "says", "kind": "model"}]}
    )  # fmt: skip
    evaluate_answers(settings, build=lambda one: Says(one.name, 2))
    with pytest.raises(InputError, match=r"answers have no labels.*report\.html"):
        read_run(settings.folder)


def test_the_command(ran: Path) -> None:
    """It reads an evaluation's files and writes beside them; judges can be selected."""
    done = CliRunner().invoke(app, [str(ran), "--vote", "weighted"])
    assert done.exit_code == 0, done.output
    assert "they differ on 35 of 60 rows" in done.output
    assert json.loads((ran / "panel.json").read_text())["n_differ"] == 35
    rows = [row for _, row in read_objects(ran / "differ.jsonl")]
    assert len(rows) == 35
    assert rows[0]["said"].keys() == {"three", "four", "two"}
    two = CliRunner().invoke(app, [str(ran), "--judge", "three", "--judge", "four"])
    assert two.exit_code == 0, two.output
    with pytest.raises(InputError, match="no judge 'five'; it has three, four, two"):
        read_run(ran, ["five"])
    with pytest.raises(MissingError, match="run gradegpt eval CONFIG"):
        read_run(ran / "nowhere")
    write_rows(ran.parent / "rows.jsonl", [])
    with pytest.raises(InputError):
        read_run(ran)
