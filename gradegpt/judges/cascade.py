"""Judges in a row, the cheapest first; each is asked what the ones before it left unsure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.judges.base import Judge
from gradegpt.judges.calibration import Calibration, Weights, combined

if TYPE_CHECKING:  # it needs scipy
    from gradegpt.judges.promise import Promise

_FREE: Final = frozenset(("person", "rules", "code", "neighbours"))
_AS_IT_IS: Final = Weights()
"""The weights for a kind of answer on which a judge was not found to know more."""
UNSURE: Final = "neighbours:not-sure"
"""The reason of a verdict by the nearest graded answers that is withheld."""


class Thresholds(NamedTuple):
    """A verdict is final from the confidence ``stop`` on, and withheld below ``least``.

    A verdict whose confidence nobody measured is final. The other policy is ``Promise``.
    """

    least: float = 0.0
    stop: float = 0.0

    @property
    def missing(self) -> Sequence[str]:
        """None: thresholds are for all kinds."""
        return ()

    def settles(self, item: Item, judgement: Judgement) -> bool:
        """Whether the confidence is at least ``stop``, or unknown."""
        return judgement.confidence is None or judgement.confidence >= self.stop


_EVERY_VERDICT: Final = Thresholds()


class Stage(NamedTuple):
    """A judge of a cascade, and what it adds to the judges before it."""

    judge: Judge
    calibration: Calibration | None = None

    @property
    def asks_model(self) -> bool:
        """Whether the judge asks a model, and so takes long."""
        return self.judge.name not in _FREE

    def can_change(self, item: Item, before: Judgement, least: float) -> bool:
        """Whether the outcome can depend on this judge, so that it has to be asked.

        A judge that nobody calibrated is asked where there is no verdict to give. A calibrated one
        is asked about the kinds of answers on which it knows more, unless it was never sure enough;
        where every verdict is given, about all that is open.
        """
        given = not _withheld(before, least)
        if self.calibration is None:
            return not given
        if given and not _withheld(before, self.calibration.asked_below):
            return False
        weights = self.calibration.weights_of(item)
        if weights is None:
            return not given and least <= 0
        return given or least > 1 or weights.most >= least

    def joined(self, item: Item, before: Judgement, own: Judgement) -> Judgement:
        """The judgement after this stage."""
        if self.calibration is not None:
            return combined(before, own, self.calibration.weights_of(item) or _AS_IT_IS)
        silent = own.verdict is None and own.outcome is not Outcome.FAILED
        return before if silent and before.verdict is not None else own


class CascadeJudge:
    """Each item goes from judge to judge until its verdict is sure enough.

    A later judge may overturn an earlier verdict: a calibrated stage adds its log odds to what is
    known. A judgement has the method of the judge whose verdict it is. A verdict that stays below
    ``policy.least`` is withheld: the item is undecided. A judge by itself is a stage that nobody
    calibrated.
    """

    name = "cascade"

    def __init__(
        self, stages: Iterable[Stage | Judge], policy: Thresholds | Promise = _EVERY_VERDICT
    ) -> None:
        self.stages = tuple(s if isinstance(s, Stage) else Stage(s) for s in stages)
        self.policy = policy

    @property
    def fingerprint(self) -> str:
        """The judges' fingerprints, their calibrations and the policy."""
        parts = (
            s.judge.fingerprint + (f" {s.calibration.digest}" if s.calibration else "")
            for s in self.stages
        )
        return f"cascade({' -> '.join(parts)} | {self.policy})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        made = self._after(items, len(self.stages))
        return [self._given(*one) for one in zip(items, made, strict=True)]

    def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
        """The judgements that need no model, None where one has to be asked; ``serve`` calls it."""
        first = self.first_model
        if not first:
            return [None] * len(items)
        models, made = self.stages[first:], self._after(items, first)
        return [
            None if any(self._is_asked(stage, *one) for stage in models) else self._given(*one)
            for one in zip(items, made, strict=True)
        ]

    @property
    def first_model(self) -> int:
        """The number of stages before the first that asks a model."""
        return next((n for n, s in enumerate(self.stages) if s.asks_model), len(self.stages))

    def _given(self, item: Item, judgement: Judgement) -> Judgement:
        """The judgement at the end, without its verdict where that is too uncertain."""
        withheld = _withheld(judgement, self.policy.least)
        if judgement.verdict is None or not withheld or self._settles(item, judgement):
            return judgement
        changes = {"outcome": Outcome.UNDECIDED, "withheld": judgement.verdict, "verdict": None}
        reason = UNSURE if judgement.method == "neighbours" else judgement.reason
        return judgement.model_copy(update={**changes, "reason": reason})

    def _after(self, items: Sequence[Item], stages: int) -> list[Judgement]:
        """The judgements after the first stages; each judges what it has to be asked about."""
        first, *later = self.stages[:stages]
        made = list(first.judge.judge(items))
        for stage in later:
            pairs = enumerate(zip(items, made, strict=True))
            places = [n for n, one in pairs if self._is_asked(stage, *one)]
            own = stage.judge.judge([items[n] for n in places]) if places else []
            for n, judgement in zip(places, own, strict=True):
                made[n] = stage.joined(items[n], made[n], judgement)
        return made

    def _is_asked(self, stage: Stage, item: Item, before: Judgement) -> bool:
        settled = self._settles(item, before)
        return not settled and stage.can_change(item, before, self.policy.least)

    def _settles(self, item: Item, judgement: Judgement) -> bool:
        return judgement.verdict is not None and self.policy.settles(item, judgement)


def _withheld(judgement: Judgement, least: float) -> bool:
    """Whether there is no verdict, or one with a measured confidence below ``least``."""
    unsure = judgement.confidence is not None and judgement.confidence < least
    return judgement.verdict is None or unsure
