"""The middleware for every request: draining, API key, request id, metrics and log."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import BusyError, KeyRequiredError, ServiceError, reply_to
from .files.routes import OWNER
from .keys import Keys
from .logs import Note, RequestLog
from .metrics import Metrics

_OPEN: Final = frozenset({"/", "/health", "/ready", "/openapi.json"})
"""Paths that need no key and work while the server drains; so do the page's files."""
_ID: Final = re.compile(r"[\w.:-]{1,128}")
_BEARER: Final = re.compile(r"Bearer +(\S+) *", re.IGNORECASE)


@dataclass
class Gate:
    """Whether the server drains, the number of running requests, and the bytes of their bodies."""

    draining: bool = False
    running: int = 0
    held: int = 0


@dataclass
class Middleware:
    """An ASGI layer around the application.

    Requests that the server sends to itself have the owner of a key in their scope and need no key;
    an HTTP request cannot set it.
    """

    app: ASGIApp
    gate: Gate
    metrics: Metrics
    keys: Keys | None = None
    log: RequestLog | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if _ID.fullmatch(given) else uuid.uuid4().hex
        note = Note(name, scope["method"], scope["path"])
        note.put_into(scope)

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                note.status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = name
            await send(message)

        try:
            await self._enter(scope, headers, note, receive, stamped)
        finally:
            self._leave(scope, note)

    async def _enter(
        self, scope: Scope, headers: Headers, note: Note, receive: Receive, send: Send
    ) -> None:
        path = scope["path"]
        if path in _OPEN or path.startswith("/page/"):
            await self.app(scope, receive, send)
            return
        try:
            self._admit(scope, headers, note)
        except ServiceError as error:
            await reply_to(error)(scope, receive, send)
            return
        self.gate.running += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.gate.running -= 1

    def _admit(self, scope: Scope, headers: Headers, note: Note) -> None:
        if self.gate.draining:
            raise BusyError("the server is stopping; send the request again later")
        if self.keys is not None and OWNER not in scope:
            token = _BEARER.fullmatch(headers.get("authorization", ""))
            owner = self.keys.owner(token[1]) if token else None
            if owner is None:
                what = "the API key is unknown" if token else "an API key is required"
                raise KeyRequiredError(f"{what}; send the header Authorization: Bearer KEY")
            scope[OWNER] = owner
        note.owner = scope.get(OWNER, "")

    def _leave(self, scope: Scope, note: Note) -> None:
        self.gate.held -= note.held
        # The route, not the path: paths with ids would make unlimited time series.
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.request(
            route=route, status=note.status, family=note.family, seconds=note.seconds
        )
        if self.log is not None:
            self.log.write(note)
