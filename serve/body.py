"""Read request bodies within their limits, and stop work when a client disconnects."""

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
        TooLargeError: the body is over ``max_body_bytes``, as declared or as counted.
        QueueFullError: all bodies together are over ``max_held_bytes``.
        SlowError: the body did not arrive within the deadline.
        MalformedError: the body is not JSON, or not an object.

    """
    settings: ServeSettings = request.app.state.settings
    try:
        async with asyncio.timeout(settings.deadline_s):
            body = await _whole(request, settings)
    except TimeoutError as error:
        raise SlowError(
            f"the body did not arrive within {settings.deadline_s:g} s; send it faster or in parts"
        ) from error
    try:
        value = parse_json(body)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"the body is a {type(value).__name__}, not a JSON object")
    return value


def declared_length(request: Request) -> int:
    """The declared length of the body; 0 if the request declares none."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


async def _whole(request: Request, settings: ServeSettings) -> bytes:
    gate, note, most = request.app.state.gate, note_of(request), settings.max_body_bytes
    too_large = TooLargeError(
        f"the body is over {most:,} bytes; send fewer items per request, "
        "or start the server with a larger max_body_bytes"
    )
    if declared_length(request) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
        gate.held += len(chunk)
        note.held += len(chunk)  # until the request is over
        if gate.held > settings.max_held_bytes:
            raise QueueFullError(
                "too many large requests are running; send the request again later"
            )
    return bytes(body)


class Line(NamedTuple):
    """A line of a JSON Lines body, or its error; ``size`` in bytes."""

    number: int
    row: Item | InputError
    size: int = 0


async def read_items(request: Request, settings: ServeSettings) -> AsyncIterator[Line]:
    """The items of a JSON Lines body, as they arrive."""
    number = 0
    async for line in _lines(request, settings.max_body_bytes):
        number += 1
        if line is None:
            yield Line(number, TooLargeError(f"the line is over {settings.max_body_bytes:,} bytes"))
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


def check_lengths(items: Sequence[Item], limit: int, *, several: bool) -> None:
    """Refuse a response over ``limit`` characters with a ``TooLargeError`` that names its item."""
    for index, item in enumerate(items):
        if len(item.response) > limit:
            where = f"items.{index}.response" if several else "response"
            raise TooLargeError(
                f"{where}: has {len(item.response):,} characters, more than {limit:,}; "
                "shorten it, or start the server with a larger max_response_characters"
            )


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
