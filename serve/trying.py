"""POST /v1/adapters/try: try a template of one's own. Nothing of it is kept.

A text can be written so that matching it takes long, so a template is tried in a process of its
own, which is killed when its time is over; one at a time, as it takes a core.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from gradegpt.core.errors import TooLargeError
from gradegpt.core.schema import Row

from .body import read_object, valid
from .errors import QueueFullError, RequestError
from .openapi import documented, schema_of
from .service import service_of
from .settings import ServeSettings
from .templates.trials import Tried

COMMAND: Final = (sys.executable, "-m", f"{__package__}.templates.trials")
_MOST: Final = 2**16
"""Characters of a template, or of a prompt."""
_SECONDS: Final = 10.0
"""The longest trial; most take one second, for the process to start."""

router = APIRouter(tags=["about"])


class TryRequest(Row):
    """A template as YAML text, and optionally the text of a prompt as it is sent."""

    template: str
    prompt: str | None = None


@router.post("/v1/adapters/try", **documented(TryRequest, reply=schema_of(Tried)))
async def try_template(request: Request) -> JSONResponse:
    """Try a template: its trials, its reply for each verdict, and what it reads in a prompt.

    A template that cannot be used at all is an error; one that fails a trial is not.
    """
    asked = valid(TryRequest, await read_object(request))
    for name, text in asked.model_dump(exclude_none=True).items():
        if len(text) > _MOST:
            raise TooLargeError(f"{name}: has {len(text):,} characters, more than {_MOST:,}")
    service = service_of(request)
    if service.trying.locked():
        raise QueueFullError("another template is being tried; send the request again")
    async with service.trying:
        return JSONResponse(await run_in_threadpool(_answer, asked, service.settings))


def _answer(asked: TryRequest, settings: ServeSettings) -> dict[str, Any]:
    """The reply of the process. Raises ``RequestError`` where the template is wrong."""
    templates = settings.model_dump(mode="json", include={"adapters", "templates"})
    try:
        process = subprocess.run(
            COMMAND, input=json.dumps(asked.model_dump() | templates).encode(),
            stdout=subprocess.PIPE, timeout=_SECONDS, check=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise RequestError(
            f"template: its trials took longer than {_SECONDS:g} s; shorten it, or the prompt",
            "template",
        ) from error
    answer = json.loads(process.stdout)
    if "error" in answer:
        raise RequestError(answer["error"], "template")
    done: dict[str, Any] = answer["tried"]
    return done
