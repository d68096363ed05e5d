"""Calibration and abstention thresholds of a model judge by kind of answer, from human labels.

A small model compares numbers well and free text no better than chance, and a larger one says No
too often. ``gradegpt eval.calibrate`` measures this, and writes ``calibration.json`` for the
adapter's folder: by kind of answer, the weights of the model's tag and of the lexical judge, the
threshold above which the lexical judge decides alone, and the confidence below which a cascade
abstains.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from pydantic import Field

from gradegpt.answers.read import answer_type
from gradegpt.chain import needs_gloss
from gradegpt.judges.lexical import LexicalJudge
from gradegpt.records import read_beside
from gradegpt.rules.asked import asked
from gradegpt.rules.reference import reference_answer
from gradegpt.schema import AnswerType, Item, Judgement, Outcome, Verdict
from gradegpt.settings import Settings

CALIBRATION_FILE: Final = "calibration.json"
"""A file in the adapter's folder, or in that of a model without an adapter."""
BELOW_THRESHOLD: Final = "cascade:below-threshold:"
"""The beginning of a reason where a cascade abstains."""
OUTWEIGHED: Final = "cascade:outweighed:"
"""The beginning of a reason where a verdict is not the model's own."""
OTHER: Final = "other"
_SURE: Final = 1 - 1e-6
"""Probabilities are clipped to this before their log odds are taken."""


class Weights(Settings):
    """The log odds of a right answer as a weighted sum of both judges' log odds and a constant.

    Platt scaling (Platt, 1999) with a second judge: it corrects a model's bias to one verdict, and
    combines two judges that make different errors.
    """

    model: float = 1.0
    lexical: float = 0.0
    bias: float = 0.0

    def odds(self, model: float, lexical: float) -> float:
        """The log odds that the response is right."""
        return self.model * model + self.lexical * lexical + self.bias


class Calibration(Settings):
    """The confidence from which a cascade uses the model's verdict, and the weights that give it.

    ``least_confidence`` maps a kind of answer, such as ``text zh``, to the least confidence whose
    verdict is used; null means that none is. ``other`` is for the kinds that it does not list;
    without it their verdicts are always used. ``lexical`` has the least confidence of the lexical
    judge for the kinds where it decides before the model is asked. ``weights`` has the kinds where
    both judges are combined; for other kinds the confidence is the model's own.
    """

    least_confidence: dict[str, float | None]
    lexical: dict[str, float] = Field(default={})
    weights: dict[str, Weights] = Field(default={})

    @property
    def of_lexical(self) -> Calibration:
        """The thresholds of the lexical judge; it decides no other kind of answer."""
        return Calibration(least_confidence={OTHER: None} | self.lexical)

    @property
    def without_thresholds(self) -> Calibration:
        """The same weights without thresholds: every verdict is used."""
        return Calibration(least_confidence={}, weights=self.weights)

    def weighed(self, item: Item, judgement: Judgement) -> Judgement:
        """The judgement with the confidence and the verdict by the weights.

        Where the verdict is not the model's own, the model's chain contradicts it and is left out.
        """
        weights = self.weights.get(kind_of(item), self.weights.get(OTHER))
        if weights is None or judgement.verdict is None or judgement.confidence is None:
            return judgement
        lexical = lexical_odds(item) if weights.lexical else 0.0
        odds = weights.odds(log_odds(judgement), lexical)
        by_model, yes = judgement.verdict is Verdict.CORRECT, odds > 0
        changes: dict[str, object] = {"confidence": 1 / (1 + math.exp(-abs(odds)))}
        if by_model is not yes:
            changes |= {
                "verdict": Verdict.CORRECT if yes else Verdict.INCORRECT,
                "reason": f"{OUTWEIGHED}{judgement.reason}",
                "chain": None, "key_sentence": None, "answer": None, "answer_type": None,
            }  # fmt: skip
        return judgement.model_copy(update=changes)

    def applied(self, item: Item, judgement: Judgement) -> Judgement:
        """The weighed judgement, or ``undecided`` with its chain below the threshold."""
        kind, judgement = kind_of(item), self.weighed(item, judgement)
        default = self.least_confidence.get(OTHER, 0.0)
        least = self.least_confidence.get(kind, default)
        sure = least is not None and (judgement.confidence is None or judgement.confidence >= least)
        if judgement.outcome is not Outcome.JUDGED or sure:
            return judgement
        reason = f"{BELOW_THRESHOLD}{kind}"
        changes = {"outcome": Outcome.UNDECIDED, "verdict": None, "reason": reason}
        return judgement.model_copy(update=changes)


def lexical_odds(item: Item) -> float:
    """The log odds of a right answer by the lexical judge, clipped as a model's are."""
    most = math.log(_SURE / (1 - _SURE))
    return min(max(_lexical().odds(item), -most), most)


@lru_cache(maxsize=1)
def _lexical() -> LexicalJudge:
    return LexicalJudge()


def log_odds(judgement: Judgement) -> float:
    """The log odds of a right answer by a judgement's confidence; 0 where it has no verdict."""
    if judgement.verdict is None:
        return 0.0
    confidence = _SURE if judgement.confidence is None else judgement.confidence
    clipped = min(max(confidence, 1 - _SURE), _SURE)
    odds = math.log(clipped / (1 - clipped))
    return odds if judgement.verdict is Verdict.CORRECT else -odds


def kind_of(item: Item) -> str:
    """The answer type and the language, ``number en``: the stated type, else the likely one.

    A free-text response in one language to a reference in the other is ``text across``.
    """
    kind = type_of(item)
    reference = any(map(needs_gloss, item.reference))
    response = needs_gloss(item.response)
    if kind is AnswerType.TEXT and reference is not response:
        return f"{kind.words} across"
    return f"{kind.words} {'zh' if reference or response else 'en'}"


def type_of(item: Item) -> AnswerType:
    """The stated answer type, else the likely one of the reference."""
    return item.answer_type or answer_type(reference_answer(item.reference[0]), asked(item))


def calibration_beside(folder: str | None) -> Calibration | None:
    """The calibration stored with the weights in ``folder``, if any."""
    return read_beside(folder, CALIBRATION_FILE, Calibration)
