"""A cascade: who is asked, what overturns a verdict, and what is withheld."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.records import write_json
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.calibration import Calibration, Weights
from gradegpt.judges.cascade import CascadeJudge, Stage, Thresholds
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import JudgeSettings

YES, NO = Verdict.CORRECT, Verdict.INCORRECT
ITEM = Item(id="i", question="Why?", reference=("rain",), response="It was wet.")


class Says:
    """Gives one judgement to every item, and notes the items that it was asked about."""

    def __init__(
        self, verdict: Verdict | None, sure: float | None = None, name: str = "first"
    ) -> None:
        self.name = self.fingerprint = name
        self.verdict, self.sure, self.asked = verdict, sure, list[str]()

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        self.asked += [item.id for item in items]
        outcome = Outcome.UNDECIDED if self.verdict is None else Outcome.JUDGED
        given = {"confidence" if self.name == "first" else "score": self.sure}
        return [
            Judgement(id=i.id, outcome=outcome, verdict=self.verdict, method=self.name, **given)
            for i in items
        ]


def calibrated(asked_below: float = 0.97, **weights: float) -> Calibration:
    return Calibration(
        judge="m", asked_below=asked_below, weights={"short text en": Weights(**weights)}
    )


def run(
    first: Says, second: Says, calibration: Calibration | None, policy: Thresholds
) -> Judgement:
    cascade = CascadeJudge([Stage(first), Stage(second, calibration)], policy)
    (judgement,) = cascade.judge([ITEM])
    return judgement


@pytest.mark.parametrize(
    ("sure", "asked", "verdict"),
    [(0.98, False, YES), (0.9, True, YES), (0.8, True, NO), (0.6, True, NO)],
)
def test_a_later_judge_overturns_what_is_less_sure(
    sure: float, asked: bool, verdict: Verdict
) -> None:
    """A verdict that is sure enough is final; another one falls to odds above its own."""
    later = Says(NO, 0.85, "later")
    found = run(Says(YES, sure), later, calibrated(), Thresholds(0.5, 0.97))
    assert bool(later.asked) is asked
    assert found.verdict is verdict
    assert found.method == ("first" if verdict is YES else "later")


def test_what_two_judges_dispute_is_withheld() -> None:
    """Odds of 9 against 4 leave 9/13, below the least confidence; ``withheld`` says which."""
    found = run(Says(YES, 0.8), Says(NO, 0.9, "later"), calibrated(), Thresholds(0.75, 0.97))
    assert (found.outcome, found.verdict, found.withheld) == (Outcome.UNDECIDED, None, NO)
    assert found.confidence == pytest.approx(9 / 13)


@pytest.mark.parametrize(
    ("calibration", "least", "asked"),
    [
        (calibrated(most=0.7), 0.75, False),
        (calibrated(most=0.8), 0.75, True),
        (Calibration(judge="m"), 0.75, False),
        (Calibration(judge="m"), 0.0, True),
        (None, 0.75, True),
    ],
)
def test_a_judge_that_cannot_change_the_outcome_is_not_asked(
    calibration: Calibration | None, least: float, asked: bool
) -> None:
    """Where it was never sure enough or knows nothing more, unless every verdict is given."""
    later = Says(YES, 0.9, "later")
    run(Says(None), later, calibration, Thresholds(least, 0.97))
    assert bool(later.asked) is asked


def test_without_calibration_a_judge_decides_what_is_open_and_nothing_else() -> None:
    """Its verdict has no confidence; an earlier verdict stays unless it is withheld."""
    policy = Thresholds(0.75, 0.97)
    found = run(Says(None), Says(NO, 0.6, "later"), None, policy)
    assert (found.verdict, found.confidence) == (NO, None)
    assert run(Says(YES, 0.8), Says(NO, 0.99, "later"), None, policy).verdict is YES
    assert run(Says(YES, 0.7), Says(NO, 0.99, "later"), None, policy).verdict is NO
    kept = run(Says(YES, 0.7), Says(None, None, "later"), None, policy)
    assert (kept.outcome, kept.withheld) == (Outcome.UNDECIDED, YES)


def test_what_needs_no_model_is_known_at_once() -> None:
    """A model is not asked where it cannot change the judgement."""
    items = [
        ITEM.model_copy(update={"id": "model"}),
        Item(id="rules", reference=("4",), response="The answer is 4."),
        Item(id="never", reference=("{1, 2}",), response="It is hard to say.", answer_type="set"),
    ]
    later = Says(YES, 0.9, "later")
    stages = [Stage(RuleJudge()), Stage(later, calibrated())]
    cascade = CascadeJudge(stages, Thresholds(0.75, 0.97))
    assert [j.verdict for j in cascade.judge(items)] == [YES, YES, None]
    assert len(later.asked) == 1


def test_a_failure_of_a_later_judge_stays_a_failure() -> None:
    """So that the same command asks again, instead of keeping the weaker verdict."""

    class Down(Says):
        def judge(self, items: Sequence[Item]) -> list[Judgement]:
            failed = Outcome.FAILED
            return [Judgement(id=i.id, outcome=failed, method="later", reason="x") for i in items]

    found = run(Says(YES, 0.8), Down(None), calibrated(), Thresholds(0.75, 0.97))
    assert found.outcome is Outcome.FAILED


def test_judges_in_one_list() -> None:
    """Any number of them; the fingerprint has all, their calibrations and the thresholds."""
    judges = [
        JudgeSettings.of(kind="rules"),
        JudgeSettings.of(kind="model", base_url="http://127.0.0.1:9/v1", model="m"),
    ]
    item = Item(reference=("4",), response="The answer is 4.")
    found = build_judge(JudgeSettings.of(judges=judges, min_confidence=0))
    (judgement,) = found.judge([item])
    assert judgement.method == "rules"
    assert judgement.confidence is not None
    strict = build_judge(JudgeSettings.of(judges=judges[:1], min_confidence=1.0))
    assert strict.judge([item])[0].withheld is judgement.verdict
    assert found.fingerprint != strict.fingerprint


def test_a_calibration_holds_for_its_place(tmp_path: Path) -> None:
    """After other judges than it was measured after, it is refused with what to run."""
    path = tmp_path / "calibration.json"
    made = Calibration(judge="l", after=("rules",))
    write_json(path, made.model_dump(mode="json"))
    own = JudgeSettings.of(kind="model", model="gradegpt-0.5b", calibration=path)
    with pytest.raises(SettingsError, match="'model' follows model, and was calibrated"):
        build_judge(JudgeSettings.of(judges=[own, own]))
    assert build_judge(JudgeSettings.of(judges=[JudgeSettings.of(kind="rules"), own]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "rules", "min_confidence": 0.5}, "min_confidence: not for the judge 'rules'"),
        ({"kind": "code", "max_error": 0.1}, "max_error: not for the judge 'code'"),
        ({"kind": "cascade", "labels_map": ["label=x"]}, "labels_map: set labels too"),
        ({"kind": "cascade", "labels": "a.csv", "labels_map": ["x"]}, "expected FIELD=COLUMN"),
    ],
)
def test_settings_that_need_a_measured_confidence(values: dict[str, object], message: str) -> None:
    """They are refused where there is none."""
    with pytest.raises(SettingsError, match=message):
        build_judge(JudgeSettings.of(**values))
