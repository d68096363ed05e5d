"""A cascade abstains where its model was measured to be no better than chance."""

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
    """The stated type before the likely one; a text in two languages is a kind of its own."""
    assert kind_of(TEXT) == "text en"
    rained = TEXT.model_copy(update={"response": "下雨了"})
    assert kind_of(rained) == "text across"
    assert kind_of(rained.model_copy(update={"reference": ("因为下雨",)})) == "text zh"
    assert kind_of(TEXT.model_copy(update={"reference": ("因为下雨",)})) == "text across"
    assert kind_of(Item(reference=("42",), response="共有43只")) == "number zh"
    assert kind_of(TEXT.model_copy(update={"answer_type": AnswerType.SET})) == "set en"
    assert kind_of(Item(reference=("42",), response="43")) == "number en"


@pytest.mark.parametrize(
    ("least", "confidence", "believed"),
    [(None, 1.0, False), (0.9, 0.95, True), (0.9, 0.8, False), (0.0, 0.5, True), (0.9, None, True)],
)
def test_what_is_not_believed_is_undecided_and_keeps_its_chain(
    least: float | None, confidence: float | None, believed: bool
) -> None:
    """An engine that tells no probability is believed wherever it is at all."""
    said = judgement(confidence)
    found = Calibration(least_confidence={"text en": least}).applied(TEXT, said)
    if believed:
        assert found == said
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
    """Odds of 4 squared are 16; where they turn, the chain that says otherwise is left out."""
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


def test_words_count_where_they_have_a_weight() -> None:
    """The lexical judge's odds join the model's; where it says nothing, and where nobody does."""
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


def test_kinds_not_listed_go_by_other() -> None:
    """Without it they are believed; what failed stays failed."""
    said = judgement(0.6)
    assert Calibration(least_confidence={"set zh": None}).applied(TEXT, said) == said
    found = Calibration(least_confidence={"other": 0.7}).applied(TEXT, said)
    assert found.outcome is Outcome.UNDECIDED
    failed = judgement(None, Outcome.FAILED)
    assert NEVER.applied(TEXT, failed) == failed


def test_a_cascade_abstains_and_its_name_tells() -> None:
    """What the rules decide is theirs whatever the model's standing."""
    number = Item(id="n", question="2+2=?", reference=("4",), response="The answer is 4.")
    engine = ScriptedEngine(lambda _: "The answers agree: <Yes>")
    free, bound = (
        CascadeJudge(RuleJudge(), ModelJudge(engine), calibration) for calibration in (None, NEVER)
    )
    assert [j.outcome.value for j in free.judge([number, TEXT])] == ["judged", "judged"]
    assert [j.outcome.value for j in bound.judge([number, TEXT])] == ["judged", "undecided"]
    assert free.fingerprint != bound.fingerprint


def test_calibration_lies_beside_the_weights(tmp_path: Path) -> None:
    """None where there is none; a file that says something else is an error."""
    assert calibration_beside(None) is None
    assert calibration_beside(str(tmp_path)) is None
    write_json(tmp_path / CALIBRATION_FILE, NEVER.model_dump(mode="json"))
    assert calibration_beside(str(tmp_path)) == NEVER
    write_json(tmp_path / CALIBRATION_FILE, {"least": {}})
    with pytest.raises(InputError, match=r"calibration\.json"):
        calibration_beside(str(tmp_path))
