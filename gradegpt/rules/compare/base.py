"""What a comparison says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Comparison(NamedTuple):
    """``same`` is none where nothing could be shown; ``reason`` is machine-readable."""

    same: bool | None
    reason: str


def every(results: Iterable[bool | None]) -> bool | None:
    """False as soon as one is false, true where all are true, else none."""
    seen = list(results)
    return False if False in seen else None if None in seen else True
