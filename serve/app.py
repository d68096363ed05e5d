"""The HTTP application: a factory that makes a FastAPI app for a judge, without globals.

Not covered: TLS. Bind to the loopback or put a proxy in front.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

import gradegpt
from gradegpt.core.schema import Item
from gradegpt.judges.base import Judge

from . import about, completions, native, page, responses, reward, table
from .errors import handle_errors
from .middleware import Middleware
from .openapi import ERRORS, describe
from .service import Service
from .settings import ServeSettings
from .worker import InProcess

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(
    judge: Judge, settings: ServeSettings | None = None, api_keys: Sequence[str] = ()
) -> FastAPI:
    """The application with ``judge``, and the names and limits of ``settings``."""
    app = build_app(settings or ServeSettings(), api_keys)
    app.state.service.scheduler.open([InProcess(judge)])
    return app


def build_app(
    settings: ServeSettings, api_keys: Sequence[str] = (), lifespan: Lifespan | None = None
) -> FastAPI:
    """The application without a judge; open its scheduler once a judge is loaded."""
    # No pages at /docs: they would load scripts from other servers.
    app = FastAPI(
        title="GradeGPT", version=gradegpt.__version__, docs_url=None, redoc_url=None,
        openapi_url="/openapi.json", lifespan=lifespan or _closing,
    )  # fmt: skip
    service = app.state.service = Service.of(settings)
    handle_errors(app)
    for part in (native, table, completions, responses, reward, about):
        app.include_router(part.router, responses=ERRORS)
    app.include_router(page.router)
    describe(app, Item, native.JudgeRequest, native.JudgeReply, native.JudgeReplies,
             completions.ChatRequest, completions.CompletionRequest, responses.ResponsesRequest,
             reward.RewardRequest, table.FileRows)  # fmt: skip
    app.add_middleware(Middleware, service=service, api_keys=tuple(api_keys))
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.service.scheduler.close()
