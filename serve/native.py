"""POST /v1/judge: judge an item, several, or a stream of items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from gradegpt.app.run import Counts, count
from gradegpt.core.errors import GradeGPTError, InputError, TooLargeError
from gradegpt.core.records import dump
from gradegpt.core.schema import Item, Judgement, Row
from gradegpt.tables.columns import with_fields

from .body import Line, check_plain, disconnected, read_items, read_object, until_disconnect, valid
from .errors import QueueFullError, body_of
from .logs import note_of
from .middleware import UnreadError, stopped
from .openapi import documented, schema_of
from .service import service_of
from .stage import Caller

router = APIRouter(tags=["judge"])
LINES: Final = "application/x-ndjson"
_MAX_IN_FLIGHT: Final = 128
"""The most rows of a stream that are judged or queued at a time: two full batches."""
_ALL_IN_FLIGHT: Final = 2_048
"""The same for all streams together: many streams share them, but each has a few."""
_FEW: Final = 4
_PAUSE_S: Final = 0.05
"""Seconds until it is seen again whether a client has read."""
_FULL_S: Final = 0.5
"""Seconds until a row of a stream is sent to a full queue again."""


class JudgeRequest(Row):
    """Several items to judge."""

    items: list[Item] = Field(min_length=1)


class JudgeReply(Row):
    """The judgement of one item."""

    judgement: Judgement


class JudgeReplies(Row):
    """The judgements of several items, in order, with the counts of their outcomes."""

    judgements: list[Judgement]
    counts: Counts


@router.post(
    "/v1/judge",
    **documented(
        Item, JudgeRequest, lines=Item, reply=schema_of(JudgeReply, JudgeReplies), stream=LINES
    ),
)
async def judge(request: Request) -> Response:
    """Judge an item, ``{"items": [...]}``, or with ``application/x-ndjson`` one item per line."""
    service = service_of(request)
    scheduler = service.scheduler
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == LINES:
        check_plain(request)
        scheduler.check()
        return JudgedLines(request, read_items(request))
    body = await read_object(request)
    several = "items" in body
    items = (
        _items(body, service.settings.max_items) if several else [valid(Item, with_fields(body))]
    )
    judgements = await until_disconnect(request, scheduler.judge(items))
    note_of(request).judged(judgements)
    reply = (
        JudgeReplies(judgements=judgements, counts=count(judgements))
        if several
        else JudgeReply(judgement=judgements[0])
    )
    return Response(reply.model_dump_json(), media_type="application/json")


def _items(body: dict[str, Any], max_items: int) -> list[Item]:
    """The items of a request; one invalid item refuses the whole request."""
    listed = body["items"]
    if isinstance(listed, list) and len(listed) > max_items:
        raise TooLargeError(
            f"items: {len(listed):,} items are more than {max_items:,} per request; send several "
            f"requests or {LINES}, or start the server with a larger max_items"
        )
    if isinstance(listed, list):
        body = body | {"items": [with_fields(row) for row in listed]}
    return valid(JudgeRequest, body).items


class JudgedLines(Response):
    """A line for each row, in order: its judgement, or ``{"error": ..., "line": n}``.

    Reading, judging and writing run at the same time. Starlette's own streaming response cannot do
    that, as it would treat the rest of the body as a disconnect.
    """

    media_type = LINES

    def __init__(self, request: Request, rows: AsyncIterator[Line]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._request, self._rows, self._note = request, rows, note_of(request)
        service = service_of(request)
        self._scheduler, self._gate = service.scheduler, service.gate
        self._settings, self._caller = service.settings, Caller()
        self._lines: asyncio.Queue[asyncio.Task[bytes] | None] = asyncio.Queue()
        self._unread = self._written = self._in_flight = 0
        self._room = asyncio.Event()

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines; stop all work when the client disconnects."""
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        self._gate.streams += 1
        try:
            if await self._stayed(send):
                await send(_body(b"", more=False))
        except asyncio.CancelledError:
            if self._gate.over:
                error = {**body_of(stopped()), "line": self._written + 1}
                await send(_body(dump(error).encode() + b"\n", more=False))
            raise
        finally:
            self._gate.streams -= 1
            self._gate.held -= self._unread

    async def _stayed(self, send: Send) -> bool:
        """Whether the client stayed until all lines were written."""
        stayed = True
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._read(group)), group.create_task(self._leaving())]
                while (line := await self._lines.get()) is not None:
                    text = await line
                    await send(_body(text, more=True))
                    self._hold(-len(text))
                    self._written += 1
                    await asyncio.sleep(0)  # sending alone would never notice that the client left
                for task in tasks:
                    task.cancel()
        except* (ClientDisconnect, UnreadError):
            stayed = False
        return stayed

    async def _leaving(self) -> None:
        await self._note.left.wait()
        raise ClientDisconnect

    async def _read(self, group: asyncio.TaskGroup) -> None:
        async with aclosing(self._rows) as rows:  # type: ignore[type-var]  # a generator
            async for line in rows:
                # A long line takes several places, so that all lines together fit one body.
                places = 1 + line.size * _MAX_IN_FLIGHT // self._settings.max_body_bytes
                while self._in_flight and self._in_flight + places > self._places:
                    self._room.clear()
                    await self._room.wait()
                while self._is_full(line.size):
                    await asyncio.sleep(_PAUSE_S)
                self._in_flight += places
                await self._lines.put(group.create_task(self._line(line, places)))
        await self._lines.put(None)
        await disconnected(self._request)
        raise ClientDisconnect

    @property
    def _places(self) -> int:
        """The rows of this stream that may be judged or queued now."""
        share = max(_FEW, _ALL_IN_FLIGHT // self._gate.streams)
        return min(share, _MAX_IN_FLIGHT, self._scheduler.max_queue)

    def _is_full(self, more: int) -> bool:
        """Whether the client has to read before more is judged for it, or others have to finish."""
        too_much = self._gate.held + more > self._settings.max_held_bytes
        return too_much or self._unread > self._settings.max_body_bytes

    def _hold(self, size: int) -> None:
        """Count bytes that the client has not read."""
        self._unread += size
        self._gate.held += size

    async def _line(self, line: Line, places: int) -> bytes:
        self._gate.held += line.size
        try:
            if isinstance(line.row, InputError):
                raise line.row
            [judgement] = await self._judged(line.row)
        except GradeGPTError as error:
            self._note.errors[error.code] += 1
            text = dump({**body_of(error), "line": line.number})
        else:
            self._note.judged([judgement])
            text = dump(judgement)
        finally:
            self._gate.held -= line.size
            self._in_flight -= places
            self._room.set()
        sent = text.encode() + b"\n"
        self._hold(len(sent))
        return sent

    async def _judged(self, item: Item) -> list[Judgement]:
        """Judge an item; where the queue is full, wait, unlike a single request."""
        until = time.monotonic() + self._scheduler.deadline_s
        while True:
            try:
                return await self._scheduler.judge([item], caller=self._caller)
            except QueueFullError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_FULL_S)


def _body(text: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text, "more_body": more}
