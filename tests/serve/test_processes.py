"""The parent of several server processes: children that die."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from serve import processes
from serve.processes import Supervisor
from serve.settings import ServeSettings


class Child:
    """A child that runs a line of shell instead of a server."""

    script = ""
    started = 0

    def __init__(self, *_: object, loaded_first: bool) -> None:
        Child.started += 1
        self.process = subprocess.Popen(
            ["sh", "-c", Child.script], stdout=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout is not None
        self.out, self.ready = self.process.stdout, False


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """A parent of two such children."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(processes, "Child", Child)
    monkeypatch.setattr(processes, "_PAUSE_S", 0.0)
    Child.started = 0
    with socket.socket() as listener:
        yield Supervisor(ServeSettings(processes=2, grace_s=0), listener, lambda: None)
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
        signal.signal(number, handler)


def test_children_that_keep_dying_end_the_server_with_a_message(
    supervisor: Supervisor, caplog: pytest.LogCaptureFixture
) -> None:
    """Each death is logged and counted, also one before the child was ready."""
    Child.script = "kill -KILL $$"
    with caplog.at_level(logging.ERROR):
        assert supervisor.run() == 1
    assert Child.started == 11
    assert "was killed by SIGKILL; it is replaced" in caplog.messages[0]
    assert "10 others within 60 s; the server gives up" in caplog.messages[-1]
    assert b'gradegpt_processes_total{event="lost"} 11.0' in supervisor._metrics.render()


def test_a_judge_that_does_not_load_is_not_tried_again(supervisor: Supervisor) -> None:
    """The child has printed why; its exit code is that of the server."""
    Child.script = "exit 2"
    assert (supervisor.run(), Child.started) == (2, 1)
