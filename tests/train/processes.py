"""Processes that train, forked from one that has imported the heavy packages once."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

LIMIT_S: Final = 180.0


def exit_codes(target: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[int]:
    """Run a process for each of ``arguments`` at once; a negative code is a signal's number."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["train.trainer", "train.callbacks"])
    processes = [context.Process(target=target, args=given) for given in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LIMIT_S)
        process.kill()  # a process that has ended ignores it
        process.join()
    return [int(process.exitcode or 0) for process in processes]


def train_as_one_of(rank: int, processes: int, port: int, config: Path) -> None:
    """Train as a process that ``torchrun`` started: these variables are all that it hands over.

    ``accelerate launch`` starts processes in that way on GPUs, but only one on CPUs.
    """
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    _train(config)


def train_and_die(config: Path, step: int) -> None:
    """Train until the checkpoint of ``step`` is complete, and get SIGKILL."""
    from train.callbacks import Stamp

    save = Stamp.on_save

    def die(self: Any, args: Any, state: Any, control: Any, **rest: Any) -> None:
        save(self, args, state, control, **rest)
        if state.global_step == step:
            os.kill(os.getpid(), signal.SIGKILL)

    Stamp.on_save = die  # type: ignore[method-assign]
    _train(config)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _train(config: Path) -> None:
    from train.__main__ import app

    app([str(config)], standalone_mode=False)
