"""The HTTP application: a loaded judge comes in, a FastAPI app goes out. No globals.

| request                     | reply                                                         |
|-----------------------------|---------------------------------------------------------------|
| POST /v1/judge              | an item -> its judgement; ``items`` -> ``judgements``, counts |
| POST /v1/chat/completions   | a GradeGPT prompt -> a chain, in the OpenAI form              |
| GET /v1/models, GET /health | what is served                                                |

Not covered: keys, TLS, other tools' prompts. Bind to the loopback or put a proxy in front.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool

from gradegpt.errors import TooLargeError
from gradegpt.judges.base import Judge
from gradegpt.records import parse_json
from gradegpt.run import count
from gradegpt.schema import Item, Judgement, Row
from serve.chat import ChatRequest, Reply, read_item
from serve.errors import MalformedError, ModelNameError, RequestError, handle_errors
from serve.settings import ServeSettings

R = TypeVar("R", bound=Row)


class JudgeRequest(Row):
    """Several items to judge."""

    items: list[Item] = Field(min_length=1)


class Bench:
    """One judge and the queue in front of it.

    A local model is not re-entrant, so requests are judged one after another; in a thread, so that
    the server goes on answering meanwhile.
    """

    def __init__(self, judge: Judge) -> None:
        self.name: Final = judge.name
        self.fingerprint: Final = hashlib.sha256(judge.fingerprint.encode()).hexdigest()[:16]
        self._judge = judge
        self._turn = asyncio.Lock()

    async def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """Judge ``items`` when it is their turn."""
        async with self._turn:
            return await run_in_threadpool(self._judge.judge, items)


def create_app(judge: Judge, settings: ServeSettings | None = None) -> FastAPI:
    """The application around ``judge``, with the names and limits of ``settings``."""
    settings = settings or ServeSettings()
    bench, started = Bench(judge), int(time.time())
    # No pages at /docs: they would load scripts from elsewhere.
    app = FastAPI(title="GradeGPT", docs_url=None, redoc_url=None, openapi_url=None)
    handle_errors(app)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok", "judge": bench.name, "fingerprint": bench.fingerprint}

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        model = {"id": settings.served_model_name, "object": "model", "created": started}
        return {"object": "list", "data": [{**model, "owned_by": "gradegpt"}]}

    @app.post("/v1/judge")
    async def judge_items(request: Request) -> JSONResponse:
        body = await read_object(request, settings.max_body_bytes)
        several = "items" in body
        items = read_items(body, settings.max_items) if several else [_valid(Item, body)]
        check_lengths(items, settings.max_response_characters, several=several)
        judgements = await bench.judge(items)
        rows = [judgement.model_dump(mode="json") for judgement in judgements]
        if not several:
            return JSONResponse({"judgement": rows[0]})
        return JSONResponse({"judgements": rows, "counts": count(judgements).model_dump()})

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        body = await read_object(request, settings.max_body_bytes)
        asked = _valid(ChatRequest, body)
        if asked.model != settings.served_model_name:
            raise ModelNameError(
                f"model {asked.model!r} is not served here; {settings.served_model_name!r} is "
                "(served_model_name in the server's settings)",
                "model",
            )
        item = read_item(asked)
        check_lengths([item], settings.max_response_characters, several=False)
        [judgement] = await bench.judge([item])
        reply = Reply.to(asked, judgement, fingerprint=bench.fingerprint)
        if asked.stream:
            return StreamingResponse(reply.events(asked), media_type="text/event-stream")
        return JSONResponse(reply.completion())

    return app


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


def read_items(body: dict[str, Any], max_items: int) -> list[Item]:
    """The items of a request; one bad item refuses all, so that nothing is half done."""
    listed = body["items"]
    if isinstance(listed, list) and len(listed) > max_items:
        raise TooLargeError(
            f"items: {len(listed):,} of them, at most {max_items:,} a request; "
            "send several requests, or start the server with a larger max_items"
        )
    return _valid(JudgeRequest, body).items


def check_lengths(items: Sequence[Item], limit: int, *, several: bool) -> None:
    """Refuse a response over ``limit`` characters with a ``TooLargeError`` that names its item."""
    for index, item in enumerate(items):
        if len(item.response) > limit:
            where = f"items.{index}.response" if several else "response"
            raise TooLargeError(
                f"{where}: {len(item.response):,} characters, at most {limit:,} are read; "
                "shorten it, or start the server with a larger max_response_characters"
            )


def _valid(model: type[R], value: dict[str, Any]) -> R:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RequestError.of(error) from error
