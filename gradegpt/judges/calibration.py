"""How far a model judge is believed, by kind of answer: measured on people's labels, not assumed.

A small model compares numbers well and free text no better than a coin, and a larger one says No
too often. ``gradegpt eval.calibrate`` measures where, and writes ``calibration.json`` for the
adapter's folder: the weights of the model's tag and of the lexical judge by kind of answer, where
the lexical judge decides alone, and the confidence below which a cascade abstains.
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
"""Beside the adapter, or beside a model that has none."""
BELOW_THRESHOLD: Final = "cascade:below-threshold:"
"""Reasons begin so where a cascade abstains."""
OUTWEIGHED: Final = "cascade:outweighed:"
"""Reasons begin so where a verdict is not the model's own."""
OTHER: Final = "other"
_SURE: Final = 1 - 1e-6
"""The largest probability that has odds here."""


class Weights(Settings):
    """What the log odds of a right answer are made of, both judges' log odds and a constant.

    Platt scaling (Platt, 1999) with a second judge: it takes back what a model says too often, and
    two judges that err elsewhere know more than each.
    """

    model: float = 1.0
    lexical: float = 0.0
    bias: float = 0.0

    def odds(self, model: float, lexical: float) -> float:
        """The log odds that the response is right."""
        return self.model * model + self.lexical * lexical + self.bias


class Calibration(Settings):
    """From which confidence on the model is believed, and how that confidence is made.

    ``least_confidence`` maps a kind of answer, such as ``text zh``, to a probability; null: never.
    ``other`` stands for the kinds that it does not list; without it those are believed. ``lexical``
    has the kinds where the lexical judge is believed before the model is asked, and from where.
    ``weights`` has the kinds where the model's tag is weighed with the words of the two texts;
    what lies under a kind without them is the model's own.
    """

    least_confidence: dict[str, float | None]
    lexical: dict[str, float] = Field(default={})
    weights: dict[str, Weights] = Field(default={})

    @property
    def of_lexical(self) -> Calibration:
        """How far the lexical judge is believed: where nothing says so, never."""
        return Calibration(least_confidence={OTHER: None} | self.lexical)

    @property
    def guessing(self) -> Calibration:
        """The same weights, and a verdict wherever there is one."""
        return Calibration(least_confidence={}, weights=self.weights)

    def weighed(self, item: Item, judgement: Judgement) -> Judgement:
        """The judgement with the confidence that the weights give it, and the verdict.

        Where that is not the model's own, its chain speaks for the other and is left out.
        """
        weights = self.weights.get(kind_of(item), self.weights.get(OTHER))
        if weights is None or judgement.verdict is None or judgement.confidence is None:
            return judgement
        words = lexical_odds(item) if weights.lexical else 0.0
        odds = weights.odds(log_odds(judgement), words)
        said, yes = judgement.verdict is Verdict.CORRECT, odds > 0
        changes: dict[str, object] = {"confidence": 1 / (1 + math.exp(-abs(odds)))}
        if said is not yes:
            changes |= {
                "verdict": Verdict.CORRECT if yes else Verdict.INCORRECT,
                "reason": f"{OUTWEIGHED}{judgement.reason}",
                "chain": None, "key_sentence": None, "answer": None, "answer_type": None,
            }  # fmt: skip
        return judgement.model_copy(update=changes)

    def applied(self, item: Item, judgement: Judgement) -> Judgement:
        """The judgement weighed, or ``undecided`` with its chain where it is not to be believed."""
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
    """The log odds of a right answer by the words of the two texts, bounded as a model's are."""
    most = math.log(_SURE / (1 - _SURE))
    return min(max(_lexical().odds(item), -most), most)


@lru_cache(maxsize=1)
def _lexical() -> LexicalJudge:
    return LexicalJudge()


def log_odds(judgement: Judgement) -> float:
    """The log odds of a right answer that a judgement comes to; 0 where it has no verdict."""
    if judgement.verdict is None:
        return 0.0
    told = _SURE if judgement.confidence is None else judgement.confidence
    sure = min(max(told, 1 - _SURE), _SURE)
    odds = math.log(sure / (1 - sure))
    return odds if judgement.verdict is Verdict.CORRECT else -odds


def kind_of(item: Item) -> str:
    """The answer type and the language, ``number en``: the stated type, else the likely one.

    A text in one language beside a reference in the other is ``text across``.
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
    """The calibration stored with the weights in ``folder``, or none where there is none."""
    return read_beside(folder, CALIBRATION_FILE, Calibration)
