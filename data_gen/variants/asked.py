"""An answer that is asked about, and how far it was understood."""

from __future__ import annotations

from typing import NamedTuple

from gradegpt.answers import Answer, read
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Leaf, Options, Truth
from gradegpt.answers.values import is_read
from gradegpt.answers.words import Words
from gradegpt.schema import AnswerType


class Asked(NamedTuple):
    """An answer with all that decides how else it may be written."""

    text: str
    kind: AnswerType
    question: str
    chinese: bool

    @property
    def answer(self) -> Answer:
        """What it is read as."""
        return read(self.text, self.kind, self.question)


def is_known(answer: Answer) -> bool:
    """Whether the answer is read as its type has it; names among several answers are texts."""
    value = answer.value
    if isinstance(value, Words):
        return answer.kind is AnswerType.TEXT and bool(value.words)
    if isinstance(value, Group) and answer.kind in (AnswerType.MULTI_ANSWER, AnswerType.SET):
        return True
    return isinstance(value, Options | Truth) or is_read(value)


def is_phrase(answer: Answer) -> bool:
    """Whether several texts hang together: "yes, no", or a date such as "May 4, 1919"."""
    if not isinstance(answer.value, Group) or is_read(answer.value):
        return False
    told = any(isinstance(i, Leaf) and truth(i.text) is not None for i in answer.value.items)
    return told or any(c.isdigit() for c in answer.text)
