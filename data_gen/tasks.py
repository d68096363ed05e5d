"""Run a function on many tasks: in this process, in processes of this machine, or on Ray.

A task is a small value, such as the paths of files to read and to write. A function may be called
again with the same task, after a process that died.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from typing import Any, Final, TypeVar

from gradegpt.errors import OutputError
from gradegpt.machine import cores, in_turn

from .settings import DataGenSettings

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 4
"""Tasks that wait for each process; more would only take memory."""


def connected(on: str) -> AbstractContextManager[Any]:
    """Ray while the context is open, if the work is done there; the tasks use this connection.

    Raises:
        EngineError, MissingError: there is no cluster at the address, or no Ray.

    """
    if not on:
        return nullcontext()
    from gradegpt.cluster.session import connect

    return connect(None if on == "ray" else on)


def finished(
    function: Callable[[T], R], tasks: Sequence[T], settings: DataGenSettings
) -> Iterator[R]:
    """The results in the order in which the tasks are finished.

    Raises:
        OutputError: a process died.
        EngineError, MissingError: there is no cluster at ``settings.on``, or no Ray.

    """
    count = settings.workers or cores()
    if settings.on:
        yield from _on_ray(function, tasks, settings.on)
    elif count < 2 or len(tasks) < 2:
        yield from map(function, tasks)
    else:
        yield from _in_processes(function, tasks, count, settings.folder)


def _in_processes(
    function: Callable[[T], R], tasks: Sequence[T], count: int, folder: str
) -> Iterator[R]:
    # Not fork: the caller's threads (a progress bar, a test runner) would be copied in any state.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:

        def first(running: list[Future[R]]) -> tuple[list[Future[R]], list[Future[R]]]:
            done, rest = wait(running, return_when=FIRST_COMPLETED)
            return [*done], [*rest]

        def submit(task: T) -> Future[R]:
            return pool.submit(function, task)

        try:
            for future in in_turn(submit, tasks, first, _AHEAD * count):
                yield future.result()
        except BrokenProcessPool as error:
            raise OutputError(
                f"{folder}: a process died (out of memory?); "
                "run the same command again to resume, with fewer workers=N if need be"
            ) from error


def _on_ray(function: Callable[[T], R], tasks: Sequence[T], on: str) -> Iterator[R]:
    from gradegpt.cluster.tasks import in_tasks

    with connected(on):
        yield from in_tasks(function, tasks)
