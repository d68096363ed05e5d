"""Problems with a known answer, and the embedded bank of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gradegpt.records import read_rows
from gradegpt.schema import AnswerType, Row

BANK: Final = Path(__file__).parent / "bank" / "problems.jsonl"


class Problem(Row):
    """A question, its answer in several right forms, and wrong answers that look near."""

    id: str
    lang: str
    answer_type: AnswerType
    question: str
    reference: str
    solution: tuple[str, ...] = ()
    also_correct: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()


def bank() -> list[Problem]:
    """The embedded, hand-written problems."""
    return list(read_rows(BANK, Problem))
