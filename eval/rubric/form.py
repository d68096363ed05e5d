"""A rubric and its text: numbered criteria with points, and their total in the last line.

Such as::

    1. [4] Finds the field E = λ/(2πεr) by Gauss' theorem
    2. [6] Concludes that C = 2πεL/ln(b/a)
    Total: 10

A rubric is checked without a model by its points; people rated their spread from 1 to 5 (ARB,
table 4). The bounds are this project's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gradegpt.answers.text import fold
from gradegpt.core.schema import Row

TOTAL: Final = 10.0
"""Points of a full answer where an item states none (ARB, table 5: out of 10)."""
NUMBER: Final = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
"""The written form of points; six decimals are precise enough for thirds and sevenths."""
SAME: Final = 1e-4
"""Points that differ by less are equal: three criteria of 10/3, as written, sum to 10."""

_CRITERION: Final = re.compile(rf"(?P<number>[0-9]{{1,3}})\. \[(?P<points>{NUMBER})\] (?P<text>.+)")
_TOTAL: Final = re.compile(rf"Total: (?P<points>{NUMBER})")
_SHOWN: Final = 80


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise ValueError("is empty; state what earns the points")
    return words


class Criterion(Row):
    """What earns points, in one line. In a valid rubric points are above 0."""

    text: Annotated[str, AfterValidator(_one_line)]
    points: Annotated[float, Field(allow_inf_nan=False)]


class Rubric(Row):
    """Criteria and the points of a full answer; ``problem`` says whether the two are consistent."""

    criteria: tuple[Criterion, ...]
    total: Annotated[float, Field(gt=0, allow_inf_nan=False)] = TOTAL

    @property
    def points_sum(self) -> float:
        """The sum of the points of all criteria."""
        return math.fsum(criterion.points for criterion in self.criteria)

    @property
    def problem(self) -> str:
        """Why nothing can be graded by this rubric; empty if it is valid."""
        if not self.criteria:
            return "no criteria"
        for number, criterion in enumerate(self.criteria, 1):
            if criterion.points <= 0:
                return f"criterion {number} has {written(criterion.points)} points"
        if abs(self.points_sum - self.total) > SAME:
            return f"points sum to {written(self.points_sum)}, not {written(self.total)}"
        return ""


class ParsedRubric(Row):
    """The result of parsing a model's text: a valid rubric, or none and the reason."""

    rubric: Rubric | None = None
    reason: str = ""


def written(points: float) -> str:
    """Points without trailing zeros: 10, 2.5, 3.333333."""
    return f"{points:.6f}".rstrip("0").rstrip(".")


def render_rubric(rubric: Rubric) -> str:
    """The text of a rubric, which ``parse_rubric`` reads back."""
    lines = [
        f"{number}. [{written(criterion.points)}] {criterion.text}"
        for number, criterion in enumerate(rubric.criteria, 1)
    ]
    return "\n".join([*lines, f"Total: {written(rubric.total)}"])


def parse_rubric(text: str, total: float = TOTAL) -> ParsedRubric:
    """Read a model's text as a rubric of ``total`` points.

    Only the form that ``render_rubric`` writes is accepted: criteria numbered from 1, each with
    points above 0, and a last line with their sum, which is ``total``. Blank lines are ignored.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    ended = _TOTAL.fullmatch(lines[-1]) if lines else None
    if ended is None:
        return _unread("the last line is not 'Total: ' with the points")
    found = []
    for number, line in enumerate(lines[:-1], 1):
        match = _CRITERION.fullmatch(line)
        if match is None or int(match["number"]) != number:
            return _unread(f"no criterion {number} in line {line[:_SHOWN]!r}")
        found.append(Criterion(text=match["text"], points=float(match["points"])))
    rubric = Rubric(criteria=tuple(found), total=total)
    if rubric.problem:
        return _unread(rubric.problem)
    if abs(float(ended["points"]) - total) > SAME:
        return _unread(f"it says a total of {ended['points']}, not {written(total)}")
    return ParsedRubric(rubric=rubric)


def _unread(reason: str) -> ParsedRubric:
    return ParsedRubric(reason=f"rubric:{reason}")


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
