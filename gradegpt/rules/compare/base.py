"""What a comparison may use, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from gradegpt.rules.tolerance import Tolerance

_CALLS: Final = 8
_FAILURES: Final = 2
Prove = Callable[[str, str], bool | None]
"""Whether two LaTeX formulas are equal, by heavier means than ``algebra``; none if not shown."""


def unproved(_left: str, _right: str) -> None:
    """The ``Prove`` that shows nothing."""


def sparing(prove: Prove) -> Prove:
    """``prove`` for one item: no longer asked once two pairs could not be shown, or after eight.

    What cannot be shown may take the whole time that a pair has, so this bounds the item's.
    """
    left = [_CALLS, _FAILURES]

    def ask(reference: str, answer: str) -> bool | None:
        if not all(left):
            return None
        shown = prove(reference, answer)
        left[0] -= 1
        left[1] -= shown is None
        return shown

    return ask


class Means(NamedTuple):
    """What a comparison may use."""

    tolerance: Tolerance
    prove: Prove = unproved
    names_matter: bool = False
    """Whether x = 5 and y = 5 are two answers: they are two lines, but one number."""
    question: str = ""
    """Where it asks for a percentage, 18 means 18 %; where it has a > 0, √(a²) is a."""
    assume: bool = True
    """Whether what the question says of signs is used."""


class Comparison(NamedTuple):
    """``same`` is none where nothing could be shown; ``reason`` is machine-readable."""

    same: bool | None
    reason: str


def every(results: Iterable[bool | None]) -> bool | None:
    """False as soon as one is false, true where all are true, else none."""
    seen = list(results)
    return False if False in seen else None if None in seen else True
