"""A panel of judges: the verdict of most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.judges.base import Judge, undecided


class PanelJudge:
    """Lets every judge vote on every item. Method: ``panel``.

    The verdict is that of more than half of the judges with a verdict, ``invalid`` counting as not
    correct. The judgement is that of the first judge that agrees with it, with its chain;
    ``reason`` states the votes, ``score`` is their share. Where the votes are even, or no judge has
    a verdict, the item is undecided.

    Raises:
        SettingsError: fewer than two judges.

    """

    name = "panel"

    def __init__(self, judges: Sequence[Judge]) -> None:
        if len(judges) < 2:
            raise SettingsError("panel: needs at least two judges; add more under 'judges'")
        self.judges = tuple(judges)

    @property
    def fingerprint(self) -> str:
        """The judges' fingerprints."""
        return f"panel({' + '.join(j.fingerprint for j in self.judges)})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order; ``failed`` only where every judge failed."""
        judgements = [judge.judge(items) for judge in self.judges]
        return [
            self._vote(item, votes)
            for item, votes in zip(items, zip(*judgements, strict=True), strict=True)
        ]

    def _vote(self, item: Item, votes: Sequence[Judgement]) -> Judgement:
        if all(vote.outcome is Outcome.FAILED for vote in votes):
            return votes[0]
        tally = Counter(vote.correct for vote in votes if vote.correct is not None)
        reason = f"panel:{tally[True]}-to-{tally[False]}"
        cost = {
            "prompt_tokens": sum(vote.prompt_tokens for vote in votes),
            "completion_tokens": sum(vote.completion_tokens for vote in votes),
        }
        if tally[True] == tally[False]:
            return undecided(item, self.name, reason).model_copy(update=cost)
        winner = tally[True] > tally[False]
        first = next(vote for vote in votes if vote.correct is winner)
        score = tally[winner] / tally.total()
        own = {"method": self.name, "reason": reason, "confidence": None, "score": score}
        return first.model_copy(update={**own, **cost})
