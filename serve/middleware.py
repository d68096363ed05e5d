"""What every request passes on its way in and out: drain, key, id, count, log."""

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
"""What is there without a key and while the server stops; the page's files are, too."""
_ID: Final = re.compile(r"[\w.:-]{1,128}")
_BEARER: Final = re.compile(r"Bearer +(\S+) *", re.IGNORECASE)


@dataclass
class Gate:
    """Whether the server still takes requests, and what it is at: requests, bytes of bodies."""

    draining: bool = False
    running: int = 0
    held: int = 0


@dataclass
class Middleware:
    """An ASGI layer around the application.

    Requests that the server sends to itself bring the owner of a key along and are let in with it;
    nothing in an HTTP request can do that.
    """

    app: ASGIApp
    gate: Gate
    metrics: Metrics
    keys: Keys | None = None
    log: RequestLog | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
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
            raise BusyError("the server is about to stop; send the request again")
        if self.keys is not None and OWNER not in scope:
            token = _BEARER.fullmatch(headers.get("authorization", ""))
            owner = self.keys.owner(token[1]) if token else None
            if owner is None:
                what = "this key is not known" if token else "a key is needed"
                raise KeyRequiredError(f"{what}; send the header Authorization: Bearer KEY")
            scope[OWNER] = owner
        note.owner = scope.get(OWNER, "")

    def _leave(self, scope: Scope, note: Note) -> None:
        self.gate.held -= note.held
        # The route, not the path: a path may hold ids, of which there is no end.
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.request(
            route=route, status=note.status, family=note.family, seconds=note.seconds
        )
        if self.log is not None:
            self.log.write(note)
