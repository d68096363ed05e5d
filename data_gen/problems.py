"""Problems with a known answer, and the built-in bank of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pydantic import Field

from gradegpt.core.records import read_rows
from gradegpt.core.schema import AnswerType, Row

BANK: Final = Path(__file__).parent / "bank"


class Problem(Row):
    """A question, its answer in several equivalent forms, and hard negatives."""

    id: str
    lang: str
    answer_type: AnswerType
    question: str
    reference: str
    also_correct: tuple[str, ...] = ()
    hard_negatives: tuple[str, ...] = Field(min_length=1)


@cache
def bank() -> tuple[Problem, ...]:
    """The built-in, hand-written problems."""
    return tuple(read_rows(BANK / "problems.jsonl", Problem))


def attacked() -> tuple[Problem, ...]:
    """The problems of the attacks: drawn once, so that an evaluation set does not change."""
    return tuple(read_rows(BANK / "attacked.jsonl", Problem))
