"""Errors of requests, and the one shape in which every error leaves the server: OpenAI's.

InputError                      HTTP 422   (gradegpt.errors)
 └─ RequestError                HTTP 422   a field is missing, wrong or not understood
     ├─ MalformedError          HTTP 400   the body is not a JSON object
     ├─ UnsupportedError        HTTP 400   an option that this server does not have
     └─ ModelNameError          HTTP 404   a model that is not served here
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gradegpt.errors import GradeGPTError, InputError
from gradegpt.records import complaints

SHOWN: Final = 20
"""Complaints that one message lists; the rest are counted."""


class RequestError(InputError):
    """A request that cannot be used; ``param`` names the field."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param

    @classmethod
    def of(cls, error: ValidationError) -> RequestError:
        """Every field and what is wrong with it: ``items.3.reference: field required``."""
        all_of_them = complaints(error)
        left = len(all_of_them) - SHOWN
        more = [f"and {left} more"] if left > 0 else []
        location = error.errors(include_url=False, include_context=False)[0]["loc"]
        param = ".".join(str(part) for part in location) or None
        return cls("; ".join(all_of_them[:SHOWN] + more), param)


class MalformedError(RequestError):
    """A body that is not a JSON object."""

    http_status = 400
    code = "malformed_json"


class UnsupportedError(RequestError):
    """An option that this server does not have."""

    http_status = 400
    code = "unsupported_value"


class ModelNameError(RequestError):
    """A model that is not served here."""

    http_status = 404
    code = "model_not_found"


def error_body(
    status: int, message: str, code: str, param: str | None = None
) -> dict[str, dict[str, Any]]:
    """The body of every error reply."""
    kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def handle_errors(app: FastAPI) -> None:
    """Give every error the same shape, unexpected ones without their insides."""

    @app.exception_handler(GradeGPTError)
    async def _ours(_: Request, error: GradeGPTError) -> JSONResponse:
        param = error.param if isinstance(error, RequestError) else None
        body = error_body(error.http_status, str(error), error.code, param)
        return JSONResponse(body, status_code=error.http_status)

    @app.exception_handler(HTTPException)
    async def _routing(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        message = f"{request.method} {request.url.path}: {status.phrase.lower()}; {_paths(app)}"
        body = error_body(status, message, status.name.lower())
        return JSONResponse(body, status_code=status, headers=error.headers)

    @app.exception_handler(ClientDisconnect)
    async def _gone(_: Request, __: ClientDisconnect) -> JSONResponse:
        return JSONResponse(error_body(400, "the client left", "client_left"), status_code=400)

    @app.exception_handler(Exception)
    async def _unexpected(_: Request, __: Exception) -> JSONResponse:
        # Starlette raises the exception again behind this reply, so that the server logs it.
        message = "an error in the server, not in the request; its log says more"
        return JSONResponse(error_body(500, message, "internal_error"), status_code=500)


def _paths(app: FastAPI) -> str:
    known = [
        f"{method} {route.path}"
        for route in app.routes
        for method in sorted(getattr(route, "methods", None) or ())
        if method in ("GET", "POST") and hasattr(route, "path")
    ]
    return f"there is {', '.join(known)}"
