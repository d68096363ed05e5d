"""A cascade abstains where its model was measured to be no better than chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradegpt.engines import ScriptedEngine
from gradegpt.errors import InputError
from gradegpt.judges import CascadeJudge, ModelJudge, RuleJudge
from gradegpt.judges.trust import TRUST_FILE, Trust, kind_of, trust_beside
from gradegpt.records import write_json
from gradegpt.schema import AnswerType, Item, Judgement, Outcome, Verdict

TEXT = Item(
    id="t", question="Why?", reference=("because it rained",), response="It was wet outside."
)
NEVER = Trust(least_confidence={"text en": None})


def judgement(confidence: float | None, outcome: Outcome = Outcome.JUDGED) -> Judgement:
    verdict = Verdict.CORRECT if outcome is Outcome.JUDGED else None
    return Judgement(
        id="t", outcome=outcome, verdict=verdict, confidence=confidence, method="model",
        reason="model:chain", chain="a chain",
    )  # fmt: skip


def test_a_kind_is_a_type_and_a_language() -> None:
    """The stated type before the likely one; one Chinese text makes the item Chinese."""
    assert kind_of(TEXT) == "text en"
    assert kind_of(TEXT.model_copy(update={"response": "下雨了"})) == "text zh"
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
    found = Trust(least_confidence={"text en": least}).applied(TEXT, said)
    if believed:
        assert found == said
    else:
        assert (found.outcome, found.verdict) == (Outcome.UNDECIDED, None)
        assert (found.reason, found.chain) == ("cascade:not-trusted:text en", "a chain")


def test_kinds_not_listed_go_by_other() -> None:
    """Without it they are believed; what failed stays failed."""
    said = judgement(0.6)
    assert Trust(least_confidence={"set zh": None}).applied(TEXT, said) == said
    found = Trust(least_confidence={"other": 0.7}).applied(TEXT, said)
    assert found.outcome is Outcome.UNDECIDED
    failed = judgement(None, Outcome.FAILED)
    assert NEVER.applied(TEXT, failed) == failed


def test_a_cascade_abstains_and_its_name_tells() -> None:
    """What the rules decide is theirs whatever the model's standing."""
    number = Item(id="n", question="2+2=?", reference=("4",), response="The answer is 4.")
    engine = ScriptedEngine(lambda _: "The answers agree: <Yes>")
    free, bound = (CascadeJudge(RuleJudge(), ModelJudge(engine), trust) for trust in (None, NEVER))
    assert [j.outcome.value for j in free.judge([number, TEXT])] == ["judged", "judged"]
    assert [j.outcome.value for j in bound.judge([number, TEXT])] == ["judged", "undecided"]
    assert free.fingerprint != bound.fingerprint


def test_trust_lies_beside_the_weights(tmp_path: Path) -> None:
    """None where there is none; a file that says something else is an error."""
    assert trust_beside(None) is None
    assert trust_beside(str(tmp_path)) is None
    write_json(tmp_path / TRUST_FILE, NEVER.model_dump(mode="json"))
    assert trust_beside(str(tmp_path)) == NEVER
    write_json(tmp_path / TRUST_FILE, {"least": {}})
    with pytest.raises(InputError, match=r"trust\.json"):
        trust_beside(str(tmp_path))
