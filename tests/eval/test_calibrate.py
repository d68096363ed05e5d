"""Calibration: the least confidence from which a judge beats chance on a kind of answer, if any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eval.calibrate
from eval.calibrate import CalibrationSettings, calibrate, findings_of, fit_weights
from gradegpt.judges.calibration import Calibration
from gradegpt.records import write_rows
from gradegpt.schema import Example, Item, Judgement, Outcome, Verdict


def example(number: int, response: str = "It was wet.") -> Example:
    verdict = Verdict.CORRECT if number % 2 else Verdict.INCORRECT
    return Example(
        id=str(number), question=f"Why {number}?", reference=("because it rained",),
        response=response, verdict=verdict,
    )  # fmt: skip


def says(example: Example, right: bool, confidence: float) -> Judgement:
    truly = example.verdict is Verdict.CORRECT
    verdict = Verdict.CORRECT if truly is right else Verdict.INCORRECT
    return Judgement(
        id=example.id, outcome=Outcome.JUDGED, verdict=verdict, confidence=confidence,
        method="model",
    )  # fmt: skip


def settings(**changes: Any) -> CalibrationSettings:
    values = {"name": "small", "sources": [{"path": "x"}], "levels": [0, 0.9], "draws": 200}
    return CalibrationSettings.model_validate(values | changes)


def test_the_least_confidence_that_beats_chance_is_taken() -> None:
    """A judge that is right only where it is confident is used from that confidence."""
    rows = [example(n) for n in range(120)]
    sure = [says(e, n // 2 % 8 != 0, 0.95) for n, e in enumerate(rows[:60])]
    coin = [says(e, n // 2 % 6 == 0, 0.6) for n, e in enumerate(rows[60:])]
    text, other = findings_of(rows, [*sure, *coin], settings())
    assert (text.kind, text.rows, text.least_confidence, text.kept) == ("text en", 120, 0.9, 60)
    assert text.interval is not None
    assert 0.5 < text.interval[0] < (text.balanced_accuracy or 0) < text.interval[1]
    assert (other.kind, other.rows, other.least_confidence) == ("other", 0, None)


def test_a_judge_at_chance_is_never_used() -> None:
    """There is no confidence from which it is better."""
    rows = [example(n) for n in range(100)]
    said = [says(e, n // 2 % 2 == 0, 0.99) for n, e in enumerate(rows)]
    assert findings_of(rows, said, settings())[0].least_confidence is None


def test_rare_kinds_are_counted_together() -> None:
    """Separately they would be measured on too few rows."""
    rows = [example(n) for n in range(30)] + [example(n, "下雨") for n in range(30, 45)]
    said = [says(e, True, 1.0) for e in rows]
    kinds = {f.kind: f for f in findings_of(rows, said, settings(least_rows=16))}
    assert kinds.keys() == {"text en", "other"}
    assert (kinds["other"].rows, kinds["other"].least_confidence) == (15, None)
    kinds = {f.kind: f for f in findings_of(rows, said, settings(least_rows=15))}
    assert kinds["text across"].least_confidence == 0


class Sure:
    """Judges every response correct."""

    name = fingerprint = "sure"

    def judge(self, items: list[Item]) -> list[Judgement]:
        return [
            Judgement(id=i.id, outcome=Outcome.JUDGED, verdict=Verdict.CORRECT, confidence=1,
                      method="model")
            for i in items
        ]  # fmt: skip


def test_the_whole_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is asked only about rows that the rules leave open; a cascade reads the file."""
    monkeypatch.setattr(eval.calibrate, "build_judge", lambda _: Sure())
    easy = Example(
        id="e", question="2+2=?", reference=("4",), response="It is 4.", verdict=Verdict.CORRECT
    )
    rows = [easy, *(example(n) for n in range(40))]
    write_rows(tmp_path / "rows.jsonl", (r.model_dump(mode="json") for r in rows))
    source = {"path": str(tmp_path / "rows.jsonl"), "fields": None}
    found = calibrate(settings(sources=[source], out=str(tmp_path / "out")))
    assert [(f.kind, f.rows, f.least_confidence) for f in found] == [
        ("text en", 40, None), ("other", 0, None),
    ]  # fmt: skip
    calibration = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert Calibration.model_validate(calibration).least_confidence == {
        "text en": None,
        "other": None,
    }
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["rows"] == {"left by the rules": 40}


