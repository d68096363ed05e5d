"""The risk-coverage curve: by hand, with ties, withheld verdicts and missing confidences."""

from __future__ import annotations

import pytest

from eval.selective import RiskCoverage, risk_coverage
from gradegpt.core.schema import Example, Judgement, Outcome, Verdict

RIGHT, WRONG = Verdict.CORRECT, Verdict.INCORRECT


def decided(confidence: float | None, verdict: Verdict = RIGHT) -> Judgement:
    return Judgement(
        id="x", outcome=Outcome.JUDGED, verdict=verdict, confidence=confidence, score=0.5,
        method="model",
    )  # fmt: skip


def withheld(confidence: float | None, verdict: Verdict | None = RIGHT) -> Judgement:
    return Judgement(
        id="x", outcome=Outcome.UNDECIDED, withheld=verdict, confidence=confidence, method="model"
    )


def curve(*said: Judgement) -> RiskCoverage | None:
    """All responses are correct, so that a verdict ``WRONG`` is an error."""
    examples = [
        Example(question=f"{n}?", reference="1", response="1", verdict=RIGHT)
        for n in range(len(said))
    ]
    return risk_coverage(examples, said)


def known(*said: Judgement) -> RiskCoverage:
    found = curve(*said)
    assert found is not None
    return found


def points(found: RiskCoverage) -> list[tuple[float, float]]:
    return [(round(point.coverage, 6), round(point.risk.value, 6)) for point in found.points]


def test_a_curve_by_hand() -> None:
    """Four of five rows have a verdict: right, wrong, right, and withheld a wrong one.

    The risks are 0, 1/2, 1/3 and 1/2; three rows are decided.
    """
    found = known(
        decided(0.7), decided(0.9), withheld(None, None), withheld(0.6, WRONG), decided(0.8, WRONG),
    )  # fmt: skip
    assert points(found) == [(0.2, 0), (0.4, 0.5), (0.6, 0.333333), (0.8, 0.5)]
    assert [point.confidence for point in found.points] == [0.9, 0.8, 0.7, 0.6]
    assert (found.n_rows, found.n_withheld) == (5, 1)
    assert found.operating == found.points[2]
    # Wilson's limits of none of one row
    assert found.points[0].risk.interval.high == pytest.approx(0.793, abs=0.001)


def test_equal_confidences_are_decided_together() -> None:
    """No threshold separates them, whatever their order in the file."""
    for rows in ((decided(0.9), decided(0.9, WRONG)), (decided(0.9, WRONG), decided(0.9))):
        found = known(*rows)
        assert points(found) == [(1.0, 0.5)]


def test_without_confidences_there_is_no_curve() -> None:
    """A score is none: what the judge decided is all that is known."""
    found = known(decided(None), decided(None, WRONG), withheld(None))
    assert found.points == ()
    assert found.operating is not None
    assert (found.operating.coverage, found.operating.risk.value) == (2 / 3, 0.5)
    assert curve(withheld(None, None)) is None
    assert curve() is None


def test_a_verdict_without_confidence_is_decided_at_every_threshold() -> None:
    """It comes first, and no confidence separates it; a withheld one would never be given."""
    found = known(decided(0.9), decided(None, WRONG), withheld(None))
    assert points(found) == [(0.333333, 1.0), (0.666667, 0.5)]
    assert [point.confidence for point in found.points] == [None, None]
    assert found.n_withheld == 0


def test_a_judge_that_withholds_everything_has_a_curve_and_no_operating_point() -> None:
    """The curve shows what it could decide."""
    found = known(withheld(0.6), withheld(0.5, WRONG))
    assert found.operating is None
    assert points(found) == [(0.5, 0.0), (1.0, 0.5)]


def test_a_long_curve_has_few_points_and_ends_where_the_rows_end() -> None:
    """Fifty are enough for a plot."""
    rows = [decided(1 - n / 1000, WRONG if n % 2 else RIGHT) for n in range(500)]
    found = known(*rows)
    assert len(found.points) == 50
    assert (found.points[-1].coverage, found.points[-1].risk.value) == (1.0, 0.5)
