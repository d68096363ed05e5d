"""One server process: it accepts requests while its judge loads, and drains before it stops.

``python -m serve.process FD`` is a child of ``serve.processes``: it reads its settings as a line
from stdin, which stays open as long as the parent lives, and writes ``ready`` to stdout. With
``loaded`` as second argument it accepts connections only after its judge has loaded.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from gradegpt.errors import GradeGPTError

from .app import build_app
from .logs import note_in
from .memory import Trimmer, settle
from .settings import ServeSettings
from .workers import workers_for

_TICK_S: Final = 0.1
_LAST_S: Final = 1
"""Seconds after the grace period for the last replies, before remaining connections are closed."""
_SWITCH_S: Final = 0.0005
"""Seconds after which a judge's thread lets the event loop run, a tenth of Python's default."""


class Protocol(H11Protocol):
    """HTTP by h11, which limits a request's headers to 64 KiB; httptools has no limit."""

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the running request, which may read nothing at present."""
        super().connection_lost(exc)
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            note_in(self.cycle.scope).left.set()


class Server(uvicorn.Server):
    """Drains on a signal: running requests are finished, new ones are refused."""

    def __init__(self, app: FastAPI, grace_s: float) -> None:
        config = uvicorn.Config(
            app,
            http=Protocol,
            log_level="warning",
            timeout_graceful_shutdown=_LAST_S,
        )
        super().__init__(config)
        self._gate, self._metrics, self._scheduler = (
            app.state.gate,
            app.state.metrics,
            app.state.scheduler,
        )
        self._grace_s, self._until = grace_s, 0.0
        self._trimmer = Trimmer()

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start to drain; a second Ctrl-C stops at once."""
        if not self._gate.draining:
            self._until = time.monotonic() + self._grace_s
            self._gate.draining = True
        elif sig == signal.SIGINT:
            self.should_exit = True

    @override
    async def on_tick(self, counter: int) -> bool:
        """Stop when no request runs; at the end of the grace period, answer those that do."""
        self._metrics.queue(self._scheduler.waiting)  # each process reports the sum of all
        gate, late_s = self._gate, time.monotonic() - self._until
        connections = len(self.server_state.connections)
        self._trimmer.tick(connections=connections, running=gate.running)
        if gate.draining and late_s > 0 and not gate.over:
            gate.stop()
        if gate.draining and (not gate.running or late_s > _LAST_S):
            self.should_exit = True
        return await super().on_tick(counter)


def run(
    settings: ServeSettings,
    listener: socket.socket,
    announce: Callable[[], None],
    *,
    loaded_first: bool = False,
) -> None:
    """Serve on ``listener`` until a signal; ``announce`` is called when the judge is loaded.

    Until then requests are refused as busy, or, with ``loaded_first``, left to other processes.

    Raises:
        GradeGPTError: loading the judge failed.

    """
    sys.setswitchinterval(_SWITCH_S)
    app = build_app(settings)
    server = Server(app, settings.grace_s)
    failed: list[Exception] = []

    def load() -> None:
        try:
            app.state.scheduler.open(workers_for(settings))
            settle()
        except Exception as error:  # noqa: BLE001  it is raised below, in the main thread
            failed.append(error)
            server.should_exit = True
        else:
            announce()

    for number in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn sets the same handler later, and restores this one when it has stopped.
        signal.signal(number, server.handle_exit)
    loading = threading.Thread(target=load, daemon=True)
    loading.start()
    while loaded_first and loading.is_alive() and not app.state.gate.draining:
        loading.join(_TICK_S)  # the signal handler runs between two waits
    if not failed:
        server.run([listener])
    if failed:
        raise failed[0]
    if loading.is_alive() or app.state.scheduler.busy:
        # A judge's thread cannot be stopped, and Python would wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def main() -> None:
    """Run as one of several server processes."""
    settings = ServeSettings.model_validate_json(sys.stdin.readline())
    listener = socket.socket(fileno=int(sys.argv[1]))

    def watch() -> None:
        sys.stdin.read()  # ends with the parent
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    run(settings, listener, _say_ready, loaded_first="loaded" in sys.argv[2:])


def _say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except GradeGPTError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
