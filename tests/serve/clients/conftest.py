"""A real server on a free loopback port."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from gradegpt.judges.rules import RuleJudge
from serve.app import create_app


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a rule judge behind uvicorn."""
    app = create_app(RuleJudge())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=running.run, args=([listener],))
        thread.start()
        until = time.monotonic() + 10
        while not running.started and time.monotonic() < until:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        running.should_exit = True
        thread.join(10)
