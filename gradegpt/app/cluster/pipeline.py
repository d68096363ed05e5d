"""The connection to Ray, and a function of many values by Ray Data.

What a worker or a node that died was working on is begun again by Ray.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from gradegpt.core.errors import EngineError, GradeGPTError, needs

_ENVIRONMENT: Final = {
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}  # fmt: skip
"""No statistics are sent, and no warnings written about what Ray Data does by itself."""
_QUIET: Final = {"include_dashboard": False, "logging_level": logging.ERROR, "log_to_driver": False}


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
    with needs("--on ray", "gradegpt[cluster]"):
        import ray
        import ray.data
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address, **(_QUIET | options))
    except Exception as error:  # of many kinds, and where a node does not start a bare Exception
        why = " ".join(str(error).split())[:300]
        raise EngineError(f"{address or 'ray'}: cannot connect to Ray ({why})") from error
    try:
        yield
    finally:
        ray.shutdown()


def piped(
    function: Callable[[Any], Any],
    values: Sequence[Any],
    workers: int | None = None,
    gpus: int = 0,
) -> Iterator[Any]:
    """The results of a function, as they are finished; an error of this project is raised.

    It is called in tasks, or in ``workers`` processes that stay, with so many GPUs each. Ray Data
    cannot run in a client, so there a task runs it.
    """
    import ray

    given = (function, values, workers, gpus)
    try:
        if ray.util.client.ray.is_connected():
            task = ray.remote(num_cpus=0)(lambda *given: [*_streamed(*given)])
            results: Iterable[Any] = ray.get(task.remote(*given))
        else:
            results = _streamed(*given)
        for result in results:
            if isinstance(result, GradeGPTError):
                raise result
            yield result
    except ray.exceptions.RayError as error:  # a worker that dies whenever it is begun
        why = " ".join(str(error).split())[:500]
        raise EngineError(f"the cluster failed: {why}") from error


def each(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """The results of tasks, in order."""
    made = piped(lambda one: (one[0], function(one[1])), [*enumerate(values)])
    return [result for _, result in sorted(made, key=lambda one: one[0])]


def _streamed(
    function: Callable[[Any], Any], values: Sequence[Any], workers: int | None, gpus: int
) -> Iterator[Any]:
    import ray

    if not values:
        return
    rows = [{"value": pickle.dumps(value)} for value in values]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    if workers is None:
        data = data.map(partial(_carried, function))
    else:  # no core is reserved: a machine with one core could not read before the model judges
        data = data.map(
            _Worker, fn_constructor_args=(function,), num_cpus=0, num_gpus=gpus,
            compute=ray.data.ActorPoolStrategy(size=workers),
        )  # fmt: skip
    yield from (pickle.loads(row["value"]) for row in data.iter_rows())


class _Worker:
    """A process that stays."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray sets 1 where no core is reserved
        self._function = function

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return _carried(self._function, row)


def _carried(function: Callable[[Any], Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row of Ray Data; an error goes on as a value, as Ray would wrap it."""
    try:
        made = function(pickle.loads(row["value"]))
    except GradeGPTError as error:
        made = error
    return {"value": pickle.dumps(made)}
