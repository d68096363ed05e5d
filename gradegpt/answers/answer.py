"""An answer: its type, and the value that was read from its text."""

from __future__ import annotations

from dataclasses import dataclass

from gradegpt.answers.formula import Node, minus, read_formula
from gradegpt.answers.types import AnswerType, Leaf, Options, Relation, Truth, Value
from gradegpt.answers.words import Words

Read = Value | Options | Truth | Words
"""What is read from a text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its type, its value, the text it was read from, and the place of that text."""

    kind: AnswerType
    value: Read
    text: str = ""
    span: tuple[int, int] = (0, 0)


def difference(value: Leaf | Relation) -> Node | None:
    """The formula that an equation sets to zero; ``y = 2x + 1`` is a named value here."""
    if isinstance(value, Relation):
        return minus(value.left, value.right)
    name = read_formula(value.name) if value.name else None
    return minus(name, value.formula) if name and value.formula else None
