"""The HTTP routes of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Protocol

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from gradegpt.errors import MissingError

from ..errors import UnsupportedError
from ..settings import ServeSettings
from .form import read_form
from .store import FileStore

OWNER: Final = "gradegpt.owner"
"""The key of an ASGI scope with the API key's owner; an HTTP request cannot set it."""
_CHUNK: Final = 2**20
_UPLOAD_FORM: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "purpose"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "purpose": {"type": "string", "enum": ["batch"]},
                    },
                }
            }
        },
    }
}

router = APIRouter(tags=["files"])


class Listed(Protocol):
    """An entry of a list."""

    @property
    def id(self) -> str:
        """The id that ``after`` refers to."""
        ...

    def public(self) -> dict[str, Any]:
        """The object that the client gets."""
        ...


def page_of(rows: Sequence[Listed], limit: int, after: str | None) -> dict[str, Any]:
    """A page in OpenAI's list form. Raises ``MissingError`` for an unknown ``after``."""
    start = 0
    if after is not None:
        ids = [row.id for row in rows]
        if after not in ids:
            raise MissingError(f"after: {after!r} is not in the list; start without after")
        start = ids.index(after) + 1
    shown = rows[start : start + limit]
    return {
        "object": "list",
        "data": [row.public() for row in shown],
        "first_id": shown[0].id if shown else None,
        "last_id": shown[-1].id if shown else None,
        "has_more": start + limit < len(rows),
    }


def owner_of(request: Request) -> str:
    """The owner of the request's API key; empty where the server needs no key."""
    return str(request.scope.get(OWNER) or "")


def files_of(request: Request) -> FileStore:
    """The files of this server."""
    settings: ServeSettings = request.app.state.settings
    return FileStore(settings.state)


@router.post("/v1/files", openapi_extra=_UPLOAD_FORM)
async def upload(request: Request) -> dict[str, Any]:
    """Store a file of requests for a batch."""
    settings: ServeSettings = request.app.state.settings
    form = await read_form(request, settings.max_file_bytes)
    try:
        if form.purpose != "batch":
            raise UnsupportedError(
                f"purpose: is {form.purpose!r}; files are only for batches, set it to 'batch'",
                "purpose",
            )
        file = form.file.file
        return (
            await run_in_threadpool(
                files_of(request).add,
                iter(lambda: file.read(_CHUNK), b""),
                filename=_shown_name(form.file.filename),
                purpose="batch",
                owner=owner_of(request),
            )
        ).public()
    finally:
        await form.file.close()


@router.get("/v1/files")
async def list_files(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
    after: str | None = None,
    order: Literal["asc", "desc"] = "desc",
    purpose: str | None = None,
) -> dict[str, Any]:
    """List files, by default the newest first."""
    files = await run_in_threadpool(files_of(request).owned_by, owner_of(request))
    wanted = [file for file in files if purpose in (None, file.purpose)]
    return page_of(wanted if order == "asc" else wanted[::-1], limit, after)


@router.get("/v1/files/{file_id}")
async def look_up(request: Request, file_id: str) -> dict[str, Any]:
    """Return the description of a file."""
    return files_of(request).get(file_id, owner_of(request)).public()


@router.get("/v1/files/{file_id}/content", response_class=FileResponse)
async def content(request: Request, file_id: str) -> FileResponse:
    """Send the bytes of a file."""
    files = files_of(request)
    about = files.get(file_id, owner_of(request))
    # An attachment of unknown type: a browser must not run an uploaded file.
    return FileResponse(
        files.path(about.id),
        media_type="application/octet-stream",
        filename=f"{about.id}.jsonl",
        headers={"X-Content-Type-Options": "nosniff"},
    )


@router.delete("/v1/files/{file_id}")
async def delete(request: Request, file_id: str) -> dict[str, Any]:
    """Remove a file. A batch that uses it continues, as it has its own copy."""
    files_of(request).delete(file_id, owner_of(request))
    return {"id": file_id, "object": "file", "deleted": True}


def _shown_name(name: str | None) -> str:
    """The last part of a file name, as printable text."""
    last = re.split(r"[/\\]", name or "")[-1]
    return "".join(letter for letter in last if letter.isprintable())[:255] or "upload.jsonl"
