"""The page at ``/``: judge answers, label a sheet, try a template. Plain files, no build step.

The page loads nothing from other servers and inserts no text as markup; the browser enforces both
by the content security policy. Links are relative, so a proxy may serve the page below a prefix.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

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
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX: Final = "index.html"

router = APIRouter(include_in_schema=False)


class Asset(NamedTuple):
    """A file of the page, as it is sent."""

    content: bytes
    media_type: str
    tag: str


@cache
def assets() -> dict[str, Asset]:
    """All files of the page by their paths in this folder; no other file is served."""
    here = Path(__file__).parent
    return {
        path.relative_to(here).as_posix(): Asset(
            content, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()}"'
        )
        for path in sorted(here.rglob("*"))
        if path.suffix in _TYPES and (content := path.read_bytes())
    }


@router.api_route("/", methods=["GET", "HEAD"])
async def index(request: Request) -> Response:
    """The page."""
    return _send(assets()[_INDEX], request)


@router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
async def asset(name: str, request: Request) -> Response:
    """A script, style or picture of the page."""
    if name == _INDEX or name not in assets():
        raise HTTPException(404)
    return _send(assets()[name], request)


def _send(found: Asset, request: Request) -> Response:
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",  # revalidated, so that a new version appears at once
        "ETag": found.tag,
    }
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)
