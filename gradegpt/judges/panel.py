"""A panel of judges: their vote on each item, and its confidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from gradegpt.core.errors import SettingsError
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.judges.base import Judge, undecided

_MOST: Final = 0.999
"""The largest accuracy of a weight: without errors on a few rows a judge is still not perfect."""
_SIGN: Final = {True: 1, False: -1, None: 0}


class Vote(StrEnum):
    """When a panel has a verdict. Votes are binary, with ``invalid`` as not correct.

    ``majority``: more than half of the judges with a verdict agree. ``unanimity``: all of them
    agree, at least two. ``weighted``: the signed sum of the log odds of their measured accuracies
    is not 0, the optimal rule for judges that err independently (Nitzan and Paroush 1982).
    """

    MAJORITY = "majority"
    UNANIMITY = "unanimity"
    WEIGHTED = "weighted"


class PanelJudge:
    """Lets every judge vote on every item. Method: ``panel``.

    The judgement is that of the first judge that agrees with the panel, with its chain; ``reason``
    states the votes, ``score`` is the share of votes or, weighted, the probability by the
    weights. A judge without a verdict has no vote; where no judge has one, or the voting rule gives
    no verdict, the item is undecided.

    Raises:
        SettingsError: fewer than two judges, or not one accuracy above 0.5 for each.

    """

    name = "panel"

    def __init__(
        self,
        judges: Sequence[Judge],
        vote: Vote = Vote.MAJORITY,
        accuracies: Sequence[float] = (),
    ) -> None:
        if len(judges) < 2:
            raise SettingsError("panel: needs at least two judges; add more under 'judges'")
        if vote is Vote.WEIGHTED and len(accuracies) != len(judges):
            raise SettingsError(
                f"panel: {len(accuracies)} accuracies for {len(judges)} judges; give the measured "
                "accuracy of each"
            )
        if any(not 0.5 < accuracy <= 1 for accuracy in accuracies):
            raise SettingsError(
                "panel: accuracy: must be a share above 0.5; leave out a judge that is no better "
                "than chance"
            )
        self.judges, self.vote = tuple(judges), vote
        shares = [min(a, _MOST) for a in accuracies] if vote is Vote.WEIGHTED else ()
        self._weights = [math.log(a / (1 - a)) for a in shares] or [1.0] * len(judges)

    @property
    def fingerprint(self) -> str:
        """The judges' fingerprints, the voting rule and the weights."""
        weights = ",".join(f"{weight:.4f}" for weight in self._weights)
        return f"panel({self.vote}|{weights}|{' + '.join(j.fingerprint for j in self.judges)})"

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
        signs = [_SIGN[vote.correct] for vote in votes]
        total = sum(w * s for w, s in zip(self._weights, signs, strict=True))
        tally = Counter(signs)
        reason = f"panel:{tally[1]}-to-{tally[-1]}"
        cost = {
            "prompt_tokens": sum(vote.prompt_tokens for vote in votes),
            "completion_tokens": sum(vote.completion_tokens for vote in votes),
        }
        judged = tally[1] + tally[-1]
        split = self.vote is Vote.UNANIMITY and (judged < 2 or judged != max(tally[1], tally[-1]))
        if abs(total) < 1e-9 or split:
            return undecided(item, self.name, reason).model_copy(update=cost)
        sign = 1 if total > 0 else -1
        first = next(v for v, s in zip(votes, signs, strict=True) if s == sign)
        weighted = self.vote is Vote.WEIGHTED
        score = 1 / (1 + math.exp(-abs(total))) if weighted else tally[sign] / judged
        own = {"method": self.name, "reason": reason, "confidence": None, "score": score}
        return first.model_copy(update={**own, **cost})
