"""The style in which an answer is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from .numbers import Digits
from .render import Notation


@dataclass(frozen=True, slots=True)
class Style:
    """How an answer is written; fields that its type does not use have no effect.

    Attributes:
        form: A form of the answer's type, such as ``named``, ``builder``, ``place``; for parts the
            first mark, ``(1) `` or ``① ``; for a truth value its two words, ``正确|错误``; for
            options and texts a template, ``选{}``.
        joint: The separator between several values.
        last: The separator before the last of them, if it differs.
        digits: The form of numbers.
        notation: The notation of formulas, braces, inequality signs and infinity.
        chinese: Words are Chinese rather than English.
        spaced: Spaces around the signs of equations and inequalities.
        unit: The unit with the space before it; None leaves the unit unchanged, "" omits it.
        name: The name of the unknown, if the form has one and the value has none.
        math: A template around each value, ``${}$``.
        wrapper: A template around the whole answer.
        variant: Which one of several synonyms is used.

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
    wrapper: str = "{}"
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
        """The word for "or" between alternatives."""
        return "\\text{ or }" if self.latex else "或" if self.chinese else " or "


def vary(styles: Iterable[Style], **choices: Iterable[Any]) -> Iterator[Style]:
    """Each of the styles with every combination of the given values of its fields."""
    for style, *values in product(styles, *choices.values()):
        yield replace(style, **dict(zip(choices, values, strict=True)))


BOTH: Final = (False, True)
DOLLARS: Final = "${}$"
LATEX: Final = Style(notation=Notation.LATEX)
IN_WORDS: Final = (*vary([Style()], digits=(Digits.WORDS, Digits.PARTS), chinese=BOTH),)
MAX_BLANKS: Final = 5
"""Spaces in a number in words or a list of names; a text with more would read as prose."""
