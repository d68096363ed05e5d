"""The OpenAPI document: handlers read bodies themselves, so their models are declared here."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .errors import ErrorReply

_REF: Final = "#/components/schemas/"
_MEANING: Final = {
    400: "The body is not JSON, or has an unsupported option.",
    401: "An API key is required, or it is unknown.",
    404: "The resource does not exist.",
    408: "The body did not arrive in time.",
    413: "The request exceeds a limit.",
    422: "A field is wrong or missing, or the prompt is not recognised.",
    429: "Too many items are waiting; Retry-After says when to try again.",
    500: "An error in the server.",
    502: "The judge's engine failed.",
    503: "The judge is being loaded, or the server is stopping.",
    504: "The request was not judged in time.",
}
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorReply, "description": meaning} for status, meaning in _MEANING.items()
}
"""The error replies of any route, all in one format."""


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
    """The arguments of a route's decorator that declare its request bodies and its reply.

    The body may be any of ``bodies``, or ``lines`` of a model; ``reply`` is the schema of the JSON
    reply, ``stream`` the media type of a streamed one.
    """
    text = {"schema": {"type": "string"}}
    content = {"application/json": {"schema": schema_of(*bodies)}}
    if lines is not None:
        content["application/x-ndjson"] = text
    replies: dict[str, Any] = {"application/json": {"schema": reply or {"type": "object"}}}
    replies |= {stream: text} if stream else {}
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
        "responses": {200: {"description": "The reply.", "content": replies}},
    }


def describe(app: FastAPI, *models: type[BaseModel]) -> None:
    """Add the models that handlers read and write themselves to the document of ``app``."""

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