class Coin:
    """Right on every ``one_in``-th question, always with full confidence."""

    name = fingerprint = "coin"

    def __init__(self, one_in: int, examples: list[Example]) -> None:
        self.one_in, self.truth = one_in, {e.id: e for e in examples}

    def judge(self, items: list[Item]) -> list[Judgement]:
        return [
            says(self.truth[i.id], int(i.id) // 2 % self.one_in == 0, 0.99).model_copy(
                update={"id": i.id}
            )
            for i in items
        ]


@pytest.mark.parametrize(
    ("one_in", "trained_on", "thresholds"),
    [(2, False, {"text en": 0.0}), (1, False, {}), (2, True, {"text en": 0.0})],
)
def test_the_lexical_judge_is_used_where_it_beats_the_model(
    one_in: int,
    trained_on: bool,
    thresholds: dict[str, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few rows do not suffice to measure it; rows that trained the model may be added.

    Where the model is never wrong, a sixth of the lexical judge's verdicts are wrong.
    """
    words = ("because rain fell, it seems", "the sun was shining")
    rows = [
        example(n, words[(n + 1 + (one_in == 1 and n // 2 % 6 == 0)) % 2]).model_copy(
            update={"reference": ("because of the rain",)}
        )
        for n in range(80)
    ]
    held_out = rows[:20] if trained_on else rows
    for name, part in (("rows", held_out), ("more", rows[20:])):
        write_rows(tmp_path / f"{name}.jsonl", (r.model_dump(mode="json") for r in part))
    sources, more = (
        [{"path": str(tmp_path / f"{name}.jsonl"), "fields": None}] for name in ("rows", "more")
    )
    monkeypatch.setattr(eval.calibrate, "build_judge", lambda _: Coin(one_in, rows))
    found = calibrate(
        settings(sources=sources, trained_on=more if trained_on else [], out=str(tmp_path / "out"))
    )
    calibration = Calibration.model_validate(
        json.loads((tmp_path / "out" / "calibration.json").read_text())
    )
    assert calibration.lexical == thresholds
    assert {f.judge for f in found if f.least_confidence is not None} == (
        {"lexical"} if thresholds else {"model"}
    )


def test_weights_correct_a_model_that_gives_one_verdict_too_often() -> None:
    """Its log odds are two too low, and half of the lexical judge's are noise."""
    rng = np.random.default_rng(0)
    right = np.arange(2000) % 2 == 0
    sign = np.where(right, 1.0, -1.0)
    model = 2 * sign + rng.normal(0, 1.5, 2000) - 2
    words = sign + rng.normal(0, 2, 2000)
    found = fit_weights(np.stack([model, words, np.ones(2000)], axis=1), right)
    # Two normal densities of one variance have log odds of 2 mean / variance.
    assert found.model == pytest.approx(2 * 2 / 1.5**2, rel=0.15)
    assert found.lexical == pytest.approx(2 / 2**2, rel=0.25)
    assert found.bias == pytest.approx(2 * found.model, rel=0.1)


def test_few_rows_leave_the_models_odds_nearly_alone() -> None:
    """A prior keeps the weight near 1; the rows of both verdicts have the same total weight."""
    right = np.array([True, False])
    table = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])
    found = fit_weights(table, right)
    assert found.model == pytest.approx(1, abs=0.5)
    assert (found.lexical, found.bias) == (0, pytest.approx(0, abs=1e-3))
    many = fit_weights(np.repeat(table, (1, 50), axis=0), np.repeat(right, (1, 50)))
    assert many.bias == pytest.approx(0, abs=1e-3)


def test_a_model_at_chance_does_not_replace_the_lexical_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a few rows the model is as good; over all of them the lexical judge alone beats chance."""
    words = ("because rain fell, it seems", "the sun was shining")
    rows = [
        example(n, words[(n + 1 + (n < 24 and n // 4 % 2)) % 2]).model_copy(
            update={"reference": ("because of the rain",)}
        )
        for n in range(160)
    ]
    for name, part in (("rows", rows[:24]), ("more", rows[24:])):
        write_rows(tmp_path / f"{name}.jsonl", (r.model_dump(mode="json") for r in part))
    sources, more = (
        [{"path": str(tmp_path / f"{name}.jsonl"), "fields": None}] for name in ("rows", "more")
    )
    monkeypatch.setattr(eval.calibrate, "build_judge", lambda _: Coin(2, rows))
    calibrate(settings(sources=sources, trained_on=more, out=str(tmp_path / "out")))
    calibration = Calibration.model_validate(
        json.loads((tmp_path / "out" / "calibration.json").read_text())
    )
    assert calibration.lexical == {"text en": 0.0}
