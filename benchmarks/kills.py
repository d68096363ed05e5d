"""Kill -9 of the workers, the driver or a node of a run on Ray, for ``benchmarks/cluster.py``."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

KILLS: Final = 5
_WORKERS: Final = b"ray::Map"
"""How the processes of Ray Data that work name themselves."""


class Work(NamedTuple):
    """A command that is run on a cluster.

    ``share`` is how much of it is done, by the seconds since its beginning.
    """

    arguments: list[str]
    env: dict[str, str]
    share: Callable[[float], float]


def below(pid: int) -> list[int]:
    """The processes that one process started, and those that they started."""
    parents, found = _processes(), [pid]
    for one in found:  # grows in the loop
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def begun(arguments: list[str], env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(arguments, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL)


def kill_workers(work: Work) -> int:
    """Kill a worker, five times in one run; the number of kills."""
    killed, rng, started = 0, random.Random(0), time.monotonic()
    with begun(work.arguments, work.env) as process:
        while process.poll() is None:
            busy, share = _workers(), work.share(time.monotonic() - started)
            if killed < KILLS and busy and share >= killed / (KILLS + 1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(busy[rng.randrange(len(busy))], signal.SIGKILL)
                    killed += 1
            time.sleep(0.5)
    return killed if not process.returncode else -1


def kill_drivers(work: Work) -> int:
    """Kill the driver in five runs, and let the sixth end; the number of kills."""
    killed = 0
    for attempt in range(KILLS + 1):
        started = time.monotonic()
        with begun(work.arguments, work.env) as process:
            while process.poll() is None:
                share = work.share(time.monotonic() - started)
                if attempt < KILLS and share >= (attempt + 1) / (KILLS + 1):
                    process.kill()
                    process.wait()
                    killed += 1
                time.sleep(0.1)
    return killed if not process.returncode else -1


def kill_node(cluster: Any, work: Work) -> int:
    """Kill a node when something is done, and add another one; the number of kills."""
    started = time.monotonic()
    with begun(work.arguments, work.env) as process:
        while process.poll() is None and not work.share(time.monotonic() - started):
            time.sleep(0.2)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        cluster.add_node(num_cpus=1)
    return 1 if not process.returncode else -1


@contextlib.contextmanager
def two_nodes() -> Iterator[Any]:
    """A cluster of two Ray nodes with a core each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def _processes() -> dict[int, int]:
    """All processes with the one that started them."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    return found


def _workers() -> list[int]:
    """The processes of Ray below this one that work."""
    found = []
    for pid in below(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(_WORKERS):
                found.append(pid)
    return found
