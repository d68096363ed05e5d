"""An answer: its type, and the value that was read from its text."""

from __future__ import annotations

from dataclasses import dataclass

from gradegpt.answers.formula import Node, read_formula
from gradegpt.answers.types import AnswerType, Leaf, Options, Relation, Truth, Value
from gradegpt.answers.words import Words


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its type, its value, and the text it was read from.

    ``text`` is the words that were read, ``span`` their place in the text in which they were found.
    ``gradegpt.rules.compare`` says whether two answers are the same.
    """

    kind: AnswerType
    value: Value | Options | Truth | Words
    text: str = ""
    span: tuple[int, int] = (0, 0)


def difference(value: Leaf | Relation) -> Node | None:
    """The formula that an equation sets to zero; ``y = 2x + 1`` is a named value here."""
    if isinstance(value, Relation):
        return Node("+", (value.left, Node("neg", (value.right,))))
    name = read_formula(value.name) if value.name else None
    if name is None or value.formula is None:
        return None
    return Node("+", (name, Node("neg", (value.formula,))))
