"""An OpenAI-compatible server on 127.0.0.1 whose replies are scripted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """A reply of the server: a completion with ``text``, or ``raw`` bytes instead."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: tuple[int, int] | None = (1000, 50)
    delay: float = 0.0
    raw: bytes | None = None
    finish: str = "stop"

    @property
    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps({"error": {"message": f"scripted {self.status}"}}).encode()
        message = {"role": "assistant", "content": self.text}
        body: dict[str, Any] = {
            "id": "1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": self.finish, "message": message}],
        }  # fmt: skip
        if self.usage:
            prompt, completion = self.usage
            body["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            }
        return json.dumps(body).encode()


Script = Callable[[dict[str, Any], int], Say]
"""The body of a request and the number of earlier requests -> the reply."""


class ScriptedServer(ThreadingHTTPServer):
    """Records the body and headers of each request, and the highest number of open requests."""

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.busiest = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.busy = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def questions(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            number = len(server.bodies)
            server.bodies.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        say = server.script(body, number)
        server.closing.wait(say.delay)
        with server.lock:
            server.busy -= 1
        try:
            self.send_response(say.status)
            self.send_header("content-type", "application/json")
            for name, value in say.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(say.body)
        except ConnectionError:  # the client did not wait
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving(script: Script) -> Iterator[ScriptedServer]:
    """The server, running within the block."""
    with ScriptedServer(script) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
