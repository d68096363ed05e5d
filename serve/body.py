"""Reads requests within their limits, and notices when whoever sent one has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, TypeVar

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from gradegpt.errors import InputError, TooLargeError
from gradegpt.records import parse_json, parse_line
from gradegpt.schema import Item, Row
from serve.errors import MalformedError, RequestError
from serve.settings import ServeSettings

R = TypeVar("R", bound=Row)
T = TypeVar("T")


async def read_object(request: Request, max_bytes: int) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        TooLargeError: over ``max_bytes``, by its own word or by count.
        MalformedError: not JSON, or not an object.

    """
    too_large = TooLargeError(
        f"the body is over {max_bytes:,} bytes; send fewer items a request, "
        "or start the server with a larger max_body_bytes"
    )
    if int(request.headers.get("content-length") or 0) > max_bytes:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise too_large
    try:
        value = parse_json(bytes(body))
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedError(f"the body is a {type(value).__name__}, not a JSON object")
    return value


async def read_items(
    request: Request, settings: ServeSettings
) -> AsyncIterator[tuple[int, Item | InputError]]:
    """The items of a JSON Lines body with their line numbers, as they come in.

    In the place of a line that is none stands what is wrong with it.
    """
    number = 0
    async for line in _lines(request, settings.max_body_bytes):
        number += 1
        if line is None:
            yield number, TooLargeError(f"a line of over {settings.max_body_bytes:,} bytes")
        elif not line.isspace() and line:
            yield number, _item(line, settings.max_response_characters)


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
            line = bytearray() if dropped else line + piece
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
