"""Calibration: what verdicts are worth, and how a judge adds to the ones before it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gradegpt.core.errors import InputError, MissingError
from gradegpt.core.schema import AnswerType, Item, Judgement, Outcome, Verdict
from gradegpt.judges.calibration import (
    CALIBRATION_FILE,
    OUTWEIGHED,
    Calibration,
    Weights,
    calibration_beside,
    chance_of_right,
    combined,
    kind_of,
    packaged,
    read_calibration,
)
from gradegpt.judges.rules import RuleJudge

TEXT = Item(
    id="t", question="Why?", reference=("because it rained a lot all day",), response="It was wet."
)
YES, NO = Verdict.CORRECT, Verdict.INCORRECT


def said(
    verdict: Verdict | None, *, score: float | None = None, confidence: float | None = None
) -> Judgement:
    outcome = Outcome.UNDECIDED if verdict is None else Outcome.JUDGED
    return Judgement(
        id="t", outcome=outcome, verdict=verdict, score=score, confidence=confidence,
        method="rules" if score is None else "model", reason="a:reason", chain="a chain",
    )  # fmt: skip


def withheld(verdict: Verdict, score: float) -> Judgement:
    return Judgement(
        id="t", outcome=Outcome.UNDECIDED, withheld=verdict, score=score, method="model"
    )


def test_a_kind_is_a_type_and_a_language() -> None:
    """The stated type before the likely one; free text is short, or in two languages."""
    assert kind_of(TEXT) == "text en"
    rained = TEXT.model_copy(update={"response": "下雨了"})
    assert kind_of(rained) == "text across"
    assert kind_of(rained.model_copy(update={"reference": ("因为下雨",)})) == "short text zh"
    long = ("因为下了很大的雨，而且下了一整天",)
    assert kind_of(rained.model_copy(update={"reference": long})) == "text zh"
    assert kind_of(TEXT.model_copy(update={"reference": ("rain", "a shower")})) == "short text en"
    assert kind_of(Item(reference=("42",), response="共有43只")) == "number zh"
    assert kind_of(TEXT.model_copy(update={"answer_type": AnswerType.SET})) == "set en"


def test_a_verdict_of_the_rules_is_worth_its_signs() -> None:
    """By hand: the log odds are the base and the weights of the signs; a rare rule is less sure."""
    signs, often = {"base": 3.0, "whole": -1.0, "number": 0.5}, 10**9
    calibration = Calibration(judge="rules-0", signs=signs, seen={"often": often})
    found = calibration.confidence_of(["number"], "often")
    assert found == pytest.approx(1 / (1 + math.exp(-3.5)))
    new = calibration.confidence_of(["whole", "new"], "never")
    assert new == pytest.approx(0.9 / (1 + math.exp(-2)))
    assert Calibration(judge="x").confidence_of(["number"], "often") is None


@pytest.mark.parametrize(
    ("own", "before", "weights", "verdict", "confidence"),
    [
        (said(YES, score=0.8), said(None), Weights(own=2), YES, 16 / 17),
        (said(NO, score=0.9), said(YES, confidence=0.8), Weights(), NO, 9 / 13),
        (said(NO, score=0.6), said(YES, confidence=0.9), Weights(), YES, 6 / 7),
        (said(YES, score=0.8), withheld(NO, 0.7), Weights(), YES, 0.8),
        (said(YES, score=0.8), said(None), Weights(bias=-2), NO, 1 / (1 + 4 * math.exp(-2))),
    ],
)
def test_log_odds_are_added(
    own: Judgement, before: Judgement, weights: Weights, verdict: Verdict, confidence: float
) -> None:
    """Odds of 4 squared are 16; 9 against 4 overturns a verdict, 3/2 against 9 does not."""
    found = combined(before, own, weights)
    assert (found.outcome, found.verdict) == (Outcome.JUDGED, verdict)
    assert found.confidence == pytest.approx(confidence)


def test_the_chain_is_that_of_the_verdict() -> None:
    """An earlier verdict that is kept keeps its method; a verdict of no judge has no chain."""
    kept = combined(said(YES, confidence=0.9), said(NO, score=0.6), Weights())
    assert (kept.method, kept.chain) == ("rules", "a chain")
    neither = combined(said(None), said(YES, score=0.6), Weights(bias=-3))
    assert (neither.method, neither.reason, neither.chain) == ("model", OUTWEIGHED, None)


def test_a_withheld_verdict_stays_withheld_until_another_judge_gives_one() -> None:
    """Its odds count, and a later judge adds its own to them."""
    doubt = combined(said(None), withheld(YES, 0.8), Weights())
    assert (doubt.outcome, doubt.withheld, doubt.verdict) == (Outcome.UNDECIDED, YES, None)
    assert chance_of_right(doubt) == pytest.approx(0.8)
    after = combined(doubt, said(YES, score=0.5), Weights())
    assert (after.verdict, after.confidence) == (YES, pytest.approx(0.8))
    given = combined(doubt, said(NO, score=0.6), Weights())
    assert (given.outcome, given.withheld, given.verdict) == (Outcome.JUDGED, None, YES)
    outvoted = combined(said(None), withheld(YES, 0.6), Weights(bias=-3))
    assert (outvoted.outcome, outvoted.withheld) == (Outcome.UNDECIDED, NO)


def test_a_judge_without_a_score_adds_nothing() -> None:
    """A failure stays a failure, whatever was known before it."""
    before = said(YES, confidence=0.9)
    failed = Judgement(id="t", outcome=Outcome.FAILED, method="model", reason="engine:error: x")
    assert combined(before, failed, Weights()) == failed
    assert combined(before, said(None), Weights()).verdict is YES


def test_the_rules_are_calibrated() -> None:
    """For this version; the confidence of a rule is below 1 and above its prior's half."""
    rules = packaged("rules")
    assert rules is not None
    assert rules.judge == RuleJudge().fingerprint
    item = Item(reference=("3/4",), response="The answer is 0.75.")
    (judgement,) = RuleJudge().judge([item])
    assert judgement.confidence is not None
    assert 0.9 < judgement.confidence < 1
    assert judgement.span is not None
    assert item.response[slice(*judgement.span)] == judgement.key_sentence


def test_calibration_is_read_from_the_folder_of_the_weights(tmp_path: Path) -> None:
    """None where there is no file; a file with other fields is an error."""
    made = Calibration(judge="m", after=("rules",), weights={"text en": Weights(own=0.5)})
    assert calibration_beside(None) is None
    assert calibration_beside(str(tmp_path)) is None
    path = tmp_path / CALIBRATION_FILE
    path.write_text(made.model_dump_json(exclude_defaults=True))
    assert calibration_beside(str(tmp_path)) == read_calibration(path) == made
    path.write_text('{"least": {}}')
    with pytest.raises(InputError, match=r"calibration\.json"):
        calibration_beside(str(tmp_path))
    with pytest.raises(MissingError, match=r"gradegpt eval\.calibrate"):
        read_calibration(tmp_path / "none.json")
