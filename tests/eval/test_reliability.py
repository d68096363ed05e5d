"""The calibration of confidences: numbers by hand, chance, and what is not calibrated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval.reliability import ALL, Rated, Reliability, calibration, calibrations, equal_mass
from gradegpt.core.schema import Example, Judgement, Outcome, Verdict

RIGHT, WRONG = Verdict.CORRECT, Verdict.INCORRECT


def rated(*rows: tuple[float, bool], answers: int = 1) -> Rated:
    """Rows of a confidence and whether the verdict is right, ``answers`` to a question."""
    confidence, right = zip(*rows, strict=True)
    return Rated(np.array(confidence), np.array(right), np.arange(len(rows)) // answers)


def drawn(n: int, bias: float, *, answers: int = 1) -> Reliability:
    """Rows of a judge whose accuracy is its confidence less ``bias``."""
    rng = np.random.default_rng(7)
    confidence = rng.beta(9, 1, n)
    right = rng.random(n) < confidence - bias
    return calibration(Rated(confidence, right, np.arange(n) // answers))


def test_four_rows_by_hand() -> None:
    """Of four rows at 0.9 two are right: a difference of 0.4 with a variance of 1 / 12.

    The squared error is 0.16 - 0.0833.
    """
    found = calibration(rated((0.9, True), (0.9, True), (0.9, False), (0.9, False)))
    assert found.error == pytest.approx(math.sqrt(0.16 - 1 / 12))
    (one,) = found.bins
    assert (one.low, one.high, one.n_rows, one.accuracy.value) == (0.9, 0.9, 4, 0.5)
    # Wilson: (2 + z2 / 2 ± z sqrt(1 + z2 / 4)) / (4 + z2)
    ends = (one.accuracy.interval.low, one.accuracy.interval.high)
    assert ends == pytest.approx((0.150, 0.850), abs=0.001)


def test_one_row_is_hardly_evidence() -> None:
    """The difference of 0.2 is less than chance would give, and its limits say nothing."""
    found = calibration(rated((0.8, True)))
    assert (found.n_rows, found.error) == (1, 0.0)
    assert found.interval.low == 0
    assert found.interval.high > 0.5
    assert found.accuracy.interval.low == pytest.approx(0.207, abs=0.001)


def test_all_right_at_full_confidence_is_not_certain() -> None:
    """Ten such rows are compatible with a smaller accuracy."""
    found = calibration(rated(*[(1.0, True)] * 10))
    assert found.error == 0
    assert found.interval.high > 0.1


@pytest.mark.parametrize("n", [30, 300, 3000])
def test_a_calibrated_judge_has_zero_in_its_interval(n: int) -> None:
    """A judge that is 0.2 too sure is found out."""
    found = drawn(n, 0.0)
    assert found.interval.low == 0 < found.interval.high
    over = drawn(n, 0.2)
    assert over.interval.low <= over.error <= over.interval.high
    assert over.interval.low > 0


def test_bins_have_equally_many_rows_and_share_no_confidence() -> None:
    """Ninety different values are three bins of 30; equal values stay together, a rest joins."""
    assert [len(rows) for rows in equal_mass(np.arange(90) / 90)] == [30, 30, 30]
    assert len(equal_mass(np.arange(5000) / 5000)) == 10
    assert [len(rows) for rows in equal_mass(np.full(60, 0.9))] == [60]
    tied = np.array([0.5] * 35 + [0.9] * 70 + [0.95] * 5)
    assert [len(rows) for rows in equal_mass(tied)] == [35, 75]


def test_answers_to_one_question_are_less_evidence() -> None:
    """Ten questions with ten equal answers have wider limits than a hundred questions."""
    rows = [(0.8, n % 5 > 0) for n in range(10) for _ in range(10)]
    apart, together = (calibration(rated(*rows, answers=n)) for n in (1, 10))
    assert apart.accuracy.value == together.accuracy.value == 0.8
    # the limits of 8 of 10 (a design effect of 99 / 9), wider for ten questions; those of 80 of 100
    assert together.accuracy.interval.low == pytest.approx(0.433, abs=0.001)
    assert apart.accuracy.interval.low == pytest.approx(0.711, abs=0.001)
    assert together.interval.high > apart.interval.high


def judgement(method: str, confidence: float | None, verdict: Verdict | None = RIGHT) -> Judgement:
    return Judgement(
        id="x", outcome=Outcome.JUDGED if verdict else Outcome.UNDECIDED, verdict=verdict,
        method=method, confidence=confidence, score=0.9 if verdict else None,
    )  # fmt: skip


def test_each_method_is_measured_and_no_score_is_a_confidence() -> None:
    """Rules have no confidence here, only a score; undecided rows count nowhere."""
    said = [
        judgement("rules", None), judgement("model", 0.9), judgement("model", 0.6, WRONG),
        judgement("model", 0.7, Verdict.INVALID), judgement("model", 0.2, None),
    ]  # fmt: skip
    labels = (RIGHT, RIGHT, RIGHT, WRONG, RIGHT)
    examples = [
        Example(question=f"{n}?", reference="1", response="1", verdict=label)
        for n, label in enumerate(labels)
    ]
    found = calibrations(examples, said)
    assert list(found) == [ALL, "rules", "model"]
    assert found["rules"] is None
    model, every = found["model"], found[ALL]
    assert model is not None
    assert every is not None
    assert (model.n_rows, model.n_uncalibrated, every.n_uncalibrated) == (3, 0, 1)
    assert model.accuracy.value == pytest.approx(2 / 3)  # invalid is right for a wrong response
    assert calibrations(examples[:1], said[:1]) == {ALL: None, "rules": None}
    assert calibrations([], []) == {ALL: None}


def test_the_interval_holds_the_truth_in_simulated_evaluations() -> None:
    """The claim of the benchmark, on a small scale."""
    from benchmarks.calibration_error import sample

    rng = np.random.default_rng(1)
    drawn = [sample(rng, "calibrated, sure", 60, 4) for _ in range(60)]
    assert np.mean([one.covered for one in drawn]) >= 0.9
