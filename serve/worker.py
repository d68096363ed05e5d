"""A judge that does batches, in this process or in that of a ``serve.workers.WorkerProcess``."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final, Protocol, runtime_checkable

from gradegpt.core.schema import Item, Judgement
from gradegpt.judges.base import Judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.settings import EngineSettings, JudgeSettings

_NICE: Final = 5
"""The judge yields the cores to the server's process, which answers requests."""

_LONG_S: Final = 0.005
"""Seconds after which a quick batch begins beside another."""
Begin = Callable[[Sequence[Item]], list[Judgement | None]]
"""Judges with the stages that ask no model; None for each item that a model has to judge. Several
threads may call it."""


@runtime_checkable
class StagedJudge(Protocol):
    """A judge with stages that ask no model."""

    def begin(self, items: Sequence[Item]) -> list[Judgement | None]:
        """As ``Begin``."""
        ...


class InProcess:
    """A judge in this process. It cannot be interrupted, so it may exceed deadlines."""

    def __init__(self, judge: Judge) -> None:
        self.name, self.fingerprint = judge.name, judge.fingerprint
        self._judge = judge

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

    def do(self, items: Sequence[Item], _: float = 0.0) -> list[Any]:
        """A result for each item, in order; an item that fails has its error as result."""
        return list(self._judge.judge(items))

    def close(self) -> None:
        """Nothing to do: the caller owns the judge."""


class QuickLane:
    """What asks no model, in the server's process. Of its threads one works at a time.

    Threads that compute in Python gain nothing from each other, and each delays the event loop.
    One that takes longer, as for computer algebra, goes on beside the next.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin, self._turn = begin, threading.Lock()

    def do(self, items: Sequence[Item], _: float) -> list[Judgement | None]:
        """The judgements, and None for each item that is left to a model."""
        in_turn = self._turn.acquire(timeout=_LONG_S)
        try:
            return self._begin(items)
        finally:
            if in_turn:
                self._turn.release()

    def start(self) -> None:
        """Nothing to do, as in ``close``: it has no process."""

    close = start


def begin_of(judge: Judge) -> Begin | None:
    """The stages of a judge that ask no model; without its cache, which is no faster."""
    inner = judge.inner if isinstance(judge, CachedJudge) else judge
    return inner.begin if isinstance(inner, StagedJudge) else None


def work(
    channel: Connection, settings: JudgeSettings, build: Callable[[JudgeSettings], Judge]
) -> None:
    """Judge the batches that come through ``channel``, in this process, until it closes.

    The first thing that is sent is what the judge is, or the error of loading it.
    """
    # Ctrl-C and a supervisor's SIGTERM reach the whole group, but the server still drains.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a model's library may print
    os.nice(_NICE)
    try:
        judge = InProcess(build(settings))
    except Exception as error:  # noqa: BLE001  it is raised in the server's process
        channel.send(error)
        return
    if isinstance(settings, EngineSettings) and settings.model:
        run_when_idle()
    channel.send((judge.name, judge.fingerprint))
    with suppress(EOFError, BrokenPipeError):
        while True:
            channel.send(_done(judge, channel.recv()))


def _done(judge: InProcess, items: Sequence[Item]) -> Any:
    """The results of a batch and the use of the cache so far, or the error of the judge."""
    try:
        return judge.do(items), judge.cached
    except Exception as error:  # noqa: BLE001  it is raised in the server's process
        error.add_note(traceback.format_exc())  # which is not sent
        return error


def _end_with_parent() -> None:
    """Kill this process when its parent has died."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def run_when_idle() -> None:
    """Let a model compute only on cores that nothing else needs.

    Of two busy threads on a core Linux lets even a nice one go on for milliseconds when the other
    becomes ready; the server's threads, which judge what needs no model, become ready all the time.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
