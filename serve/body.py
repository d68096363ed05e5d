"""Reads requests within their limits, and notices when whoever sent one has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from gradegpt.errors import InputError, TooLargeError
from gradegpt.records import parse_json, parse_line
from gradegpt.schema import Item, Row

from .errors import MalformedError, QueueFullError, RequestError, SlowError
from .logs import note_of
from .settings import ServeSettings

R = TypeVar("R", bound=Row)
T = TypeVar("T")


async def read_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        TooLargeError: over ``max_body_bytes``, by its own word or by count.
        QueueFullError: more than the server holds at a time, with all that it holds already.
        SlowError: not here within the deadline.
        MalformedError: not JSON, or not an object.

    """
    settings: ServeSettings = request.app.state.settings
    try:
        async with asyncio.timeout(settings.deadline_s):
            body = await _whole(request, settings)
    except TimeoutError as error:
        raise SlowError(f"the body did not come within {settings.deadline_s:g} s") from error
    try:
        value = parse_json(body)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"the body is a {type(value).__name__}, not a JSON object")
    return value


def told_length(request: Request) -> int:
    """How long the body is by its own word; 0 if it does not say."""
    told = request.headers.get("content-length", "")
    return int(told) if told.isdecimal() else 0


async def _whole(request: Request, settings: ServeSettings) -> bytes:
    gate, note, most = request.app.state.gate, note_of(request), settings.max_body_bytes
    too_large = TooLargeError(
        f"the body is over {most:,} bytes; send fewer items a request, "
        "or start the server with a larger max_body_bytes"
    )
    if told_length(request) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
        gate.held += len(chunk)
        note.held += len(chunk)  # until the request is over
        if gate.held > settings.max_held_bytes:
            raise QueueFullError("too many large requests are under way; come again")
    return bytes(body)


class Line(NamedTuple):
    """A line of a JSON Lines body, or what is wrong with it; ``size`` in bytes."""

    number: int
    row: Item | InputError
    size: int = 0


async def read_items(request: Request, settings: ServeSettings) -> AsyncIterator[Line]:
    """The items of a JSON Lines body, as they come in."""
    number = 0
    async for line in _lines(request, settings.max_body_bytes):
        number += 1
        if line is None:
            yield Line(number, TooLargeError(f"a line of over {settings.max_body_bytes:,} bytes"))
        elif not line.isspace() and line:
            yield Line(number, _item(line, settings.max_response_characters), len(line))


def _item(line: bytes, max_characters: int) -> Item | InputError:
    try:
        item = valid(Item, parse_line(line, "row"))
        check_lengths([item], max_characters, several=False)
    except InputError as error:
        return error
    return item


async def _lines(request: Request, max_bytes: int) -> AsyncIterator[bytes | None]:
    """Lines without their ends; none for one that is too long, of which no more is kept."""
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


def check_lengths(items: Sequence[Item], limit: int, *, several: bool) -> None:
    """Refuse a response over ``limit`` characters with a ``TooLargeError`` that names its item."""
    for index, item in enumerate(items):
        if len(item.response) > limit:
            where = f"items.{index}.response" if several else "response"
            raise TooLargeError(
                f"{where}: {len(item.response):,} characters, at most {limit:,} are read; "
                "shorten it, or start the server with a larger max_response_characters"
            )


def valid(model: type[R], value: Any) -> R:
    """``value`` as a ``model``. Raises ``RequestError`` that names the fields."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RequestError.of(error) from error


async def gone(request: Request) -> None:
    """Return when the client has left. Its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled if the client leaves before.

    Raises:
        ClientDisconnect: it did.

    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
