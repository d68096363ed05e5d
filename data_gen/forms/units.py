"""The names of units and the other units of a dimension."""

from __future__ import annotations

from gradegpt.answers.units import NAMED, TIGHT, UNITS, Unit, named


def names(unit: str) -> tuple[str, ...]:
    """All names of a unit, each with the space that separates it from a number, if any."""
    found = named(unit)
    if found is None:
        return (unit if unit[:1] > "\u3000" else f" {unit}",)
    tight = [s for s in found.symbols if len(s) > 1 or s in TIGHT]
    spaced = [f" {s}" for s in found.symbols + found.english if s != "°"]
    return (*spaced, *tight, *found.chinese)


def same_dimension(unit: str) -> tuple[Unit, ...]:
    """The other units of the same dimension."""
    found = named(unit)
    if found is None:
        return ()
    return tuple(u for u in UNITS if u.measures == found.measures and u is not found)


def name_like(unit: str, other: Unit) -> str:
    """The name of ``other`` in the style of ``unit``: a symbol, a Chinese or an English word."""
    for mine, theirs in zip(NAMED[unit][2:], other[2:], strict=True):
        if unit in mine and theirs:
            return str(theirs[min(mine.index(unit), len(theirs) - 1)])
    return other.english[0]
