"""The middleware for every request: draining, API key, slow readers, id, metrics and log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import uuid
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import INTERNAL, BusyError, KeyRequiredError, ServiceError, SlowError, reply_to
from .logs import NOTE, Note, write
from .service import HEADER, Service

_OPEN: Final = frozenset({"/", "/health", "/ready", "/openapi.json"})
"""Paths that need no key and work while the server drains; so do the page's files."""
_ID: Final = re.compile(r"[\w.:-]{1,128}")
_BEARER: Final = re.compile(r"Bearer +(\S+) *", re.IGNORECASE)


_PIECE: Final = 2**16
"""Bytes of a reply that are written at once: uvicorn buffers all that it is given."""


class UnreadError(Exception):
    """The client does not read its reply. It gets no other, so this is no ``GradeGPTError``."""


def stopped() -> BusyError:
    """The error of a request that the grace period was too short for."""
    return BusyError("the server stopped before the request was done; send it again later")


@dataclass
class Middleware:
    """An ASGI layer around the application. With ``api_keys`` a request needs one of them."""

    app: ASGIApp
    service: Service
    api_keys: tuple[str, ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if _ID.fullmatch(given) else uuid.uuid4().hex
        note = Note(name, scope["method"], scope["path"])
        scope[NOTE] = note

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                note.status = message["status"]
                more = MutableHeaders(scope=message)
                more["X-Request-Id"] = name
                if note.undecided:
                    more[HEADER] = str(note.undecided)
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
        self.service.gate.held += len(body)
        note.held += len(body)
        for start in range(0, len(body), _PIECE):
            piece = body[start : start + _PIECE]
            last = start + _PIECE >= len(body)
            await self._write({**message, "body": piece, "more_body": more or not last}, send)

    async def _write(self, message: Message, send: Send) -> None:
        try:
            async with asyncio.timeout(self.service.settings.deadline_s):
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
            self._admit(headers, note)
        except ServiceError as error:
            note.errors[error.code] += 1
            await reply_to(error)(scope, receive, send)
            return
        task, gate = asyncio.current_task(), self.service.gate
        assert task is not None
        gate.tasks.add(task)
        try:
            await self.app(scope, receive, send)
        except asyncio.CancelledError:
            if not gate.over:
                raise
            task.uncancel()
            note.errors[BusyError.code] += 1
            if not note.status:
                await reply_to(stopped())(scope, receive, send)
        except UnreadError:  # uvicorn closes the connection
            note.errors[SlowError.code] += 1
        finally:
            gate.tasks.discard(task)

    def _admit(self, headers: Headers, note: Note) -> None:
        if self.service.gate.draining:
            raise BusyError("the server is stopping; send the request again later")
        if not self.api_keys:
            return
        token = _BEARER.fullmatch(headers.get("authorization", ""))
        given = token[1].encode("latin-1") if token else b""
        # All keys are compared, each in a time that does not depend on it.
        if not sum(hmac.compare_digest(key.encode(), given) for key in self.api_keys):
            what = "the API key is unknown" if token else "an API key is required"
            raise KeyRequiredError(f"{what}; send the header Authorization: Bearer KEY")
        note.key = hashlib.sha256(given).hexdigest()[:8]

    def _leave(self, scope: Scope, note: Note) -> None:
        service = self.service
        service.gate.held -= note.held
        # The route, not the path: paths with ids would make unlimited time series.
        route = getattr(scope.get("route"), "path", "other")
        note.status = note.status or 500
        service.metrics.request(
            route=route, status=note.status, family=note.family, seconds=note.seconds
        )
        for code, number in note.errors.items():
            service.metrics.count("errors", code, by=number)
        if service.settings.log != "nothing":
            write(note)
