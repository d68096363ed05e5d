"""Functions of many values in tasks of Ray; an error of this project comes back as such."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from gradegpt.errors import EngineError, GradeGPTError
from gradegpt.machine import in_turn

A = TypeVar("A")
B = TypeVar("B")

_VALUE: Final = "value"
RETRIES: Final = 10
"""How often a task is begun again whose worker or node died."""
_AHEAD: Final = 4
"""Tasks that are submitted for each core; more would only take memory."""


class Each(Protocol):
    """Computes a function of every value, in order."""

    def __call__(self, function: Callable[[A], B], values: Sequence[A]) -> list[B]:
        """The results; the first error among them is raised."""
        ...


class Step(NamedTuple):
    """A function of a pipeline: in tasks, or in ``workers`` processes that stay and load a model.

    ``gpus`` are those of one such process.
    """

    function: Callable[[Any], Any]
    workers: int | None = None
    gpus: int = 0


def each(function: Callable[[A], B], values: Sequence[A], **options: Any) -> list[B]:
    """The results of tasks; ``options`` are Ray's, such as ``num_gpus``."""
    import ray

    task = ray.remote(max_retries=RETRIES, **options)(_attempt)
    with _died():
        return [_given(made) for made in ray.get([task.remote(function, v) for v in values])]


def piped(values: Sequence[Any], steps: Sequence[Step]) -> Iterator[Any]:
    """The results of all steps, one after another, as they are finished.

    Ray Data streams them through several steps: a value that waits for one is held by Ray, which
    begins no more than its memory holds. A single step without processes that stay is a task for
    each value. What a worker or node that died was working on is begun again.
    """
    import ray

    if len(steps) == 1 and steps[0].workers is None:
        yield from in_tasks(steps[0].function, values)
        return
    through_client = ray.util.client.ray.is_connected()
    with _died():
        for result in (_remote if through_client else _streamed)(values, steps):
            yield _given(result)


def in_tasks(function: Callable[[A], B], values: Sequence[A]) -> Iterator[B]:
    """The results of tasks as they are finished; a few more tasks wait than there are cores."""
    import ray

    submit = partial(ray.remote(max_retries=RETRIES)(_attempt).remote, function)
    ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    with _died():
        for result in in_turn(submit, values, ray.wait, ahead):
            yield _given(ray.get(result))


def _streamed(values: Sequence[Any], steps: Sequence[Step]) -> Iterator[Any]:
    import ray

    if not values:
        return
    rows = [{_VALUE: pickle.dumps(value)} for value in values]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    for step in steps:
        if step.workers is None:
            data = data.map(partial(_carried, step.function))
        else:
            # No core is reserved: a machine with one core could not judge before the model.
            data = data.map(
                _Worker, fn_constructor_args=(step.function,), num_cpus=0, num_gpus=step.gpus,
                compute=ray.data.ActorPoolStrategy(size=step.workers),
            )  # fmt: skip
    yield from (pickle.loads(row[_VALUE]) for row in data.iter_rows())


def _remote(values: Sequence[Any], steps: Sequence[Step]) -> Iterator[Any]:
    """The same from a process of the cluster: Ray Data cannot run in a client."""
    import ray

    pipeline = ray.remote(num_cpus=0)(_Pipeline).remote(values, steps)
    while results := ray.get(pipeline.following.remote()):
        yield from results


class _Pipeline:
    """A pipeline that is asked for its results."""

    def __init__(self, values: Sequence[Any], steps: Sequence[Step]) -> None:
        self._results = _streamed(values, steps)

    def following(self) -> list[Any]:
        """The next result, as a list; an empty one at the end."""
        return [*islice(self._results, 1)]


class _Worker:
    """A process that stays."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray sets 1 where no core is reserved
        self._function = function

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return _carried(self._function, row)


def _carried(function: Callable[[Any], Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row of Ray Data through a step; an error goes on to the end."""
    value = pickle.loads(row[_VALUE])
    if not isinstance(value, GradeGPTError):
        value = _attempt(function, value)
    return {_VALUE: pickle.dumps(value)}


@contextmanager
def _died() -> Iterator[None]:
    """Turn Ray's own errors into an ``EngineError``: a worker that dies whenever it is begun."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        why = " ".join(str(error).split())[:500]
        raise EngineError(f"the cluster failed: {why}") from error


def _attempt(function: Callable[[A], B], value: A) -> B | GradeGPTError:
    """The result, or the error as a value: Ray would wrap one that is raised."""
    try:
        return function(value)
    except GradeGPTError as error:
        return error


def _given(result: B | GradeGPTError) -> B:
    """The result; an error is raised."""
    if isinstance(result, GradeGPTError):
        raise result
    return result
