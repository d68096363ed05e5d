"""What a comparison may use, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradegpt.rules.tolerance import Tolerance

Prove = Callable[[str, str], bool | None]
"""Whether two LaTeX formulas are equal, by heavier means than ``algebra``; none if not shown."""


def unproved(_left: str, _right: str) -> None:
    """The ``Prove`` that shows nothing."""


class Means(NamedTuple):
    """What a comparison may use."""

    tolerance: Tolerance
    prove: Prove = unproved
    names_matter: bool = False
    """Whether x = 5 and y = 5 are two answers: they are two lines, but one number."""
    question: str = ""
    """Where it asks for a percentage, 18 means 18 %."""


class Comparison(NamedTuple):
    """``same`` is none where nothing could be shown; ``reason`` is machine-readable."""

    same: bool | None
    reason: str


def every(results: Iterable[bool | None]) -> bool | None:
    """False as soon as one is false, true where all are true, else none."""
    seen = list(results)
    return False if False in seen else None if None in seen else True
