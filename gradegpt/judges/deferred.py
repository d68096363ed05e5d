"""A judge that is loaded when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from gradegpt.judges.base import Judge
from gradegpt.schema import Item, Judgement


class DeferredJudge:
    """Stands for the judge that ``load`` makes, and makes it when it is first asked or named.

    What a cascade's first judge decides then needs no model. Errors of loading come at that time.
    """

    def __init__(self, name: str, load: Callable[[], Judge]) -> None:
        self.name = name
        self._load = load

    @cached_property
    def loaded(self) -> Judge:
        """The judge itself."""
        return self._load()

    @property
    def fingerprint(self) -> str:
        """The loaded judge's."""
        return self.loaded.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """The loaded judge's judgements."""
        return self.loaded.judge(items)
