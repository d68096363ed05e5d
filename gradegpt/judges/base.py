"""The protocol every judge follows, and a judge that is loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
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


class DeferredJudge:
    """Calls ``load`` for a judge on its first use, and then passes everything to that judge.

    So a cascade loads no model while its first judge decides. Errors of loading are raised then.
    """

    def __init__(self, name: str, load: Callable[[], Judge]) -> None:
        self.name = name
        self._load = load

    @cached_property
    def loaded(self) -> Judge:
        """The loaded judge."""
        return self._load()

    @property
    def fingerprint(self) -> str:
        """The loaded judge's fingerprint."""
        return self.loaded.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """The loaded judge's judgements."""
        return self.loaded.judge(items)


def failed(item: Item, error: EngineError, method: str) -> Judgement:
    """The judgement of an item for which the engine failed."""
    kind = "timeout" if isinstance(error, EngineTimeoutError) else "error"
    reason = f"engine:{kind}: {error}"
    return Judgement(id=item.id, outcome=Outcome.FAILED, method=method, reason=reason)


def undecided(item: Item, method: str, reason: str) -> Judgement:
    """The judgement of an item that the method leaves undecided."""
    return Judgement(id=item.id, outcome=Outcome.UNDECIDED, method=method, reason=reason)
