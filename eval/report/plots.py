"""Where things are in the page's plots: axes that fit the data, and names that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from gradegpt.judges.statistics import Interval

from ..metrics import JudgeMetrics
from ..reliability import Reliability
from ..selective import RiskCoverage

TOP: Final = 16
"""The pixels above a plot; its height in pixels is twice a percentage."""
_LINE: Final = 16
"""The pixels from one line of text to the next."""
_LONGEST: Final = 24
_FROM: Final = ((0.9, 0.02), (0.8, 0.05), (0.7, 0.05), (0.5, 0.1), (0.0, 0.25))
"""The starts of axes that end in 1, with the steps of their ticks."""
_TO: Final = ((0.05, 0.01), (0.1, 0.02), (0.2, 0.05), (0.5, 0.1), (1.0, 0.25))
"""The ends of axes that start in 0."""


class Axis(NamedTuple):
    """A range of shares with the step of its ticks."""

    low: float
    high: float
    step: float

    @property
    def ticks(self) -> list[float]:
        """The values that are marked, the ends included."""
        n = round((self.high - self.low) / self.step)
        return [round(self.low + k * self.step, 4) for k in range(n + 1)]

    def at(self, value: float) -> float:
        """The place of a value in percent of the axis; what is outside is at its end.

        >>> Axis(0.8, 1.0, 0.05).at(0.85)
        25.0
        """
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(100.0, max(0.0, place)), 2)

    def y(self, value: float) -> float:
        """The pixels from the top of the plot."""
        return round(TOP + 200 - 2 * self.at(value), 1)


SHARES: Final = Axis(0.0, 1.0, 0.25)


def up_to_one(least: float) -> Axis:
    """The shortest axis that ends in 1 and holds ``least``."""
    low, step = next((low, step) for low, step in _FROM if low <= least)
    return Axis(low, 1.0, step)


def from_zero(most: float) -> Axis:
    """The shortest axis that starts in 0 and holds ``most``."""
    high, step = next((high, step) for high, step in _TO if most <= high)
    return Axis(0.0, high, step)


class Dot(NamedTuple):
    """A judge by what it decides and how rightly; ``text_y`` is the place of its name, in pixels.

    ``number`` is that of the judge on the page.
    """

    name: str
    number: int
    decided: float
    decided_range: Interval
    right: float
    right_range: Interval
    text_y: float

    @property
    def shown(self) -> str:
        """The name, shortened for the plot."""
        return self.name if len(self.name) <= _LONGEST else f"{self.name[: _LONGEST - 1]}…"


class Judges(NamedTuple):
    """The plot of all judges."""

    x: Axis
    y: Axis
    dots: list[Dot]


def judges_plot(measured: Mapping[str, JudgeMetrics]) -> Judges | None:
    """The judges that decided a row; None where no judge did."""
    found = [
        (name, number, m.coverage, m.intervals["coverage"], m.accuracy, m.intervals["accuracy"])
        for number, (name, m) in enumerate(measured.items())
        if m.coverage is not None and m.accuracy is not None
    ]
    if not found:
        return None
    x = up_to_one(min(decided.low for _, _, _, decided, _, _ in found))
    y = up_to_one(min(right.low for *_, right in found))
    heights = apart([y.y(right) - 8 for *_, right, _ in found])
    dots = [Dot(*one, text_y) for one, text_y in zip(found, heights, strict=True)]
    return Judges(x, y, dots)


def apart(heights: Sequence[float]) -> list[float]:
    """The heights of texts, in pixels, moved down until none overlaps another.

    >>> apart([50, 10, 12])
    [50, 10, 26]
    """
    placed = list(heights)
    order = sorted(range(len(heights)), key=lambda n: heights[n])
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + _LINE)
    return placed


def reliability_axis(found: Reliability) -> Axis:
    """Both axes of the reliability diagram, on which the diagonal is that of equal values."""
    return up_to_one(min(min(one.low, one.accuracy.interval.low) for one in found.bins))


def risk_axis(found: RiskCoverage) -> Axis:
    """The axis of the error: it holds what the judge decided, and the curve from a tenth on."""
    shown = [point for point in found.points if point.coverage >= 0.1]
    shown += [found.operating] if found.operating else []
    return from_zero(max((point.risk.interval.high for point in shown), default=1.0))
