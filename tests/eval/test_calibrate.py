"""Calibration: what a judge's verdicts are worth, measured on labelled rows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import eval.calibrate
from eval.calibrate import CalibrationSettings, app, calibrate, evidence_of, fit
from gradegpt.core.errors import InputError, MissingError, SettingsError
from gradegpt.core.records import write_rows
from gradegpt.core.schema import Example, Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.calibration import Calibration

REFERENCE = "because of the heavy rain that fell last night"


def example(number: int, response: str = "It was so wet.", reference: str = REFERENCE) -> Example:
    verdict = Verdict.CORRECT if number % 2 else Verdict.INCORRECT
    return Example(
        id=str(number), question=f"Why {number}?", reference=(reference,), response=response,
        verdict=verdict, source="made",
    )  # fmt: skip


class Reader:
    """Right on a share of the questions, with a score; the labels are known to it by the id."""

    name = fingerprint = "model"

    def __init__(self, right_of_ten: int, score: float = 0.9) -> None:
        self.right_of_ten, self.score = right_of_ten, score
        self.asked: list[str] = []

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.asked += [item.id for item in items]
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Judgement:
        number = int(item.id)
        agrees = random.Random(number).random() < self.right_of_ten / 10
        verdict = Verdict.CORRECT if (number % 2 == 1) is agrees else Verdict.INCORRECT
        return Judgement(
            id=item.id, outcome=Outcome.JUDGED, verdict=verdict, score=self.score, method="model"
        )


def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: Sequence[Example],
    reader: Any,
    **more: Any,
) -> tuple[Calibration, dict[str, Any]]:
    write_rows(tmp_path / "rows.jsonl", (r.model_dump(mode="json") for r in rows))
    settings = CalibrationSettings.model_validate(
        {
            "name": "small",
            "sources": [{"path": str(tmp_path / "rows.jsonl"), "fields": None}],
            "out": str(tmp_path / "out"),
            "after": [{"kind": "rules"}],
        }
        | more
    )
    if reader is not None:
        own = settings.judge
        monkeypatch.setattr(
            eval.calibrate, "build_judge", lambda s: reader if s == own else build_judge(s)
        )
    calibrate(settings)
    made = Calibration.model_validate_json((tmp_path / "out" / "calibration.json").read_text())
    return made, json.loads((tmp_path / "out" / "manifest.json").read_text())


def test_a_judge_that_knows_more_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right nine times in ten at a score of 0.9: its odds are taken nearly as they are."""
    rows = [example(n) for n in range(400)]
    made, manifest = run(tmp_path, monkeypatch, rows, Reader(9))
    weights = made.weights["text en"]
    assert weights.own == pytest.approx(1, abs=0.1)
    assert weights.bias == pytest.approx(0, abs=0.3)
    assert weights.most == pytest.approx(0.9, abs=0.05)
    assert (made.judge, made.after) == ("model", ("rules",))
    assert manifest["findings"][0]["used"] is True
    given = [e for e in made.evidence if e.trail[-1] is not None]
    assert sum(e.rows for e in given) == 400


def test_a_judge_at_chance_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However sure it says it is; its rows stay in the evidence, without a verdict."""
    rows = [example(n) for n in range(200)]
    made, _ = run(tmp_path, monkeypatch, rows, Reader(5, 0.99))
    assert made.weights == {}
    assert all(e.trail == (None, None) for e in made.evidence)


def test_an_overconfident_judge_is_drawn_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right seven times in ten where it says 0.99: its log odds count less than a third."""
    rows = [example(n) for n in range(800)]
    made, _ = run(tmp_path, monkeypatch, rows, Reader(7, 0.99))
    assert made.weights["text en"].own < 1 / 3
    assert made.weights["text en"].most == pytest.approx(0.7, abs=0.05)


def test_what_earlier_judges_are_sure_of_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts as evidence all the same, with the rules' probability."""
    sure = Example(
        id="1001", question="2+2=?", reference=("4",), response="It is 4.", source="made",
        verdict=Verdict.CORRECT,
    )  # fmt: skip
    judge = Reader(9)
    made, _ = run(tmp_path, monkeypatch, [sure, *(example(n) for n in range(80))], judge)
    assert "1001" not in judge.asked
    (kept,) = [e for e in made.evidence if e.kind == "number en"]
    assert kept.right
    assert kept.trail[0] is not None
    assert kept.trail[0] > 0.97
    assert kept.trail[1] is None


