"""The connection to Ray, without its log lines."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from gradegpt.errors import EngineError, MissingError

_ENVIRONMENT: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
"""No statistics are sent, and no warnings written about what Ray Data does by itself."""
_LOGGED: Final = {"logging_level": logging.ERROR, "log_to_driver": False}


@contextmanager
def connect(address: str | None = None, **options: Any) -> Iterator[Any]:
    """Ray as a module, connected while the context is open; a connection that exists is used.

    Args:
        address: ``ray://host:port`` or ``host:port`` of a cluster. None: the cluster of this
            machine (or of ``RAY_ADDRESS``) if one is running, else one is started on its cores and
            ends with the context.
        options: Other arguments of ``ray.init``, such as ``num_cpus`` of a Ray that is started.

    Raises:
        MissingError: Ray is not installed.
        EngineError: there is no cluster at the address.

    """
    ray = _imported()
    if ray.is_initialized():
        yield ray
        return
    try:
        with _without_stderr():
            ray.init(address, **{"include_dashboard": False, **_LOGGED, **options})
    except Exception as error:  # of many kinds, and where a node does not start a bare Exception
        why = " ".join(str(error).split())[:300]
        raise EngineError(f"{address or 'ray'}: cannot connect to Ray ({why})") from error
    try:
        yield ray
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


def _imported() -> Any:
    """Ray with Ray Data, which log errors only."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        how = "install it with pip install 'gradegpt[cluster]'"
        raise MissingError(f"ray: is not installed; {how}") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray
