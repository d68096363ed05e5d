"""The connection to Ray, and values through the steps of Ray Data.

What a worker or a node that died was working on is begun again by Ray.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from gradegpt.core.errors import EngineError, GradeGPTError, MissingError

_ENVIRONMENT: Final = {
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}  # fmt: skip
"""No statistics are sent, and no warnings written about what Ray Data does by itself."""
_QUIET: Final = {"include_dashboard": False, "logging_level": logging.ERROR, "log_to_driver": False}


class Step(NamedTuple):
    """A function: in tasks, or in ``workers`` processes that stay, with so many GPUs each."""

    function: Callable[[Any], Any]
    workers: int | None = None
    gpus: int = 0


@contextmanager
def connect(address: str | None = None, **options: Any) -> Iterator[None]:
    """A connection to Ray while the context is open; one that exists is used.

    Args:
        address: ``ray://host:port`` of a cluster. None: that of this machine or of ``RAY_ADDRESS``,
            else one that is started here and ends with the context.
        options: Other arguments of ``ray.init``, such as ``num_cpus``.

    Raises:
        MissingError: Ray is not installed.
        EngineError: there is no cluster at the address.

    """
    os.environ.update({name: os.environ.get(name, v) for name, v in _ENVIRONMENT.items()})
    try:
        import ray
        import ray.data
    except ImportError as error:
        how = "install it with pip install 'gradegpt[cluster]'"
        raise MissingError(f"ray: is not installed; {how}") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    if ray.is_initialized():
        yield
        return
    try:
        with _without_stderr():
            ray.init(address, **(_QUIET | options))
    except Exception as error:  # of many kinds, and where a node does not start a bare Exception
        why = " ".join(str(error).split())[:300]
        raise EngineError(f"{address or 'ray'}: cannot connect to Ray ({why})") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Nothing is written to stderr, not even by libraries in C++: Ray reports its own settings."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def piped(values: Sequence[Any], *steps: Step) -> Iterator[Any]:
    """The results of all steps, as they are finished; an error of this project is raised.

    Ray Data holds what waits for a step. It cannot run in a client, so there a task runs it.
    """
    import ray

    try:
        if ray.util.client.ray.is_connected():
            task = ray.remote(num_cpus=0)(_collected)
            yield from map(_given, ray.get(task.remote(values, steps)))
        else:
            yield from map(_given, _streamed(values, steps))
    except ray.exceptions.RayError as error:  # a worker that dies whenever it is begun
        why = " ".join(str(error).split())[:500]
        raise EngineError(f"the cluster failed: {why}") from error


def each(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """The results of tasks, in order."""
    numbered = Step(partial(_numbered, function))
    return [
        made for _, made in sorted(piped([*enumerate(values)], numbered), key=lambda one: one[0])
    ]


def _numbered(function: Callable[[Any], Any], value: tuple[int, Any]) -> tuple[int, Any]:
    return value[0], function(value[1])


def _streamed(values: Sequence[Any], steps: Sequence[Step]) -> Iterator[Any]:
    import ray

    if not values:
        return
    rows = [{"value": pickle.dumps(value)} for value in values]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    for step in steps:
        if step.workers is None:
            data = data.map(partial(_carried, step.function))
        else:  # no core is reserved: a machine with one core could not judge before the model
            data = data.map(
                _Worker, fn_constructor_args=(step.function,), num_cpus=0, num_gpus=step.gpus,
                compute=ray.data.ActorPoolStrategy(size=step.workers),
            )  # fmt: skip
    yield from (pickle.loads(row["value"]) for row in data.iter_rows())


def _collected(values: Sequence[Any], steps: Sequence[Step]) -> list[Any]:
    return [*_streamed(values, steps)]


class _Worker:
    """A process that stays."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray sets 1 where no core is reserved
        self._function = function

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return _carried(self._function, row)


def _carried(function: Callable[[Any], Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row of Ray Data through a step; an error goes on as a value, as Ray would wrap it."""
    made = pickle.loads(row["value"])
    if not isinstance(made, GradeGPTError):
        try:
            made = function(made)
        except GradeGPTError as error:
            made = error
    return {"value": pickle.dumps(made)}


def _given(result: Any) -> Any:
    if isinstance(result, GradeGPTError):
        raise result
    return result
