"""POST /v1/judge: judge an item, several, or a stream of items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from gradegpt.errors import GradeGPTError, InputError, TooLargeError
from gradegpt.records import dump
from gradegpt.run import Counts, count
from gradegpt.schema import Item, Judgement, Row

from .body import (
    Line,
    check_lengths,
    disconnected,
    read_items,
    read_object,
    until_disconnect,
    valid,
)
from .errors import QueueFullError, body_of
from .logs import note_of
from .middleware import Gate
from .openapi import documented, schema_of
from .scheduler import BatchScheduler
from .settings import ServeSettings

router = APIRouter(tags=["judge"])
LINES: Final = "application/x-ndjson"
_MAX_IN_FLIGHT: Final = 256
"""The most rows of a stream that are judged or queued at a time."""
_HELD: Final = 10_000
"""The most judgements that wait for a client to read them."""
_PAUSE_S: Final = 0.05
"""Seconds until a row of a stream is sent to a full queue again; doubled each time."""
_LONGEST_PAUSE_S: Final = 1.0


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
    settings: ServeSettings = request.app.state.settings
    scheduler: BatchScheduler = request.app.state.scheduler
    if _media_type(request, "content-type") == LINES:
        scheduler.check()
        return JudgedLines(request, read_items(request, settings))
    body = await read_object(request)
    several = "items" in body
    items = _items(body, settings.max_items) if several else [valid(Item, body)]
    check_lengths(items, settings.max_response_characters, several=several)
    if LINES in _media_type(request, "accept"):
        scheduler.check()
        return JudgedLines(request, _numbered(items))
    note = note_of(request)
    note.content = items
    judgements = await until_disconnect(request, scheduler.judge(items))
    note.judged(judgements)
    rows = [judgement.model_dump(mode="json") for judgement in judgements]
    if not several:
        return JSONResponse({"judgement": rows[0]})
    return JSONResponse({"judgements": rows, "counts": count(judgements).model_dump()})


def _media_type(request: Request, header: str) -> str:
    value = request.headers.get(header, "")
    return (value.partition(";")[0] if header == "content-type" else value).strip().lower()


def _items(body: dict[str, Any], max_items: int) -> list[Item]:
    """The items of a request; one invalid item refuses the whole request."""
    listed = body["items"]
    if isinstance(listed, list) and len(listed) > max_items:
        raise TooLargeError(
            f"items: {len(listed):,} items are more than {max_items:,} per request; send several "
            f"requests or {LINES}, or start the server with a larger max_items"
        )
    return valid(JudgeRequest, body).items


async def _numbered(items: Sequence[Item]) -> AsyncIterator[Line]:
    for number, item in enumerate(items, start=1):
        yield Line(number, item)


class JudgedLines(Response):
    """A line for each row, in order: its judgement, or ``{"error": ..., "line": n}``.

    Reading, judging and writing run at the same time. Starlette's own streaming response cannot do
    that, as it would treat the rest of the body as a disconnect.
    """

    media_type = LINES

    def __init__(self, request: Request, rows: AsyncIterator[Line]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._request, self._rows = request, rows
        self._scheduler: BatchScheduler = request.app.state.scheduler
        self._gate: Gate = request.app.state.gate
        self._settings: ServeSettings = request.app.state.settings
        self._lines: asyncio.Queue[asyncio.Task[str] | None] = asyncio.Queue(_HELD)

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines; stop all work when the client disconnects."""
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        left = False
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(group))
                while (line := await self._lines.get()) is not None:
                    await self._write(send, await line, more=True)
                reading.cancel()
        except* (ClientDisconnect, TimeoutError):
            left = True  # or the client does not read, and uvicorn closes the connection
        if not left:
            await self._write(send, "", more=False)

    async def _write(self, send: Send, line: str, *, more: bool) -> None:
        # A client that never reads must not hold the rows forever.
        async with asyncio.timeout(self._scheduler.deadline_s):
            await send({"type": "http.response.body", "body": line.encode(), "more_body": more})

    async def _read(self, group: asyncio.TaskGroup) -> None:
        places = min(_MAX_IN_FLIGHT, self._scheduler.max_queue)
        room = asyncio.Semaphore(places)
        async with aclosing(self._rows) as rows:  # type: ignore[type-var]  # a generator
            async for line in rows:
                # A long line takes several slots, so that all lines together fit one body.
                share = min(places, 1 + line.size * places // self._settings.max_body_bytes)
                for _ in range(share):
                    await room.acquire()
                while self._gate.held + line.size > self._settings.max_held_bytes:
                    await asyncio.sleep(_PAUSE_S)
                await self._lines.put(group.create_task(self._line(line, room, share)))
        await self._lines.put(None)
        await disconnected(self._request)
        raise ClientDisconnect

    async def _line(self, line: Line, room: asyncio.Semaphore, share: int) -> str:
        self._gate.held += line.size
        try:
            if isinstance(line.row, InputError):
                raise line.row
            [judgement] = await self._judged(line.row)
        except GradeGPTError as error:
            return dump({**body_of(error), "line": line.number}) + "\n"
        finally:
            self._gate.held -= line.size
            for _ in range(share):
                room.release()
        note_of(self._request).judged([judgement])
        return dump(judgement) + "\n"

    async def _judged(self, item: Item) -> list[Judgement]:
        """Judge an item; where the queue is full, wait, unlike a single request."""
        until, pause_s = time.monotonic() + self._scheduler.deadline_s, _PAUSE_S
        while time.monotonic() < until:
            try:
                return await self._scheduler.judge([item], caller=id(self))
            except QueueFullError:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return await self._scheduler.judge([item], caller=id(self))
