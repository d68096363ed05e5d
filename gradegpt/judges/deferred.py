"""A judge that is loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.base import Judge


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
