"""The page at ``/``: judge answers, label a sheet, try a template. Plain files, no build step.

The page loads nothing from other servers and inserts no text as markup; the browser enforces both
by the content security policy. Links are relative, so a proxy may serve the page below a prefix.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from starlette.staticfiles import StaticFiles

from gradegpt.core import reasons

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # revalidated, so that a new version appears at once
}
_HERE: Final = Path(__file__).parent
_FILES: Final = StaticFiles(directory=_HERE)
_INDEX: Final = "index.html"
_REASONS: Final = "reasons.js"
"""The words of reason codes, which the library has."""

router = APIRouter(include_in_schema=False)


@cache
def assets() -> tuple[str, ...]:
    """The paths of the page's files: in this folder, and the words of reason codes."""
    kinds = {".html", ".js", ".css", ".svg"}
    found = (path for path in sorted(_HERE.rglob("*")) if path.suffix in kinds)
    return (_REASONS, *(path.relative_to(_HERE).as_posix() for path in found))


@router.api_route("/", methods=["GET", "HEAD"])
async def index(request: Request) -> Response:
    """The page."""
    return await _sent(_INDEX, request)


@router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
async def asset(name: str, request: Request) -> Response:
    """A script, style or picture of the page."""
    if name == _REASONS:
        words = f"export default {reasons.SOURCE.read_text(encoding='utf-8')}"
        return Response(words, media_type="text/javascript", headers=_HEADERS)
    if name == _INDEX or name not in assets():
        raise HTTPException(404)
    return await _sent(name, request)


async def _sent(name: str, request: Request) -> Response:
    """A file, or 304 where the browser has it."""
    reply = await _FILES.get_response(name, request.scope)
    reply.headers.update(_HEADERS)
    return reply
