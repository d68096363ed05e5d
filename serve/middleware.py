"""The middleware for every request: draining, API key, slow readers, id, metrics and log."""

from __future__ import annotations

import asyncio
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import INTERNAL, BusyError, KeyRequiredError, ServiceError, SlowError, reply_to
from .files.routes import OWNER
from .keys import Keys
from .logs import Note, RequestLog
from .metrics import Metrics

_OPEN: Final = frozenset({"/", "/health", "/ready", "/openapi.json"})
"""Paths that need no key and work while the server drains; so do the page's files."""
_ID: Final = re.compile(r"[\w.:-]{1,128}")
_BEARER: Final = re.compile(r"Bearer +(\S+) *", re.IGNORECASE)


_PIECE: Final = 2**16
"""Bytes of a reply that are written at once: uvicorn buffers all that it is given."""


@dataclass
class Gate:
    """Whether the server drains, the running requests, and the bytes of their bodies and replies.

    ``over`` is set at the end of the grace period; ``streams`` are those of the requests that are.
    """

    draining: bool = False
    over: bool = False
    held: int = 0
    streams: int = 0
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def running(self) -> int:
        """The number of running requests."""
        return len(self.tasks)

    def stop(self) -> None:
        """End the grace period: every running request is answered that the server stops."""
        self.over = True
        for task in self.tasks:
            task.cancel()


class UnreadError(Exception):
    """The client does not read its reply. It gets no other, so this is no ``GradeGPTError``."""


def stopped() -> BusyError:
    """The error of a request that the grace period was too short for."""
    return BusyError("the server stopped before the request was done; send it again later")


@dataclass
class Middleware:
    """An ASGI layer around the application.

    Requests that the server sends to itself have the owner of a key in their scope and need no key;
    an HTTP request cannot set it. ``patience_s`` is the time for a client to read a piece of its
    reply.
    """

    app: ASGIApp
    gate: Gate
    metrics: Metrics
    keys: Keys | None = None
    log: RequestLog | None = None
    patience_s: float = 120.0

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
            else:
                await self._send(message, note, send)

        try:
            await self._enter(scope, headers, note, receive, stamped)
        except Exception:
            note.errors[INTERNAL] += 1
            raise
        finally:
            self._leave(scope, note)

    async def _send(self, message: Message, note: Note, send: Send) -> None:
        """Write a part of a reply in pieces, each when the client has read those before it."""
        body, more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= _PIECE:
            await self._write(message, send)
            return
        self.gate.held += len(body)
        note.held += len(body)
        if self.log is None or not self.log.with_content:
            note.content = None  # it may be as large
        for start in range(0, len(body), _PIECE):
            piece = body[start : start + _PIECE]
            last = start + _PIECE >= len(body)
            await self._write({**message, "body": piece, "more_body": more or not last}, send)

    async def _write(self, message: Message, send: Send) -> None:
        try:
            async with asyncio.timeout(self.patience_s):
                await send(message)
        except TimeoutError as error:
            raise UnreadError from error

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
            note.errors[error.code] += 1
            await reply_to(error)(scope, receive, send)
            return
        task = asyncio.current_task()
        assert task is not None
        self.gate.tasks.add(task)
        try:
            await self.app(scope, receive, send)
        except asyncio.CancelledError:
            if not self.gate.over:
                raise
            task.uncancel()
            note.errors[BusyError.code] += 1
            if not note.status:
                await reply_to(stopped())(scope, receive, send)
        except UnreadError:  # uvicorn closes the connection
            note.errors[SlowError.code] += 1
        finally:
            self.gate.tasks.discard(task)

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
        note.status = note.status or 500
        self.metrics.request(
            route=route, status=note.status, family=note.family, seconds=note.seconds
        )
        self.metrics.errors(note.errors)
        if self.log is not None:
            self.log.write(note)
