"""The quality of a rubric without a model: its points and their spread.

People rated the spread of points from 1 to 5 (ARB, table 4); here it is measured. The bounds are
this project's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from gradegpt.answers.text import fold
from gradegpt.schema import Row

from .form import SAME, Rubric, written

LEAST_SPREAD: Final = 0.7
"""Normalised entropy: of 10 points 8, 1, 1 have 0.58; 7, 2, 1 have 0.73; 4, 3, 3 have 0.99."""
MOST_SHARE: Final = 0.6
"""A criterion with a larger share decides between pass and fail by itself."""


class Defect(StrEnum):
    """A defect of a rubric; the value is its name in a table."""

    EMPTY = "no criteria"
    SUM = "points that do not sum to the total"
    NOT_POSITIVE = "a criterion without positive points"
    DUPLICATE = "a criterion twice"
    SPREAD = "points spread too unevenly"
    SHARE = "a criterion with most of the points"


class Quality(Row):
    """The measurements of a rubric; undefined ones are None.

    ``spread``: entropy of the points over that of equal points, in [0, 1]. ``defects`` are the
    measurements out of bounds, each with its place or its value.
    """

    spread: float | None
    defects: tuple[tuple[Defect, str], ...]


def check_rubric(rubric: Rubric) -> Quality:
    """Measure a rubric."""
    points = [criterion.points for criterion in rubric.criteria if criterion.points > 0]
    spread, largest = _spread(points), max(points) / math.fsum(points) if points else None
    return Quality(spread=spread, defects=tuple(_defects(rubric, spread, largest)))


def _spread(points: Sequence[float]) -> float | None:
    """Shannon entropy of the shares over the logarithm of their number; None for fewer than two."""
    if len(points) < 2:
        return None
    shares = [one / math.fsum(points) for one in points]
    return -math.fsum(share * math.log(share) for share in shares) / math.log(len(shares))


def _defects(
    rubric: Rubric, spread: float | None, largest: float | None
) -> Iterator[tuple[Defect, str]]:
    if not rubric.criteria:
        yield Defect.EMPTY, ""
        return
    if abs(rubric.points_sum - rubric.total) > SAME:
        yield Defect.SUM, f"{written(rubric.points_sum)} instead of {written(rubric.total)}"
    first: dict[frozenset[str], int] = {}
    for number, criterion in enumerate(rubric.criteria, 1):
        if criterion.points <= 0:
            yield Defect.NOT_POSITIVE, f"{number} has {written(criterion.points)}"
        words = frozenset(re.findall(r"\w+", fold(criterion.text).casefold()))
        if first.setdefault(words, number) != number:
            yield Defect.DUPLICATE, f"{number} is {first[words]} again"
    if spread is not None and spread < LEAST_SPREAD:
        yield Defect.SPREAD, f"{spread:.2f}, at least {LEAST_SPREAD}"
    if largest is not None and largest > MOST_SHARE:
        yield Defect.SHARE, f"{largest:.0%}, at most {MOST_SHARE:.0%}"
