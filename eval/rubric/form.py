"""A rubric and its text: numbered criteria with points, and their total in the last line.

Such as::

    1. [4] Finds the field E = λ/(2πεr) by Gauss' theorem
    2. [6] Concludes that C = 2πεL/ln(b/a)
    Total: 10

A rubric is checked without a model by its points; people rated their spread (ARB, table 4).
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

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


def parse_rubric(text: str, total: float = TOTAL) -> Rubric | str:
    """Read a model's text as a rubric of ``total`` points; a text is the reason why it is none.

    Only the form that ``render_rubric`` writes is accepted: criteria numbered from 1, each with
    points above 0, and a last line with their sum, which is ``total``. Blank lines are ignored.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    ended = _TOTAL.fullmatch(lines[-1]) if lines else None
    if ended is None:
        return "rubric:the last line is not 'Total: ' with the points"
    found = []
    for number, line in enumerate(lines[:-1], 1):
        match = _CRITERION.fullmatch(line)
        if match is None or int(match["number"]) != number:
            return f"rubric:no criterion {number} in line {line[:_SHOWN]!r}"
        found.append(Criterion(text=match["text"], points=float(match["points"])))
    rubric = Rubric(criteria=tuple(found), total=total)
    if rubric.problem:
        return f"rubric:{rubric.problem}"
    if abs(float(ended["points"]) - total) > SAME:
        return f"rubric:it says a total of {ended['points']}, not {written(total)}"
    return rubric


def spread(rubric: Rubric) -> float | None:
    """The entropy of the points over that of equal points, in [0, 1]; None for fewer than two."""
    points = [criterion.points for criterion in rubric.criteria if criterion.points > 0]
    if len(points) < 2:
        return None
    shares = [one / math.fsum(points) for one in points]
    return -math.fsum(share * math.log(share) for share in shares) / math.log(len(shares))
