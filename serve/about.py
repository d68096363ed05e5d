"""Routes about the server: models, prompt families, health, readiness and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from .errors import BusyError, error_body, reply_to
from .metrics import CONTENT_TYPE
from .service import service_of
from .templates import is_shipped
from .templates.trials import TRIALS

router = APIRouter(tags=["about"])


@router.get("/health")
@router.head("/health", include_in_schema=False)
async def health(request: Request) -> dict[str, str]:
    """Report that the server is alive, its judge, and the reply to a pipeline without a verdict."""
    service = service_of(request)
    scheduler, undecided = service.scheduler, service.settings.undecided
    judge = {"judge": scheduler.name, "fingerprint": scheduler.fingerprint}
    return {"status": "ok", **judge, "undecided": undecided}


@router.get("/ready", response_model=None)
@router.head("/ready", response_model=None, include_in_schema=False)
async def ready(request: Request) -> dict[str, str] | JSONResponse:
    """Report whether requests are accepted: not while the judge loads or the server drains."""
    service = service_of(request)
    if service.gate.draining:
        return reply_to(BusyError("the server is stopping"))
    if not service.scheduler.ready:
        return reply_to(BusyError("the judge is being loaded"))
    return {"status": "ready"}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Return the metrics in Prometheus' text format."""
    service = service_of(request)
    service.metrics.state(service.scheduler.waiting, service.scheduler.cached)
    return Response(service.metrics.render(), media_type=CONTENT_TYPE)


@router.get("/v1/models", response_model=None)
@router.get("/v1/models/{name:path}", response_model=None, include_in_schema=False)
async def models(request: Request) -> dict[str, Any] | JSONResponse:
    """List the one served model, or return it by its name."""
    service, name = service_of(request), request.path_params.get("name")
    served = {"id": service.settings.served_model_name, "created": service.started}
    if name not in (None, served["id"]):
        only = f"the only one is {served['id']!r}, and prompts may name any model"
        why = f"no model {name!r}; {only}"
        return JSONResponse(error_body(404, why, "model_not_found", "model"), 404)
    served |= {"object": "model", "owned_by": "gradegpt"}
    return served if name else {"object": "list", "data": [served]}


@router.get("/v1/adapters")
async def adapters(request: Request) -> dict[str, Any]:
    """List the recognised prompt templates, with an example of each.

    A template of one's own has passed its ``trials``, or the server would not have started.
    """
    item = ("What is 2+2?", "4", "The answer is 4.")
    listed = [
        {
            "name": template.name,
            "callers": template.callers,
            "example": [message.model_dump() for message in template.prompt(*item)],
            "json_schema": template.json_schema,
            "trials": dict.fromkeys(() if is_shipped(template) else TRIALS, "passed"),
        }
        for template in service_of(request).templates
    ]
    return {"object": "list", "data": listed}
