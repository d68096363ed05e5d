"""An answer with its type and question, and how far it could be parsed."""

from __future__ import annotations

from typing import NamedTuple

from gradegpt.answers import Answer, read
from gradegpt.answers.truth import truth
from gradegpt.answers.types import Group, Leaf, Options, Truth
from gradegpt.answers.values import is_read
from gradegpt.answers.words import Words
from gradegpt.schema import AnswerType


class AnswerText(NamedTuple):
    """The text of an answer, with its type, its question and the language of new forms."""

    text: str
    kind: AnswerType
    question: str
    chinese: bool

    @property
    def answer(self) -> Answer:
        """The parsed answer."""
        return read(self.text, self.kind, self.question)


def is_known(answer: Answer) -> bool:
    """Whether the answer was parsed as its type requires; the names in a set may be plain texts."""
    value = answer.value
    if isinstance(value, Words):
        return answer.kind is AnswerType.TEXT and bool(value.words)
    if isinstance(value, Group) and answer.kind in (AnswerType.MULTI_ANSWER, AnswerType.SET):
        return True
    return isinstance(value, Options | Truth) or is_read(value)


def is_phrase(answer: Answer) -> bool:
    """Whether texts with commas are one phrase: "yes, no", or a date such as "May 4, 1919"."""
    if not isinstance(answer.value, Group) or is_read(answer.value):
        return False
    truths = any(isinstance(i, Leaf) and truth(i.text) is not None for i in answer.value.items)
    return truths or any(c.isdigit() for c in answer.text)
