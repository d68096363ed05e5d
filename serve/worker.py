"""A judge that does batches, and the process that holds one for ``serve.workers.WorkerProcess``.

The process gets its end of a connection as its argument; on it come the judge's settings, then
batches. The server's modules are not imported here, so that a replaced process starts quickly.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final, Protocol, runtime_checkable

from gradegpt.engines.base import Engine
from gradegpt.errors import EngineError, GradeGPTError, SettingsError
from gradegpt.judges.base import Judge
from gradegpt.judges.build import build_judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.deferred import DeferredJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.schema import Item, Judgement

_NICE: Final = 5
"""The judge yields the cores to the server's process, which answers requests."""

Begin = Callable[[Sequence[Item]], list[Judgement | None]]
"""Judges with the stages that ask no model; None for each item that a model has to judge."""


@runtime_checkable
class Staged(Protocol):
    """A judge with stages that ask no model; several threads may call ``begin``."""

    def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
        """See ``Begin``."""
        ...


class InProcess:
    """A judge in this process. It cannot be interrupted, so it may exceed deadlines."""

    def __init__(self, judge: Judge) -> None:
        self.name, self.fingerprint = judge.name, judge.fingerprint
        self._judge, self._engine = judge, engine_of(judge)
        self.generates = self._engine is not None

    @property
    def cached(self) -> tuple[int, int]:
        """The hits and misses of the judge's cache."""
        judge = self._judge
        return (judge.hits, judge.misses) if isinstance(judge, CachedJudge) else (0, 0)

    @property
    def begin(self) -> Begin | None:
        """The stages of the judge that ask no model."""
        return begin_of(self._judge)

    def start(self) -> None:
        """Nothing to do: the judge is already loaded."""

    def do(
        self, inputs: Sequence[Any], deadline: float = 0.0, max_new_tokens: int | None = None
    ) -> list[Any]:
        """See ``serve.workers.Lane``."""
        if max_new_tokens is None:
            return list(self._judge.judge(inputs))
        if self._engine is None:
            raise SettingsError(
                "this judge has no engine; set unrecognised=refuse, or serve a model"
            )
        return list(self._engine.generate(inputs, max_new_tokens=max_new_tokens))

    def close(self) -> None:
        """Nothing to do: the caller owns the judge."""


def engine_of(judge: Judge) -> Engine | None:
    """The engine inside a judge, or None."""
    match judge:
        case CachedJudge():
            return engine_of(judge.inner)
        case CascadeJudge():
            engines = (engine_of(stage.judge) for stage in reversed(judge.stages))
            return next((engine for engine in engines if engine is not None), None)
        case DeferredJudge():
            return engine_of(judge.loaded)
        case ModelJudge():
            return judge.engine
        case _:
            return None


def begin_of(judge: Judge) -> Begin | None:
    """The stages of a judge that ask no model; without its cache, which is no faster."""
    inner = judge.inner if isinstance(judge, CachedJudge) else judge
    return inner.begin if isinstance(inner, Staged) else None


def main() -> None:
    """Do batches until the server closes the connection."""
    # Ctrl-C and a supervisor's SIGTERM reach the whole group, but the server still drains.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    with Connection(int(sys.argv[1])) as connection:
        try:
            worker = InProcess(build_judge(connection.recv()))
        except GradeGPTError as error:
            connection.send(error)
            return
        if worker.generates:
            run_when_idle()
        answer(worker, connection)


def run_when_idle() -> None:
    """Let a model compute only on cores that nothing else needs.

    Of two busy threads on a core Linux lets even a nice one go on for milliseconds when the other
    becomes ready; the server's threads, which judge what needs no model, become ready all the time.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def answer(worker: InProcess, connection: Connection) -> None:
    """Send the judge's name, then for every batch its results, or its error, and the cache's use.

    A batch is its inputs and ``max_new_tokens``.
    """
    connection.send((worker.name, worker.fingerprint, worker.generates))
    with suppress(EOFError):
        while True:
            inputs, max_new_tokens = connection.recv()
            connection.send((_done(worker, inputs, max_new_tokens), worker.cached))


def _done(
    worker: InProcess, inputs: Sequence[Any], max_new_tokens: int | None
) -> list[Any] | GradeGPTError:
    try:
        return worker.do(inputs, max_new_tokens=max_new_tokens)
    except GradeGPTError as error:
        return error
    except Exception as error:  # noqa: BLE001  an error fails its batch only, and the model stays loaded
        traceback.print_exc()
        return EngineError(f"{type(error).__name__} in the judge")


if __name__ == "__main__":
    main()
