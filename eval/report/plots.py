"""Where things are in the page's plots: axes that fit the data."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..reliability import Reliability
from ..selective import RiskCoverage

TOP: Final = 16
"""The pixels above a plot; its height in pixels is twice a percentage."""
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


def reliability_axis(found: Reliability) -> Axis:
    """Both axes of the reliability diagram, on which the diagonal is that of equal values."""
    return up_to_one(min(min(one.low, one.accuracy.interval.low) for one in found.bins))


def risk_axis(found: RiskCoverage) -> Axis:
    """The axis of the error: it holds what the judge decided, and the curve from a tenth on."""
    shown = [point for point in found.points if point.coverage >= 0.1]
    shown += [found.operating] if found.operating else []
    return from_zero(max((point.risk.interval.high for point in shown), default=1.0))
