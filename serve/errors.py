"""Errors of requests, and the format of every error reply, which is OpenAI's.

InputError                      HTTP 422   (gradegpt.core.errors)
 └─ RequestError                HTTP 422   a field is missing, wrong or not understood
     ├─ MalformedError          HTTP 400   the body is not a JSON object
     └─ UnsupportedError        HTTP 400   an option that this server does not have
EngineError                     HTTP 502   (gradegpt.core.errors)
 ├─ DeadlineError               HTTP 504   not judged within the deadline
 ├─ WorkerLostError             HTTP 502   the process that was judging it died
 └─ JudgeError                  HTTP 500   a bug in the judge; the log has it
ServiceError                    HTTP 503   the request is refused
 ├─ SlowError                   HTTP 408   the body did not arrive in time
 ├─ BusyError                   HTTP 503   loading or stopping          Retry-After
 │   └─ QueueFullError          HTTP 429   too many items are waiting   Retry-After
 └─ KeyRequiredError            HTTP 401   no key, or a wrong one       WWW-Authenticate
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gradegpt.core.errors import EngineError, EngineTimeoutError, GradeGPTError, InputError
from gradegpt.core.mistakes import complaints
from gradegpt.core.schema import Row

from .logs import note_of

SHOWN: Final = 20
"""The most complaints in one message; the others are counted."""
INTERNAL: Final = "internal_error"
"""The code of an error that nobody expected."""


class RequestError(InputError):
    """A request that cannot be used; ``param`` names the field."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param

    @classmethod
    def of(cls, error: ValidationError) -> RequestError:
        """An error with every wrong field: ``items.3.reference: field required``."""
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


class DeadlineError(EngineTimeoutError):
    """A request that was not judged within its deadline."""

    code = "deadline_exceeded"


class WorkerLostError(EngineError):
    """The process that was judging died, or had to be killed."""

    code = "worker_lost"


class JudgeError(EngineError):
    """The judge raised an unexpected error. It is logged, and the client gets no details."""

    http_status = 500
    code = "internal_error"


class ServiceError(GradeGPTError):
    """A request that is refused independently of its content; ``headers`` say what to do."""

    http_status = 503
    headers: Mapping[str, str] = MappingProxyType({})


class SlowError(ServiceError):
    """A body that did not arrive within the deadline."""

    http_status = 408
    code = "request_timeout"
    headers = MappingProxyType({"Connection": "close"})


class BusyError(ServiceError):
    """The server is loading its judge, or drains before it stops."""

    code = "not_ready"

    def __init__(self, message: str, retry_after_s: int = 2) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(retry_after_s)}


class QueueFullError(BusyError):
    """More items wait than the server allows."""

    http_status = 429
    code = "queue_full"


class KeyRequiredError(ServiceError):
    """No key, or an unknown one."""

    http_status = 401
    code = "invalid_api_key"
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class ErrorInside(Row):
    """The message and code of an error."""

    message: str
    type: Literal["invalid_request_error", "server_error"]
    code: str
    param: str | None


class ErrorReply(Row):
    """The format of every error."""

    error: ErrorInside


def error_body(
    status: int, message: str, code: str, param: str | None = None
) -> dict[str, dict[str, Any]]:
    """The body of every error reply."""
    kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def body_of(error: GradeGPTError) -> dict[str, dict[str, Any]]:
    """The body for one of our errors."""
    param = error.param if isinstance(error, RequestError) else None
    return error_body(error.http_status, str(error), error.code, param)


def reply_to(error: GradeGPTError) -> JSONResponse:
    """The reply for one of our errors."""
    headers = error.headers if isinstance(error, ServiceError) else None
    return JSONResponse(body_of(error), status_code=error.http_status, headers=headers)


def handle_errors(app: FastAPI) -> None:
    """Give every error the same format, unexpected ones without details; note the code."""

    def reply(request: Request, status: int, message: str, code: str, **more: Any) -> JSONResponse:
        note_of(request).errors[code] += 1
        return JSONResponse(error_body(status, message, code), status_code=status, **more)

    @app.exception_handler(GradeGPTError)
    async def _ours(request: Request, error: GradeGPTError) -> JSONResponse:
        note_of(request).errors[error.code] += 1
        return reply_to(error)

    @app.exception_handler(HTTPException)
    async def _routing(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        where = f"{request.method} {request.url.path}: {status.phrase.lower()}"
        message = f"{where}; GET /openapi.json lists all routes"
        return reply(request, status, message, status.name.lower(), headers=error.headers)

    @app.exception_handler(ClientDisconnect)
    async def _gone(request: Request, __: ClientDisconnect) -> JSONResponse:
        # No client receives this; proxies log the status.
        return reply(request, 499, "the client left", "client_left")

    @app.exception_handler(Exception)
    async def _unexpected(_: Request, __: Exception) -> JSONResponse:
        # Starlette raises the exception again after this reply, so that the server logs it; the
        # middleware, which is inside of this, has noted it.
        message = "an error in the server, not in the request; see the server's log"
        return JSONResponse(error_body(500, message, INTERNAL), status_code=500)
