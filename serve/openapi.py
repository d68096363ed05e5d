"""The OpenAPI document: handlers read bodies themselves, so it is told here what they read."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .errors import ErrorReply

_REF: Final = "#/components/schemas/"
_MEANING: Final = {
    400: "The body is not JSON, or asks for what this server does not have.",
    401: "A key is needed, or this one is not known.",
    404: "There is no such thing.",
    408: "The body did not come in time.",
    409: "It is in no state for that.",
    413: "Over a stated limit.",
    422: "A field is wrong or missing, or the prompt is not understood.",
    429: "Too many items are waiting; Retry-After says when to come again.",
    500: "An error in the server.",
    502: "The judge's engine could not be asked.",
    503: "The judge is being loaded, or the server is about to stop.",
    504: "Not judged in time.",
}
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorReply, "description": meaning} for status, meaning in _MEANING.items()
}
"""What any route may answer beside its own reply, all of one shape."""


def schema_of(*models: type[BaseModel]) -> dict[str, Any]:
    """A reference to one model, or to any of several."""
    refs = [{"$ref": _REF + model.__name__} for model in models]
    return refs[0] if len(refs) == 1 else {"anyOf": refs}


def documented(
    *bodies: type[BaseModel],
    lines: type[BaseModel] | None = None,
    reply: dict[str, Any] | None = None,
    stream: str | None = None,
) -> dict[str, Any]:
    """What a route's decorator is given: the bodies it reads, and what it replies.

    Args:
        bodies: Models, any of which the JSON body may be.
        lines: The model of a line, where JSON Lines are read, too.
        reply: The schema of the JSON reply.
        stream: The media type of a reply that is sent bit by bit.

    """
    content = {"application/json": {"schema": schema_of(*bodies)}}
    if lines is not None:
        content["application/x-ndjson"] = {"schema": {"type": "string"}}
    replies: dict[str, Any] = {"application/json": {"schema": reply or {"type": "object"}}}
    if stream is not None:
        replies[stream] = {"schema": {"type": "string"}}
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
        "responses": {200: {"description": "The reply.", "content": replies}},
    }


def describe(app: FastAPI, *models: type[BaseModel]) -> None:
    """Let the document of ``app`` hold the models that its handlers read and write themselves."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description,
                routes=app.routes,
            )  # fmt: skip
            _, ours = models_json_schema(
                [(model, "validation") for model in models], ref_template=_REF + "{model}"
            )
            schemas = made.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(ours.get("$defs", {}))
            made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            made["security"] = [{}, {"key": []}]
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI's own way to do this
