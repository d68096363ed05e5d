"""A panel: its votes, its voting rules, and its judgement."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.settings import JudgeSettings

ITEM = Item(id="i", question="2+2=?", reference=("4",), response="The answer is 4.")
SAYS = {
    "+": (Outcome.JUDGED, Verdict.CORRECT), "-": (Outcome.JUDGED, Verdict.INCORRECT),
    "0": (Outcome.JUDGED, Verdict.INVALID), "?": (Outcome.UNDECIDED, None),
    "!": (Outcome.FAILED, None),
}  # fmt: skip


class Says:
    """A judge with one verdict for every item; its fingerprint is its chain."""

    name = "says"

    def __init__(self, place: int, mark: str) -> None:
        self.fingerprint, self._mark = f"{place}{mark}", mark

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        outcome, verdict = SAYS[self._mark]
        return [
            Judgement(id=i.id, outcome=outcome, verdict=verdict, method=self.name, prompt_tokens=5,
                      chain=self.fingerprint)
            for i in items
        ]  # fmt: skip


def panel(marks: str, vote: Vote, accuracies: Sequence[float] = ()) -> Judgement:
    judges = [Says(n, mark) for n, mark in enumerate(marks)]
    (found,) = PanelJudge(judges, vote, accuracies).judge([ITEM])
    return found


@pytest.mark.parametrize(
    ("marks", "majority", "unanimity"),
    [("+++", "+", "+"), ("++-", "+", "?"), ("--+", "-", "?"), ("+-", "?", "?"), ("+?", "+", "?"),
     ("++?", "+", "+"), ("00-", "0", "0"), ("0+-", "0", "?"), ("???", "?", "?"), ("!?", "?", "?"),
     ("!!", "!", "!"), ("!++", "+", "+")],
)  # fmt: skip
def test_votes(marks: str, majority: str, unanimity: str) -> None:
    """A judge without a verdict has no vote; invalid is a vote against; unanimity needs two."""
    for vote, expected in ((Vote.MAJORITY, majority), (Vote.UNANIMITY, unanimity)):
        found = panel(marks, vote)
        assert (found.outcome, found.verdict) == SAYS[expected]


def test_the_judgement_is_that_of_the_first_judge_that_agrees() -> None:
    """With its chain, the share of votes, the votes as reason, and the cost of all judges."""
    found = panel("-++?", Vote.MAJORITY)
    assert (found.chain, found.method, found.reason) == ("1+", "panel", "panel:2-to-1")
    assert found.score == pytest.approx(2 / 3)
    assert found.prompt_tokens == 20
    assert panel("+-", Vote.MAJORITY).reason == "panel:1-to-1"


def test_weights_are_log_odds_of_accuracy() -> None:
    """A judge with accuracy 0.9 outvotes two with accuracy 0.6.

    By hand: log 9 = 2.197 against 2 log 1.5 = 0.811; the odds are 9 / 2.25 = 4.
    """
    found = panel("+--", Vote.WEIGHTED, (0.9, 0.6, 0.6))
    assert found.verdict is Verdict.CORRECT
    assert found.score == pytest.approx(0.8)
    assert panel("+-", Vote.WEIGHTED, (0.8, 0.8)).outcome is Outcome.UNDECIDED
    assert panel("+-", Vote.WEIGHTED, (1.0, 0.8)).score == pytest.approx(999 / 1003)


@pytest.mark.parametrize(
    ("marks", "vote", "accuracies", "message"),
    [("+", Vote.MAJORITY, (), "needs at least two judges"),
     ("++", Vote.WEIGHTED, (0.9,), "1 accuracies for 2"),
     ("++", Vote.WEIGHTED, (0.9, 0.5), "no better than chance")],
)  # fmt: skip
def test_a_panel_that_cannot_vote_is_refused(
    marks: str, vote: Vote, accuracies: Sequence[float], message: str
) -> None:
    """Too few judges, or accuracies that are missing or too low."""
    with pytest.raises(SettingsError, match=message):
        panel(marks, vote, accuracies)


def test_a_panel_from_settings() -> None:
    """As evaluation and server build it; its fingerprint names its judges."""
    settings = {
        "kind": "panel",
        "vote": "weighted",
        "judges": [{"kind": "rules"}, {"kind": "cascade"}],
    }
    judge = build_judge(JudgeSettings.of(**settings, accuracies=[0.99, 0.8]))
    (found,) = judge.judge([ITEM])
    assert (found.verdict, found.reason) == (Verdict.CORRECT, "panel:2-to-0")
    assert "rules-" in judge.fingerprint
    assert "cascade(" in judge.fingerprint
