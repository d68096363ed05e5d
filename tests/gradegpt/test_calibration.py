"""Calibration: a cascade abstains below the thresholds, and weighs both judges."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gradegpt.engines import ScriptedEngine
from gradegpt.errors import InputError
from gradegpt.judges import CascadeJudge, ModelJudge, RuleJudge
from gradegpt.judges.calibration import (
    CALIBRATION_FILE,
    Calibration,
    Weights,
    calibration_beside,
    kind_of,
)
from gradegpt.judges.lexical import LexicalJudge
from gradegpt.records import write_json
from gradegpt.schema import AnswerType, Item, Judgement, Outcome, Verdict

TEXT = Item(
    id="t", question="Why?", reference=("because it rained",), response="It was wet outside."
)
NEVER = Calibration(least_confidence={"text en": None})


def judgement(confidence: float | None, outcome: Outcome = Outcome.JUDGED) -> Judgement:
    verdict = Verdict.CORRECT if outcome is Outcome.JUDGED else None
    return Judgement(
        id="t", outcome=outcome, verdict=verdict, confidence=confidence, method="model",
        reason="model:chain", chain="a chain",
    )  # fmt: skip


def test_a_kind_is_a_type_and_a_language() -> None:
    """The stated type before the likely one; free text in two languages is a separate kind."""
    assert kind_of(TEXT) == "text en"
    rained = TEXT.model_copy(update={"response": "下雨了"})
    assert kind_of(rained) == "text across"
    assert kind_of(rained.model_copy(update={"reference": ("因为下雨",)})) == "text zh"
    assert kind_of(TEXT.model_copy(update={"reference": ("因为下雨",)})) == "text across"
    assert kind_of(Item(reference=("42",), response="共有43只")) == "number zh"
    assert kind_of(TEXT.model_copy(update={"answer_type": AnswerType.SET})) == "set en"
    assert kind_of(Item(reference=("42",), response="43")) == "number en"


@pytest.mark.parametrize(
    ("least", "confidence", "used"),
    [(None, 1.0, False), (0.9, 0.95, True), (0.9, 0.8, False), (0.0, 0.5, True), (0.9, None, True)],
)
def test_below_the_threshold_a_judgement_is_undecided_and_keeps_its_chain(
    least: float | None, confidence: float | None, used: bool
) -> None:
    """A verdict without a probability is used, unless the kind has no threshold at all."""
    made = judgement(confidence)
    found = Calibration(least_confidence={"text en": least}).applied(TEXT, made)
    if used:
        assert found == made
    else:
        assert (found.outcome, found.verdict) == (Outcome.UNDECIDED, None)
        assert (found.reason, found.chain) == ("cascade:below-threshold:text en", "a chain")


@pytest.mark.parametrize(
    ("weights", "confidence", "verdict", "expected"),
    [
        (Weights(model=2.0), 0.8, Verdict.CORRECT, 16 / 17),
        (Weights(bias=-2.0), 0.8, Verdict.INCORRECT, 1 / (1 + 4 * math.exp(-2.0))),
        (Weights(bias=1.0), 1.0, Verdict.CORRECT, 1.0),
    ],
)
def test_a_verdict_is_weighed(
    weights: Weights, confidence: float, verdict: Verdict, expected: float
) -> None:
    """Odds of 4 squared are 16; where the verdict changes, the contradicting chain is left out."""
    said = judgement(confidence)
    calibration = Calibration(least_confidence={}, weights={"text en": weights})
    found = calibration.applied(TEXT, said)
    assert found.verdict is verdict
    assert found.confidence == pytest.approx(expected, abs=1e-5)
    assert (found.chain is None) is (verdict is not said.verdict)
    assert found.reason.startswith("cascade:outweighed:") is (verdict is not said.verdict)
    assert calibration.without_thresholds == calibration
    unsure = Calibration(least_confidence={"text en": None}, weights=calibration.weights)
    assert unsure.applied(TEXT, said).outcome is Outcome.UNDECIDED
    assert unsure.without_thresholds.applied(TEXT, said) == found


def test_the_lexical_judge_counts_where_it_has_a_weight() -> None:
    """Its odds are added to the model's; without its odds or the model's nothing changes."""
    right = TEXT.model_copy(update={"response": "It happened because it rained."})
    calibration = Calibration(
        least_confidence={}, weights={"other": Weights(model=0.0, lexical=1.0)}
    )
    (words,) = LexicalJudge().judge([right])
    assert words.confidence is not None
    assert calibration.applied(right, judgement(0.6)).confidence == pytest.approx(words.confidence)
    across = TEXT.model_copy(update={"response": "下雨了"})
    assert calibration.applied(across, judgement(0.6)).confidence == 0.5
    silent = judgement(None, Outcome.FAILED)
    assert calibration.applied(right, silent) == silent
    assert calibration.applied(right, judgement(None)) == judgement(None)


def test_kinds_that_are_not_listed_use_other() -> None:
    """Without ``other`` their verdicts are used; a failure stays a failure."""
    said = judgement(0.6)
    assert Calibration(least_confidence={"set zh": None}).applied(TEXT, said) == said
    found = Calibration(least_confidence={"other": 0.7}).applied(TEXT, said)
    assert found.outcome is Outcome.UNDECIDED
    failed = judgement(None, Outcome.FAILED)
    assert NEVER.applied(TEXT, failed) == failed


def test_a_cascade_abstains_and_its_fingerprint_differs() -> None:
    """Verdicts of the rules do not depend on the model's thresholds."""
    number = Item(id="n", question="2+2=?", reference=("4",), response="The answer is 4.")
    engine = ScriptedEngine(lambda _: "The answers agree: <Yes>")
    free, bound = (
        CascadeJudge(RuleJudge(), ModelJudge(engine), calibration) for calibration in (None, NEVER)
    )
    assert [j.outcome.value for j in free.judge([number, TEXT])] == ["judged", "judged"]
    assert [j.outcome.value for j in bound.judge([number, TEXT])] == ["judged", "undecided"]
    assert free.fingerprint != bound.fingerprint


def test_calibration_is_read_from_the_folder_of_the_weights(tmp_path: Path) -> None:
    """None where there is no file; a file with other fields is an error."""
    assert calibration_beside(None) is None
    assert calibration_beside(str(tmp_path)) is None
    write_json(tmp_path / CALIBRATION_FILE, NEVER.model_dump(mode="json"))
    assert calibration_beside(str(tmp_path)) == NEVER
    write_json(tmp_path / CALIBRATION_FILE, {"least": {}})
    with pytest.raises(InputError, match=r"calibration\.json"):
        calibration_beside(str(tmp_path))
