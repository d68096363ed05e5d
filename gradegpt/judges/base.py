"""The protocol every judge follows, and a judge that is loaded on first use."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from gradegpt.core.errors import EngineError, EngineTimeoutError, GradeGPTError
from gradegpt.core.schema import Item, Judgement, Outcome, Verdict

BUG: Final = "judge:error: "
"""The beginning of the reason of an item on which the judge raised an unexpected error."""
_LONGEST: Final = 200
"""Characters of an error's text in a reason."""


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


def judge_each(judge: Judge, items: Sequence[Item]) -> list[Judgement]:
    """The judge's judgements; an item on which it raises an unexpected error is ``failed``.

    The items are halved until the one is alone, so a model judges the others in batches.

    Raises:
        GradeGPTError, ImportError: whatever the items, the judge cannot work.

    """
    try:
        return judge.judge(items)
    except (GradeGPTError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001  a bug that one row meets must not end the run
        if len(items) == 1:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST]}"
            where = f"in {frame.name}, line {frame.lineno}"
            return [_failed(items[0], judge.name, f"{BUG}{what} ({where})")]
    half = len(items) // 2
    return judge_each(judge, items[:half]) + judge_each(judge, items[half:])


def failed(item: Item, error: EngineError, method: str) -> Judgement:
    """The judgement of an item for which the engine failed."""
    kind = "timeout" if isinstance(error, EngineTimeoutError) else "error"
    return _failed(item, method, f"engine:{kind}: {error}")


def _failed(item: Item, method: str, reason: str) -> Judgement:
    return Judgement(id=item.id, outcome=Outcome.FAILED, method=method, reason=reason)


def decided(item: Item, verdict: Verdict, method: str, reason: str, **more: Any) -> Judgement:
    """The judgement of an item with a verdict, and ``more`` fields."""
    known = {"id": item.id, "outcome": Outcome.JUDGED, "verdict": verdict}
    return Judgement(**known, method=method, reason=reason, **more)


def undecided(item: Item, method: str, reason: str) -> Judgement:
    """The judgement of an item that the method leaves undecided."""
    return Judgement(id=item.id, outcome=Outcome.UNDECIDED, method=method, reason=reason)
