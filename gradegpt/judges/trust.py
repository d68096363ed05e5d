"""How far a model judge is believed, by kind of answer: measured on people's labels, not assumed.

A small model compares numbers well and free text no better than a coin. ``python -m
eval.calibrate`` finds out where, and writes ``trust.json`` for the folder of the adapter; a cascade
asks the lexical judge where that is better, and abstains where neither is to be believed.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from gradegpt.answers.read import answer_type
from gradegpt.chain import needs_gloss
from gradegpt.records import read_beside
from gradegpt.rules.reference import reference_answer
from gradegpt.schema import AnswerType, Item, Judgement, Outcome
from gradegpt.settings import Settings

TRUST_FILE: Final = "trust.json"
"""Beside the adapter, or beside a model that has none."""
NOT_TRUSTED: Final = "cascade:not-trusted:"
"""Reasons begin so where a cascade abstains."""
OTHER: Final = "other"


class Trust(Settings):
    """From which confidence on the model is believed.

    ``least_confidence`` maps a kind of answer, such as ``text zh``, to a probability; null: never.
    ``other`` stands for the kinds that it does not list; without it those are believed. ``lexical``
    has the kinds where the lexical judge is believed before the model is asked, and from where.
    """

    least_confidence: dict[str, float | None]
    lexical: dict[str, float] = Field(default={})

    @property
    def of_lexical(self) -> Trust:
        """How far the lexical judge is believed: where nothing says so, never."""
        return Trust(least_confidence={OTHER: None} | self.lexical)

    def applied(self, item: Item, judgement: Judgement) -> Judgement:
        """The judgement, or ``undecided`` with its chain where the model is not to be believed."""
        kind = kind_of(item)
        default = self.least_confidence.get(OTHER, 0.0)
        least = self.least_confidence.get(kind, default)
        sure = least is not None and (judgement.confidence is None or judgement.confidence >= least)
        if judgement.outcome is not Outcome.JUDGED or sure:
            return judgement
        reason = f"{NOT_TRUSTED}{kind}"
        changes = {"outcome": Outcome.UNDECIDED, "verdict": None, "reason": reason}
        return judgement.model_copy(update=changes)


def kind_of(item: Item) -> str:
    """The answer type and the language, ``number en``: the stated type, else the likely one."""
    chinese = any(needs_gloss(text) for text in (*item.reference, item.response))
    return f"{type_of(item).words} {'zh' if chinese else 'en'}"


def type_of(item: Item) -> AnswerType:
    """The stated answer type, else the likely one of the reference."""
    return item.answer_type or answer_type(reference_answer(item.reference[0]), item.question)


def trust_beside(folder: str | None) -> Trust | None:
    """The trust stored with the weights in ``folder``, or none where there is none."""
    return read_beside(folder, TRUST_FILE, Trust)
