"""Several judges on one item: what they say together, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from gradegpt.errors import SettingsError
from gradegpt.judges.base import Judge
from gradegpt.schema import Item, Judgement, Outcome, Verdict

_MOST: Final = 0.999
"""The accuracy that a weight may say: a judge that was never wrong on few rows will be."""


class Vote(StrEnum):
    """When a panel has a verdict; what is said counts two-way, ``invalid`` as not correct.

    ``majority``: more than half of those that judged agree. ``unanimity``: all of those that judged
    do, two at least. ``weighted``: the sum of the log odds of their measured accuracies, which is
    the best rule for judges that err independently (Nitzan and Paroush 1982), is not 0.
    """

    MAJORITY = "majority"
    UNANIMITY = "unanimity"
    WEIGHTED = "weighted"


class PanelJudge:
    """Asks every judge about every item and counts votes. Method: ``panel``.

    The judgement is that of the first judge who says what the panel says, its chain included;
    ``reason`` tells the votes, ``confidence`` is the share of votes or, weighted, the probability
    that the weights give. Those that do not judge have no vote; where nobody judges, or the votes
    settle nothing, the panel leaves the item open.

    Raises:
        SettingsError: fewer than two judges, or accuracies that are not one above 0.5 for each.

    """

    name = "panel"

    def __init__(
        self,
        judges: Sequence[Judge],
        vote: Vote = Vote.MAJORITY,
        accuracies: Sequence[float] = (),
    ) -> None:
        if len(judges) < 2:
            raise SettingsError("panel: needs two judges at least; add more under 'judges'")
        if vote is Vote.WEIGHTED and len(accuracies) != len(judges):
            raise SettingsError(
                f"panel: {len(accuracies)} accuracies for {len(judges)} judges; give the measured "
                "accuracy of each"
            )
        if any(not 0.5 < accuracy <= 1 for accuracy in accuracies):
            raise SettingsError(
                "panel: an accuracy is a share above 0.5, as a judge below it is worse than a "
                "coin; leave it out"
            )
        self.judges, self.vote = tuple(judges), vote
        shares = [min(a, _MOST) for a in accuracies] if vote is Vote.WEIGHTED else ()
        self._weights = [math.log(a / (1 - a)) for a in shares] or [1.0] * len(judges)

    @property
    def fingerprint(self) -> str:
        """The judges', the rule and the weights."""
        weights = ",".join(f"{weight:.4f}" for weight in self._weights)
        return f"panel({self.vote}|{weights}|{' + '.join(j.fingerprint for j in self.judges)})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order; ``failed`` only where every judge failed."""
        said = [judge.judge(items) for judge in self.judges]
        return [
            self._together(item, votes)
            for item, votes in zip(items, zip(*said, strict=True), strict=True)
        ]

    def _together(self, item: Item, votes: Sequence[Judgement]) -> Judgement:
        if all(vote.outcome is Outcome.FAILED for vote in votes):
            return votes[0]
        signs = [_sign(vote) for vote in votes]
        total = sum(w * s for w, s in zip(self._weights, signs, strict=True))
        tally = Counter(signs)
        told = f"panel:{tally[1]}-to-{tally[-1]}"
        cost = {
            "prompt_tokens": sum(vote.prompt_tokens for vote in votes),
            "completion_tokens": sum(vote.completion_tokens for vote in votes),
        }
        judged = tally[1] + tally[-1]
        split = self.vote is Vote.UNANIMITY and (judged < 2 or judged != max(tally[1], tally[-1]))
        if abs(total) < 1e-9 or split:
            return Judgement(
                id=item.id, outcome=Outcome.UNDECIDED, method=self.name, reason=told, **cost
            )
        sign = 1 if total > 0 else -1
        first = next(v for v, s in zip(votes, signs, strict=True) if s == sign)
        weighted = self.vote is Vote.WEIGHTED
        sure = 1 / (1 + math.exp(-abs(total))) if weighted else tally[sign] / judged
        return first.model_copy(
            update={"method": self.name, "reason": told, "confidence": sure, **cost}
        )


def _sign(vote: Judgement) -> int:
    """1 for correct, -1 for any other verdict, 0 for none."""
    if vote.verdict is None:
        return 0
    return 1 if vote.verdict is Verdict.CORRECT else -1
