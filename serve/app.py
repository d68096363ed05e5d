"""The HTTP application: a factory that makes a FastAPI app for a judge, without globals.

| request                        | reply                                                          |
|--------------------------------|----------------------------------------------------------------|
| POST /v1/judge                 | an item, many, or a stream of them -> judgements               |
| POST /v1/chat/completions      | a scoring pipeline's prompt -> a reply for its parser          |
| POST /v1/completions           | the same for raw prompts                                       |
| POST /v1/responses             | the same in the form of OpenAI's newer API                     |
| /v1/files, /v1/batches         | OpenAI's batches                                               |
| POST /get_reward               | rewards for OpenRLHF                                           |
| GET /v1/models, /v1/adapters   | the served model, and the recognised prompts                   |
| POST /v1/adapters/try          | a template of one's own -> its trials                          |
| GET /health, /ready, /metrics  | health, readiness and counters                                 |
| GET /, /openapi.json           | a page to try it, and the description of all routes            |

Not covered: TLS. Bind to the loopback or put a proxy in front.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI

from gradegpt.judges.base import Judge
from gradegpt.schema import Item, Judgement

from . import about, batches, chat, completions, files, native, page, responses, reward, trying
from .batches.routes import BatchRequest
from .chat import ChatRequest
from .completions import CompletionRequest
from .errors import handle_errors
from .keys import Keys
from .logs import RequestLog
from .metrics import Metrics
from .middleware import Gate, Middleware
from .native import JudgeReplies, JudgeReply, JudgeRequest
from .openapi import ERRORS, describe
from .responses import ResponsesRequest
from .reward import RewardRequest
from .scheduler import BatchScheduler
from .settings import ServeSettings
from .templates.trials import Tried, chosen
from .trying import TryRequest
from .worker import Loaded
from .workers import InProcess

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(judge: Judge, settings: ServeSettings | None = None) -> FastAPI:
    """The application with ``judge``, and the names and limits of ``settings``."""
    app = build_app(settings or ServeSettings())
    app.state.scheduler.open([InProcess(Loaded.of(judge))])
    return app


def build_app(settings: ServeSettings, lifespan: Lifespan | None = None) -> FastAPI:
    """The application without a judge; open ``app.state.scheduler`` once a judge is loaded."""
    # No pages at /docs: they would load scripts from other servers.
    app = FastAPI(
        title="GradeGPT", docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        lifespan=lifespan or _closing,
    )  # fmt: skip
    metrics, gate = Metrics(), Gate()
    scheduler = BatchScheduler(
        max_batch=settings.max_batch,
        max_queue=settings.max_queue,
        deadline_s=settings.deadline_s,
        on_quick=lambda results: metrics.judged(_judgements(results)),
        on_batch=lambda results: _count(metrics, scheduler, results),
        on_worker=metrics.worker,
    )
    app.state.settings, app.state.scheduler, app.state.started = (
        settings,
        scheduler,
        int(time.time()),
    )
    app.state.metrics, app.state.gate = metrics, gate
    app.state.trying = asyncio.Lock()
    app.state.templates = chosen(settings.adapters, settings.templates)
    handle_errors(app)
    parts = (native, chat, completions, responses, files, batches, reward, about, trying)
    for part in parts:
        app.include_router(part.router, responses=ERRORS)
    app.include_router(page.router)
    describe(app, Item, JudgeRequest, JudgeReply, JudgeReplies, ChatRequest, CompletionRequest,
             ResponsesRequest, RewardRequest, BatchRequest, TryRequest, Tried)  # fmt: skip
    log = RequestLog(with_content=settings.log_content) if settings.log_requests else None
    keys = Keys.load(settings.api_keys) if settings.api_keys else None
    app.add_middleware(
        Middleware, gate=gate, metrics=metrics, keys=keys, log=log, patience_s=settings.deadline_s
    )
    return app


def _count(metrics: Metrics, scheduler: BatchScheduler, results: Sequence[Any]) -> None:
    metrics.judged(_judgements(results))
    metrics.batch(len(results))
    metrics.queue(scheduler.waiting)
    metrics.cache(*scheduler.cached)


def _judgements(results: Sequence[Any]) -> list[Judgement]:
    return [result for result in results if isinstance(result, Judgement)]


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.scheduler.close()