def test_rare_kinds_share_their_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Separately they would be fitted to too few rows."""
    rows = [example(n) for n in range(60)]
    rows += [example(n, "下了很大的雨") for n in range(60, 80)]
    rows += [example(n, reference="the rain") for n in range(80, 100)]
    made, _ = run(tmp_path, monkeypatch, rows, Reader(9))
    assert set(made.weights) == {"text en", "other"}


def test_signs_of_a_reading_are_weighed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign of half of the wrong verdicts lowers the confidence; a rare one is not measured."""
    rows = [
        Example(
            id=str(n), question=f"{n}+2=?", reference=("4",),
            response="It is 4." if n % 2 else "\\boxed{4}",
            verdict=Verdict.INCORRECT if n % 8 == 1 else Verdict.CORRECT,
        )
        for n in range(80)
    ]  # fmt: skip
    made, _ = run(tmp_path, monkeypatch, rows, None, judge={"kind": "rules"}, after=[])
    assert made.signs["correct boxed"] > 0 > made.signs["correct whole"]
    assert made.signs["base"] > 0
    assert "long response" not in made.signs
    assert made.weights == {}
    assert sum(e.rows for e in made.evidence) == 80
    rows = [row.model_copy(update={"response": "Hm?"}) for row in rows]
    with pytest.raises(InputError, match="the rules decide none of the 80 rows"):
        run(tmp_path / "none", monkeypatch, rows, None, judge={"kind": "rules"}, after=[])


@pytest.mark.parametrize(("more", "drawn"), [([], 50), (["unconfirmed=null", "sample=0"], 80)])
def test_the_recipe_calibrates_on_a_table_of_ones_own_from_any_folder(
    more: list[str], drawn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lists that it names are shipped; how many rows it draws of how many is said."""
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.jsonl", [example(n, "4", "4") for n in range(80)])
    own = ["judge={kind: rules}", "after=[]", "sources=[{path: rows.jsonl, fields: null}]"]
    ended = CliRunner().invoke(app, ["calibrate-1.5b", *own, *more, "name=cal"])
    assert ended.exit_code == 0, ended.output
    said = "50 of 80 rows are drawn, at most 50 of a source; sample=0 takes all\n"
    assert (said in ended.stderr) is (drawn == 50)
    with (tmp_path / "runs/cal/items.jsonl").open() as items:
        assert len(list(items)) == drawn


def test_only_single_judges_are_calibrated(tmp_path: Path) -> None:
    """A cascade's judges are calibrated one by one."""
    values = {"name": "x", "sources": [{"path": "x"}], "judge": {"kind": "cascade"}}
    with pytest.raises(SettingsError, match="one by one"):
        calibrate(CalibrationSettings.model_validate(values))


def test_weights_correct_a_model_that_gives_one_verdict_too_often() -> None:
    """Its log odds are two too low, and half of the earlier judge's are noise."""
    rng = np.random.default_rng(0)
    right = np.arange(2000) % 2 == 0
    sign = np.where(right, 1.0, -1.0)
    own = 2 * sign + rng.normal(0, 1.5, 2000) - 2
    before = sign + rng.normal(0, 2, 2000)
    found = fit(np.stack([own, before, np.ones(2000)], axis=1), right)
    # Two normal densities of one variance have log odds of 2 mean / variance.
    assert found[0] == pytest.approx(2 * 2 / 1.5**2, rel=0.15)
    assert found[1] == pytest.approx(2 / 2**2, rel=0.25)
    assert found[2] == pytest.approx(2 * found[0], rel=0.1)


def test_few_rows_leave_the_models_odds_nearly_alone() -> None:
    """A prior keeps the weight of the judge near 1 and the others near 0."""
    table = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])
    found = fit(table, np.array([True, False]))
    assert found[0] == pytest.approx(1, abs=0.5)
    assert found[1] == 0
    assert found[2] == pytest.approx(0, abs=1e-3)


def test_equal_rows_are_one_piece_of_evidence() -> None:
    """With their number."""
    rows = [example(1), example(3), example(2)]
    found = evidence_of(rows, [(0.9,), (0.9,), (0.9,)])
    assert sorted((e.right, e.rows) for e in found) == [(False, 1), (True, 2)]


def test_rows_whose_labels_a_reader_did_not_confirm_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the draw, so that no row that nobody read takes their place."""
    aside = tmp_path / "unconfirmed.txt"
    aside.write_text("# id | reason\n" + "".join(f"{n} | unsettled\n" for n in range(20)))
    reader, rows = Reader(9), [example(n) for n in range(100)]
    run(tmp_path, monkeypatch, rows, reader, unconfirmed=str(aside))
    with pytest.raises(MissingError, match=r"nowhere\.txt: unconfirmed: No such file"):
        run(tmp_path, monkeypatch, rows, reader, unconfirmed="nowhere.txt")
    assert {*map(int, reader.asked)} == {*range(20, 100)}
