"""The protocol every judge follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradegpt.schema import Item, Judgement


class Judge(Protocol):
    """Turns items into judgements, one each, in order.

    ``fingerprint`` names all that the verdicts depend on.
    """

    name: str

    @property
    def fingerprint(self) -> str:
        """Equal fingerprints mean equal judgements for equal items."""
        ...

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order. A failure is an outcome, never a verdict."""
        ...
