"""The HTTP routes of batches, which start and stop the runner with the application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query, Request
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from gradegpt.errors import InputError
from gradegpt.schema import Row

from ..body import read_object, valid
from ..errors import UnsupportedError
from ..files.routes import owner_of, page_of
from ..openapi import documented
from .runner import Runner
from .store import OVER

_Key = Annotated[str, Field(max_length=64)]
_Value = Annotated[str, Field(max_length=512)]


class BatchRequest(Row):
    """A request for a batch; other fields of OpenAI's API are ignored."""

    model_config = ConfigDict(extra="ignore")

    input_file_id: str
    endpoint: Literal["/v1/chat/completions", "/v1/completions", "/v1/responses"]
    completion_window: Literal["24h"]
    metadata: Annotated[dict[_Key, _Value], Field(max_length=16)] | None = None


class BatchOverError(InputError):
    """A change to a finished batch."""

    http_status = 409
    code = "batch_over"


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    runner = _runner(app)
    sweep = asyncio.create_task(runner.sweep(), name="sweep")
    try:
        yield
    finally:
        sweep.cancel()
        with suppress(asyncio.CancelledError):
            await sweep
        await runner.stop()


router = APIRouter(tags=["batches"], lifespan=_running)


@router.post("/v1/batches", **documented(BatchRequest))
async def create(request: Request) -> dict[str, Any]:
    """Start a batch for a file of requests."""
    asked = valid(BatchRequest, await read_object(request))
    runner, owner = _runner(request.app), owner_of(request)
    file = runner.files.get(asked.input_file_id, owner)
    if file.purpose != "batch":
        raise UnsupportedError(
            f"input_file_id: {file.id!r} holds the results of a batch; "
            "upload a file of requests with purpose 'batch'",
            "input_file_id",
        )
    batch = await run_in_threadpool(
        runner.store.create, runner.files.path(file.id), owner=owner, endpoint=asked.endpoint,
        input_file_id=file.id, metadata=asked.metadata,
    )  # fmt: skip
    runner.start(batch.id)
    return batch.public()


@router.get("/v1/batches")
async def list_batches(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: str | None = None,
) -> dict[str, Any]:
    """List batches, the newest first."""
    batches = await run_in_threadpool(_runner(request.app).store.owned_by, owner_of(request))
    return page_of(batches, limit, after)


@router.get("/v1/batches/{batch_id}")
async def look_up(request: Request, batch_id: str) -> dict[str, Any]:
    """Return a batch with its progress."""
    return _runner(request.app).store.get(batch_id, owner_of(request)).public()


@router.post("/v1/batches/{batch_id}/cancel")
async def cancel(request: Request, batch_id: str) -> dict[str, Any]:
    """Stop a batch after its running requests; its results so far are kept."""
    store, owner = _runner(request.app).store, owner_of(request)
    batch = store.get(batch_id, owner)
    if batch.status in OVER:
        raise BatchOverError(f"batch {batch_id!r} is already {batch.status}")
    store.cancel(batch_id)
    return store.get(batch_id, owner).public()


def _runner(app: FastAPI) -> Runner:
    if not hasattr(app.state, "batches"):
        app.state.batches = Runner(app, app.state.settings)
    runner: Runner = app.state.batches
    return runner
