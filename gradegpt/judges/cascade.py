"""Rules first, then a model for the items that the rules leave undecided."""

from __future__ import annotations

from collections.abc import Sequence

from gradegpt.judges.base import Judge
from gradegpt.judges.calibration import Calibration
from gradegpt.schema import Item, Judgement, Outcome


class CascadeJudge:
    """Each item goes to the first judge; the items that it does not judge go to the second.

    A judgement keeps the method of the judge that made it. Below the thresholds of ``calibration``
    the cascade abstains.
    """

    name = "cascade"

    def __init__(self, first: Judge, second: Judge, calibration: Calibration | None = None) -> None:
        self.first = first
        self.second = second
        self.calibration = calibration

    @property
    def fingerprint(self) -> str:
        """Both judges' fingerprints, and the calibration of the second."""
        calibration = f" | {self.calibration.model_dump_json()}" if self.calibration else ""
        return f"cascade({self.first.fingerprint} -> {self.second.fingerprint}{calibration})"

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order."""
        judgements = self.first.judge(items)
        open_rows = [i for i, j in enumerate(judgements) if j.outcome is not Outcome.JUDGED]
        answers = self.second.judge([items[i] for i in open_rows]) if open_rows else []
        for index, answer in zip(open_rows, answers, strict=True):
            judgements[index] = (
                self.calibration.applied(items[index], answer) if self.calibration else answer
            )
        return judgements
