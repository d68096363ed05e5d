"""Answer a file of OpenAI's batch requests: ``gradegpt serve.batch FILE -o replies.jsonl``.

A line is ``{"custom_id": ..., "method": "POST", "url": "/v1/chat/completions", "body": {...}}``;
its reply has the same ``custom_id``, and the response with its status and body. No server runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from pydantic import ConfigDict, Field

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.app.console import progress
from gradegpt.app.run import GIVE_UP_AFTER, check_output
from gradegpt.core.errors import EngineError, InputError
from gradegpt.core.records import ResumableWriter, read_objects, read_rows, sha256_file
from gradegpt.core.schema import Row

from . import completions, responses
from .__main__ import settings_of
from .errors import body_of
from .logs import Note
from .service import Service
from .settings import ServeSettings
from .stage import known
from .workers import workers_for

_Completion = completions.ChatCompletion | completions.Completion | responses.ModelResponse
_ENDPOINTS: Final[dict[str, Callable[..., Coroutine[Any, Any, _Completion]]]] = {
    "/v1/chat/completions": completions.chat_completed,
    "/v1/completions": completions.completed,
    "/v1/responses": responses.completed,
}
_DEADLINE_S: Final = 3_600.0
"""Seconds for a request: nobody waits for it, and those before it may take long."""
_OK: Final = 200
_FAILED: Final = 500
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class BatchRequest(Row):
    """A line of the input; other fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    custom_id: str = Field(min_length=1)
    method: Literal["POST"] = "POST"
    url: Literal["/v1/chat/completions", "/v1/completions", "/v1/responses"]
    body: dict[str, Any]


@app.command()
def batch(
    requests: Annotated[
        Path, typer.Argument(metavar="REQUESTS.JSONL", help="OpenAI's batch requests, one a line.")
    ],
    output: Annotated[Path, options.output("The replies, one a line.")],
    overrides: Annotated[
        list[str] | None, options.changes("As of gradegpt serve: judge.kind=rules, templates=[...]")
    ] = None,
    config: Annotated[
        str,
        typer.Option(
            metavar="CONFIG.YAML|JUDGE",
            help="A settings file of gradegpt serve, the name of a shipped one, or the folder of a "
            "judge.",
        ),
    ] = "cascade",
    overwrite: options.Overwrite = False,
) -> None:
    """Answer a file of OpenAI's batch requests, without a server.

    A request is {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {...}};
    url may be /v1/completions or /v1/responses, too. Its reply is {"custom_id": "a", "response":
    {"status_code": 200, "body": {...}}, "error": null}, in the order of the requests; a request
    that cannot be answered has the status and the error that a server would reply. To resume a run
    that was stopped, give the same command again.
    """
    settings = settings_of(Path(config), overrides or ())
    settings = settings.model_copy(update={"deadline_s": _DEADLINE_S})
    total = checked(requests)
    check_output(output, requests, overwrite=overwrite)
    service = Service.of(settings)
    service.scheduler.open(workers_for(settings))
    writer = ResumableWriter(output, _made_from(requests, settings, service), overwrite=overwrite)
    try:
        with writer, progress("answering") as report:
            asyncio.run(_answered(service, requests, writer, lambda done: report(done, total)))
    except KeyboardInterrupt:
        typer.echo(f"stopped; run the same command again to resume from {writer.partial}", err=True)
        raise typer.Exit(130) from None
    finally:
        service.scheduler.close()
    statuses = Counter(row["response"]["status_code"] for _, row in read_objects(output))
    listed = " + ".join(f"{n:,} with status {status}" for status, n in sorted(statuses.items()))
    typer.echo(f"{total:,} requests = {listed}\nreplies: {output}")
    raise typer.Exit(int(statuses.total() > statuses[_OK]))


def checked(requests: Path) -> int:
    """The number of requests in a file.

    Raises:
        InputError: a line is no request, a ``custom_id`` occurs twice, or there is no line.

    """
    seen: dict[str, int] = {}
    for number, request in enumerate(read_rows(requests, BatchRequest), start=1):
        if (first := seen.setdefault(request.custom_id, number)) != number:
            what = f"{request.custom_id!r} is the custom_id of requests {first} and {number}"
            raise InputError(f"{requests}: {what}; choose another for one of them")
    if not seen:
        raise InputError(f"{requests}: has no request; write one a line")
    return len(seen)


def _made_from(requests: Path, settings: ServeSettings, service: Service) -> str:
    """Everything that the replies depend on."""
    names = {"any_model", "served_model_name", "adapters", "unrecognised", "undecided", "max_items"}
    parts = [
        service.scheduler.fingerprint,
        settings.model_dump_json(include=names),
        *(sha256_file(path) for path in (requests, *settings.templates)),
    ]
    return "|".join(parts)


async def _answered(
    service: Service, requests: Path, writer: ResumableWriter, report: Callable[[int], None]
) -> None:
    """Answer the requests that have no reply yet, some at a time, in order.

    Raises:
        EngineError: none of many requests in a row could be answered; earlier replies are kept.

    """
    settings = service.settings
    at_once = settings.max_queue // settings.max_items  # all find room in the queue
    left = islice(read_rows(requests, BatchRequest), writer.done, None)
    report(writer.done)
    while some := list(islice(left, at_once)):
        rows = await asyncio.gather(*(reply_to(service, request) for request in some))
        failed = [row for row in rows if row["response"]["status_code"] >= _FAILED]
        if len(failed) == len(rows) >= GIVE_UP_AFTER:
            why = failed[0]["response"]["body"]["error"]["message"]
            raise EngineError(
                f"all {len(rows)} requests failed: {why}; {writer.done:,} replies are kept in "
                f"{writer.partial}; run the same command again to resume"
            )
        writer.write(rows)
        report(writer.done)


async def reply_to(service: Service, request: BatchRequest) -> dict[str, Any]:
    """The reply to a request, in the form of OpenAI's batches."""
    note = Note(uuid.uuid4().hex, request.method, request.url)
    try:
        made = await _ENDPOINTS[request.url](service, note, request.body)
        status, body = _OK, made.whole()
    except Exception as error:  # noqa: BLE001  it is this request's reply
        ours = known(error)
        status, body = ours.http_status, body_of(ours)
    return {
        "id": f"batch_req_{hashlib.sha256(request.custom_id.encode()).hexdigest()[:24]}",
        "custom_id": request.custom_id,
        "response": {"status_code": status, "request_id": note.id, "body": body},
        "error": None,
    }


if __name__ == "__main__":
    run(app, name="gradegpt serve.batch")
