"""In which way an answer is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from gradegpt.answers.numbers import Digits
from gradegpt.answers.render import Notation


@dataclass(frozen=True, slots=True)
class Style:
    """How an answer is written; what a type has no use for stays as it is.

    Attributes:
        form: The type's own form, such as ``named``, ``builder``, ``place``; of parts the first
            mark, ``(1) `` or ``① ``; of a truth value its two words, ``正确|错误``; of options
            and texts what stands around them, ``选{}``.
        joint: Between several values.
        last: Before the last of them, where that differs.
        digits: How numbers are written.
        notation: How formulas are, and which signs stand for braces, orders and infinity.
        chinese: Words in Chinese rather than in English.
        spaced: Blanks around the signs of equations and orders.
        unit: The unit with the gap before it; none leaves the unit as it is, "" leaves it out.
        name: The unknown's name, where the form has one and the value has not.
        math: What stands around each value, ``${}$``.
        dress: What stands around the whole.
        variant: Which of the words for one thing.

    """

    form: str = ""
    joint: str = ", "
    last: str = ""
    digits: Digits = Digits.PLAIN
    notation: Notation = Notation.PLAIN
    chinese: bool = False
    spaced: bool = False
    unit: str | None = None
    name: str = "x"
    math: str = "{}"
    dress: str = "{}"
    variant: int = 0

    @property
    def latex(self) -> bool:
        """Whether the notation is LaTeX."""
        return self.notation is Notation.LATEX

    @property
    def equals(self) -> str:
        """The sign of equations."""
        return " = " if self.spaced else "="

    @property
    def element(self) -> str:
        """The sign between an element and its set."""
        return "\\in " if self.latex else "∈"

    @property
    def either(self) -> str:
        """The word between alternatives."""
        return "\\text{ or }" if self.latex else "或" if self.chinese else " or "


def vary(styles: Iterable[Style], **choices: Iterable[Any]) -> Iterator[Style]:
    """Each of the styles with every combination of the choices for its fields."""
    for style, *values in product(styles, *choices.values()):
        yield replace(style, **dict(zip(choices, values, strict=True)))


BOTH: Final = (False, True)
DOLLARS: Final = "${}$"
LATEX: Final = Style(notation=Notation.LATEX)
IN_WORDS: Final = (*vary([Style()], digits=(Digits.WORDS, Digits.PARTS), chinese=BOTH),)
MAX_BLANKS: Final = 5
"""Blanks in a number in words, or in a list of names: what has more reads as prose."""
