"""Read request bodies within their limits, and stop work when a client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, NamedTuple, TypeVar

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from gradegpt.core.errors import InputError, TooLargeError
from gradegpt.core.records import parse_json, parse_line
from gradegpt.core.schema import Item, Row
from gradegpt.tables.columns import with_fields

from .errors import MalformedError, QueueFullError, RequestError, SlowError, UnsupportedError
from .logs import note_of
from .service import service_of

R = TypeVar("R", bound=Row)
T = TypeVar("T")


async def read_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        TooLargeError: the body is over ``max_body_bytes``, as declared or as counted.
        QueueFullError: all running requests together hold too many bytes.
        SlowError: the body did not arrive within the deadline.
        MalformedError: the body is not JSON, or not an object.
        UnsupportedError: the body is compressed.

    """
    body = await read_bytes(request, service_of(request).settings.max_body_bytes)
    try:
        value = parse_json(body)
    except (ValueError, RecursionError) as error:
        lines = "; POST /v1/judge reads JSON Lines with Content-Type: application/x-ndjson"
        how = lines if getattr(error, "msg", "") == "Extra data" else ""
        raise MalformedError(f"the body is not JSON: {error}{how}") from error
    if not isinstance(value, dict):
        how = '; POST /v1/judge reads {"items": [...]}' if isinstance(value, list) else ""
        raise MalformedError(f"the body is a {type(value).__name__}, not a JSON object{how}")
    return value


def check_plain(request: Request) -> None:
    """Raise ``UnsupportedError`` for a body that would have to be decompressed."""
    if (coding := request.headers.get("content-encoding", "identity")) != "identity":
        what = "compressed bodies are not read; send it without Content-Encoding"
        raise UnsupportedError(f"the body is compressed ({coding}): {what}", "content-encoding")


async def read_bytes(request: Request, most: int) -> bytes:
    """The body, of at most so many bytes; errors as of ``read_object``."""
    check_plain(request)
    settings = service_of(request).settings
    try:
        async with asyncio.timeout(settings.deadline_s):
            return await _whole(request, most, settings.max_held_bytes)
    except TimeoutError as error:
        raise SlowError(
            f"the body did not arrive within {settings.deadline_s:g} s; send it faster or in parts"
        ) from error


async def _whole(request: Request, most: int, most_held: int) -> bytes:
    gate, note = service_of(request).gate, note_of(request)
    how = "send fewer items per request, or start the server with a larger max_body_bytes"
    too_large = TooLargeError(f"the body is over {most:,} bytes; {how}")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
        gate.held += len(chunk)
        note.held += len(chunk)  # until the request is over
        if gate.held > most_held:
            raise QueueFullError("too many large requests are running; send it again later")
    return bytes(body)


class Line(NamedTuple):
    """A line of a JSON Lines body, or its error; ``size`` in bytes."""

    number: int
    row: Item | InputError
    size: int = 0


async def read_items(request: Request) -> AsyncIterator[Line]:
    """The items of a JSON Lines body, as they arrive."""
    number, most = 0, service_of(request).settings.max_body_bytes
    async for line in _lines(request, most):
        number += 1
        if line is None:
            yield Line(number, TooLargeError(f"the line is over {most:,} bytes"))
        elif not line.isspace() and line:
            yield Line(number, _item(line), len(line))


def _item(line: bytes) -> Item | InputError:
    try:
        return valid(Item, with_fields(parse_line(line, "row")))
    except InputError as error:
        return error


async def _lines(request: Request, max_bytes: int) -> AsyncIterator[bytes | None]:
    """Lines without their line breaks; None for a line that is too long, which is dropped."""
    line, dropped = bytearray(), False
    async for chunk in request.stream():
        head, *rest = chunk.split(b"\n")
        for piece in (head, *rest):
            if piece is not head:
                yield None if dropped else bytes(line)
                line, dropped = bytearray(), False
            dropped |= len(line) + len(piece) > max_bytes
            if dropped:
                line.clear()
            else:
                line += piece
    if line or dropped:
        yield None if dropped else bytes(line)


def valid(model: type[R], value: Any) -> R:
    """``value`` as a ``model``. Raises ``RequestError`` that names the fields."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RequestError.of(error) from error


async def disconnected(request: Request) -> None:
    """Return when the client has disconnected. Its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled if the client disconnects.

    Raises:
        ClientDisconnect: the client disconnected.

    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
