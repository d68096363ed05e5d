"""A panel: its votes and its judgement."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict
from gradegpt.judges.build import build_judge
from gradegpt.judges.panel import PanelJudge
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


def panel(marks: str) -> Judgement:
    (found,) = PanelJudge([Says(n, mark) for n, mark in enumerate(marks)]).judge([ITEM])
    return found


@pytest.mark.parametrize(
    ("marks", "expected"),
    [("++-", "+"), ("--+", "-"), ("+-", "?"), ("+?", "+"), ("0+-", "0"), ("???", "?"),
     ("!?", "?"), ("!!", "!"), ("!++", "+")],
)  # fmt: skip
def test_votes(marks: str, expected: str) -> None:
    """A judge without a verdict has no vote; invalid is a vote against."""
    found = panel(marks)
    assert (found.outcome, found.verdict) == SAYS[expected]


def test_the_judgement_is_that_of_the_first_judge_that_agrees() -> None:
    """With its chain, the share of votes, the votes as reason, and the cost of all judges."""
    found = panel("-++?")
    assert (found.chain, found.method, found.reason) == ("1+", "panel", "panel:2-to-1")
    assert found.score == pytest.approx(2 / 3)
    assert found.prompt_tokens == 20
    assert panel("+-").reason == "panel:1-to-1"
    with pytest.raises(SettingsError, match="needs at least two judges"):
        panel("+")


def test_a_panel_from_settings() -> None:
    """As evaluation and server build it; its fingerprint names its judges."""
    judges = [{"kind": "rules"}, {"kind": "cascade"}]
    judge = build_judge(JudgeSettings.of(kind="panel", judges=judges))
    (found,) = judge.judge([ITEM])
    assert (found.verdict, found.reason) == (Verdict.CORRECT, "panel:2-to-0")
    assert "rules-" in judge.fingerprint
    assert "cascade(" in judge.fingerprint
