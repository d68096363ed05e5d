"""Several whole servers behind one port: the parent binds it, the children accept from it.

A child that dies is logged and replaced; too many deaths in a short time stop everything with an
error. SIGTERM and Ctrl-C drain all children.
"""

from __future__ import annotations

import logging
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

from .metrics import Metrics, forget
from .settings import ServeSettings

_log = logging.getLogger(__name__)
_TICK_S: Final = 0.2
_PAUSE_S: Final = 1.0
"""Seconds before a child that failed to start is started again."""
_SPARE_S: Final = 5.0
"""Seconds after the grace period in which children may end before they are killed."""
_MOST_DEATHS: Final = 10
_WINDOW_S: Final = 60.0
"""The seconds in which ``_MOST_DEATHS`` children may die; with one more the server gives up."""


class Child:
    """A server process, with the pipe on which it reports that it is ready."""

    def __init__(
        self, settings: ServeSettings, listener: socket.socket, *, loaded_first: bool
    ) -> None:
        # Its own process group: Ctrl-C reaches only the parent, which signals all children.
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.process", str(listener.fileno())]
            + ["loaded"] * loaded_first,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
        self.ready = False
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it was killed already, as the end of its output says
            self.process.stdin.write(settings.model_dump_json().encode() + b"\n")
            self.process.stdin.flush()

    @property
    def out(self) -> IO[bytes]:
        """The pipe with the line "ready"; its end means that the process has ended."""
        assert self.process.stdout is not None
        return self.process.stdout


class Supervisor:
    """Keeps ``settings.processes`` children running until a signal."""

    def __init__(
        self, settings: ServeSettings, listener: socket.socket, announce: Callable[[], None]
    ) -> None:
        self._settings, self._listener, self._announce = settings, listener, announce
        self._children = selectors.DefaultSelector()
        self._metrics = Metrics()
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS + 1)
        self._announced = False
        self._stops_at: float | None = None
        self._stop_forwarded = False
        self._code = 0

    def run(self) -> int:
        """Run until all children have ended; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stop())
        self._start()  # only the first, so that an error in the settings is reported once
        while self._children.get_map():
            for key, _ in self._children.select(_TICK_S):
                self._on_output(key.data)
            self._forward_stop()
        return self._code

    def _start(self) -> None:
        others = any(child.ready for child in self._all())
        child = Child(self._settings, self._listener, loaded_first=others)
        self._children.register(child.out, selectors.EVENT_READ, child)

    def _all(self) -> list[Child]:
        return [key.data for key in self._children.get_map().values()]

    def _on_output(self, child: Child) -> None:
        if child.out.readline():
            child.ready = True
            self._on_ready()
            return
        self._children.unregister(child.out)
        child.out.close()
        code = child.process.wait()
        forget(child.process.pid)
        if self._stops_at is None:
            self._on_death(child, code)

    def _on_death(self, child: Child, code: int) -> None:
        """Replace a child, unless its judge cannot be loaded or too many children die."""
        self._metrics.process("lost")
        if code > 0 and not child.ready and not self._announced:
            self._stop(code)  # the child has said why
            return
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended (exit {code})"
        self._deaths.append(time.monotonic())
        if len(self._deaths) > _MOST_DEATHS and self._deaths[-1] - self._deaths[0] < _WINDOW_S:
            _log.error(
                "server process %d %s, as did %d others within %.0f s; the server gives up. See "
                "the messages above, and the system's log for processes that ran out of memory",
                child.process.pid, how, _MOST_DEATHS, _WINDOW_S,
            )  # fmt: skip
            self._stop(code=1)
            return
        _log.error("server process %d %s; it is replaced", child.process.pid, how)
        if not child.ready:
            time.sleep(_PAUSE_S)
        self._start()
        self._metrics.process("restarted")

    def _on_ready(self) -> None:
        children = self._all()
        if not self._announced:
            for _ in range(self._settings.processes - len(children)):
                self._start()
            if len(children) == self._settings.processes and all(c.ready for c in children):
                self._announced = True
                self._announce()

    def _stop(self, code: int = 0) -> None:
        self._code = self._code or code
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self._settings.grace_s + _SPARE_S

    def _forward_stop(self) -> None:
        """Send SIGTERM to all children once, and SIGKILL to those that are late."""
        if self._stops_at is None:
            return
        late = time.monotonic() > self._stops_at
        for child in self._all() if late or not self._stop_forwarded else ():
            child.process.send_signal(signal.SIGKILL if late else signal.SIGTERM)
        self._stop_forwarded = True
