"""The criteria and the result of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from gradegpt.rules.tolerance import Tolerance

_CALLS: Final = 8
_FAILURES: Final = 2
Prove = Callable[[str, str], bool | None]
"""Whether two LaTeX formulas are equal, by a computer algebra system; None if not shown."""


def unproved(_left: str, _right: str) -> None:
    """A ``Prove`` that shows nothing."""


def limited(prove: Prove) -> Prove:
    """``prove`` for one item: called for eight pairs, or until two pairs could not be shown.

    A pair that cannot be shown may take its whole time limit, so this bounds the time per item.
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


class Criteria(NamedTuple):
    """The criteria of a comparison."""

    tolerance: Tolerance
    prove: Prove = unproved
    names_matter: bool = False
    """Whether x = 5 and y = 5 differ: as equations they do, as numbers they do not."""
    question: str = ""
    """If it asks for a percentage, 18 is 18 %."""


class Comparison(NamedTuple):
    """``same`` is None if nothing could be shown; ``reason`` is machine-readable."""

    same: bool | None
    reason: str


class Shown(NamedTuple):
    """Whether the answer is the reference's, and the place in the response that says so.

    ``same`` is None if that would need a package that is not installed.
    """

    same: bool | None
    reason: str
    start: int
    end: int


def every(results: Iterable[bool | None]) -> bool | None:
    """False if one result is False, True if all are True, else None."""
    seen = list(results)
    return False if False in seen else None if None in seen else True
