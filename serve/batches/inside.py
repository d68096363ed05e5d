"""One request to the application itself: the same handlers, limits and errors as over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message, Scope

from gradegpt.records import parse_json

from ..errors import error_body
from ..files.routes import OWNER


class Answer(NamedTuple):
    """The application's response."""

    status: int
    headers: Mapping[str, str]
    body: Any


async def post(app: ASGIApp, path: str, body: Mapping[str, Any], *, owner: str) -> Answer:
    """Post ``body`` on behalf of ``owner``, whose key was checked when the batch was made.

    An exception in the application becomes a response with status 500; cancellation is raised.
    """
    exchange = _Exchange(json.dumps(body, ensure_ascii=False).encode())
    scope = _scope(path, len(exchange.body), owner)
    # gather: Starlette's outermost layer raises an exception again after answering it with a 500.
    [error] = await asyncio.gather(
        app(scope, exchange.receive, exchange.send), return_exceptions=True
    )
    if error is not None and not exchange.over.is_set():
        message = "an error in the server, not in the request; see the server's log"
        return Answer(500, {}, error_body(500, message, "internal_error"))
    return exchange.answer()


def _scope(path: str, length: int, owner: str) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"batch"),
            (b"content-type", b"application/json"),
            (b"content-length", str(length).encode()),
        ],
        "client": ("batch", 0),
        "server": ("batch", 0),
        "state": {},
        OWNER: owner,
    }


class _Exchange:
    """Both ends of an ASGI call, without a socket."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.over = asyncio.Event()
        self._sent = False
        self._start: MutableMapping[str, Any] = {}
        self._parts = bytearray()

    async def receive(self) -> Message:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._parts += message.get("body", b"")
            if not message.get("more_body", False):
                self.over.set()

    def answer(self) -> Answer:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in self._start.get("headers", ())
        }
        status = int(self._start.get("status", HTTPStatus.INTERNAL_SERVER_ERROR))
        try:
            body = parse_json(bytes(self._parts))
        except (ValueError, RecursionError):
            body = self._parts.decode("utf-8", "replace")
        return Answer(status, headers, body)
