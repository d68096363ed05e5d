"""Run the server: it accepts requests while its judge loads, and drains before it stops."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, Final, cast

import uvicorn
from fastapi import FastAPI
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from gradegpt.core.machine import libc, trim
from gradegpt.judges.settings import EngineSettings

from .app import build_app
from .logs import NOTE
from .service import Service
from .settings import ServeSettings
from .templates.template import WhenUndecided
from .workers import workers_for

_TICK_S: Final = 0.1
_LAST_S: Final = 1
"""Seconds after the grace period for the last replies, before remaining connections are closed."""
_SWITCH_S: Final = 0.0005
"""Seconds after which a judge's thread lets the event loop run, a tenth of Python's default."""
_IDLE_S: Final = 2.0
_BUSY_S: Final = 30.0
"""The least seconds between two collections of memory, without and with running requests."""


class HTTPProtocol(H11Protocol):
    """HTTP by h11, which limits a request's headers to 64 KiB; httptools has no limit."""

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the running request, which may read nothing at present."""
        super().connection_lost(exc)
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            cast(Any, self.cycle.scope)[NOTE].left.set()


@dataclass
class Life:
    """The life of the server around its application: load, serve, drain.

    The ``url`` is printed when the judge is loaded; ``failed`` is the error if it cannot be.
    """

    url: str
    failed: Exception | None = None
    _stops_at: float | None = None
    _collected: float = 0.0
    _uncollected: int = 0
    _uvicorn: Any = None

    @asynccontextmanager
    async def __call__(self, app: FastAPI) -> AsyncIterator[None]:
        """The lifespan of the application."""
        service: Service = app.state.service
        sys.setswitchinterval(_SWITCH_S)
        for number in (signal.SIGINT, signal.SIGTERM):
            before: Any = signal.signal(number, partial(self._drain, service))
            self._uvicorn = before.__self__
        loading = threading.Thread(target=self._load, args=[service], daemon=True)
        loading.start()
        ticking = asyncio.create_task(self._tick(service))
        yield
        ticking.cancel()
        await self._end(service, loading)

    async def _end(self, service: Service, loading: threading.Thread) -> None:
        service.scheduler.close()
        until = time.monotonic() + _LAST_S
        while service.scheduler.busy and time.monotonic() < until:
            await asyncio.sleep(_TICK_S)
        if loading.is_alive() or service.scheduler.busy:
            # A judge's thread cannot be stopped, and Python would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    def _load(self, service: Service) -> None:
        try:
            service.scheduler.open(workers_for(service.settings))
            # What is loaded is exempt from collection, which then takes milliseconds.
            gc.collect()
            gc.freeze()
            judge = service.settings.judge
            if isinstance(judge, EngineSettings) and judge.base_url:
                from gradegpt.engines.client import Client
                from gradegpt.engines.openai_api import urls_of

                for url in urls_of(judge.base_url):
                    if not Client(url, judge.model).answers():
                        sys.stderr.write(f"warning: judge.base_url: {url} does not answer\n")
        except Exception as error:  # noqa: BLE001  it ends the server
            self.failed = error
            self._stops_at, service.gate.draining = 0.0, True
        else:
            setting = service.settings.undecided
            other = "" if setting == "refuse" else "; undecided=refuse gives none"
            sys.stdout.write(
                f"ready: {self.url} (open it in a browser for the page; Ctrl-C stops it)\n"
                "undecided answers: pipelines whose parsers read only right or wrong get "
                f"{_INSTEAD[setting]} (undecided={setting}{other})\n"
            )
            sys.stdout.flush()

    def _drain(self, service: Service, number: int, _: FrameType | None) -> None:
        """Finish running requests and refuse new ones; a second Ctrl-C stops at once."""
        if not service.gate.draining:
            self._stops_at = time.monotonic() + service.settings.grace_s
            service.gate.draining = True
        elif number == signal.SIGINT:
            self._stop()

    def _stop(self) -> None:
        """Let uvicorn stop: the handlers of signals before ours are methods of its server."""
        self._uvicorn.should_exit = True

    async def _tick(self, service: Service) -> None:
        """Return memory, and stop when no request runs.

        At the end of the grace period those that do are answered that the server stops.
        """
        gate = service.gate
        while True:
            await asyncio.sleep(_TICK_S)
            self._collect(running=gate.running > 0)
            if self._stops_at is None:
                continue
            late_s = time.monotonic() - self._stops_at
            if late_s > 0 and not gate.over:
                gate.stop()
            if not gate.running or late_s > _LAST_S:
                self._stop()
                return

    def _collect(self, *, running: bool) -> None:
        """Collect and trim in a thread while requests run, and twice after the last.

        Requests that end early leave reference cycles of exceptions and frames, and large replies
        to slow clients leave gaps in the heap. Nothing collects either in a server that has no more
        to do: after five hundred such clients it held eleven times its memory before them.
        """
        if running:
            self._uncollected = 2
        now = time.monotonic()
        if self._uncollected and now > self._collected + (_BUSY_S if running else _IDLE_S):
            self._collected, self._uncollected = now, self._uncollected - 1
            threading.Thread(target=_give_back, daemon=True).start()


def _give_back() -> None:
    gc.collect()
    trim()


def use_system_allocator() -> None:
    """Start this program again, in this process, with glibc's allocator unless one was chosen.

    Python's own keeps an arena of 1 MiB as long as one small object in it lives: after five
    hundred slow readers 2.5 times the memory before them, with glibc's 1.1 times. The price is an
    eighth of the speed of rules.
    """
    if libc() is not None and "PYTHONMALLOC" not in os.environ:
        os.environ["PYTHONMALLOC"] = "malloc"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run(settings: ServeSettings, api_keys: Sequence[str], listener: socket.socket, url: str) -> int:
    """Serve on ``listener`` until a signal; return the exit code.

    The URL is printed when a judge is loaded. Until then requests are refused as busy.

    Raises:
        GradeGPTError: loading the judge failed.

    """
    life = Life(url)
    config = uvicorn.Config(
        build_app(settings, api_keys, life), http=HTTPProtocol, log_level="warning",
        timeout_graceful_shutdown=_LAST_S,
    )  # fmt: skip
    uvicorn.Server(config).run([listener])
    if life.failed:
        raise life.failed
    return 0


_INSTEAD: Final[dict[WhenUndecided, str]] = {
    "guess": "the verdict that the judge withheld, or else incorrect",
    "incorrect": "incorrect",
    "refuse": "HTTP 422, or an empty reply where they count one",
}
