"""The protocol every judge follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradegpt.core.errors import EngineError, EngineTimeoutError
from gradegpt.core.schema import Item, Judgement, Outcome


class Judge(Protocol):
    """Turns items into judgements, one each, in order.

    ``fingerprint`` identifies everything that the verdicts depend on.
    """

    name: str

    @property
    def fingerprint(self) -> str:
        """Equal fingerprints mean equal judgements for equal items."""
        ...

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order. A failure is an outcome, never a verdict."""
        ...


def failed(item: Item, error: EngineError, method: str) -> Judgement:
    """The judgement of an item for which the engine failed."""
    kind = "timeout" if isinstance(error, EngineTimeoutError) else "error"
    reason = f"engine:{kind}: {error}"
    return Judgement(id=item.id, outcome=Outcome.FAILED, method=method, reason=reason)


def undecided(item: Item, method: str, reason: str) -> Judgement:
    """The judgement of an item that the method leaves undecided."""
    return Judgement(id=item.id, outcome=Outcome.UNDECIDED, method=method, reason=reason)
