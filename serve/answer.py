"""Answer a caller's prompt in the form that its parser reads, for all OpenAI endpoints.

A verdict is never invented and never cut off: reasons are dropped to respect ``max_tokens`` and
``stop``, the words of the verdict are not. Where the judge fails there is an HTTP error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from gradegpt.chains.fit import estimate_tokens
from gradegpt.core.schema import Judgement, Message, Outcome, Row

from .body import read_object, until_disconnect, valid
from .errors import RequestError, UnsupportedError
from .logs import Note, note_of
from .service import Service, service_of
from .templates import Ask, NoVerdictError, Template, UnknownPromptError, find
from .templates.reply import WrittenReply

MOST_CHOICES: Final = 128
"""OpenAI's own limit of ``n``."""
_OTHER_FORMS: Final[Mapping[str, tuple[Any, ...]]] = {
    **dict.fromkeys(
        ("logprobs", "top_logprobs", "prompt_logprobs", "echo", "suffix", "background",
         "previous_response_id", "structured_outputs", "guided_json", "guided_choice",
         "guided_regex", "guided_grammar", "grammar", "regex", "ebnf", "json_schema",
         "structural_tag"),
        (None, False, ""),
    ),
    **dict.fromkeys(("tool_choice", "function_call"), (None, "none", "auto")),
    "modalities": (None, ["text"]),
}  # fmt: skip
"""Options that ask for another form of a reply, with their values that do not."""
_LONG: Final = 50_000
"""The length in characters from which a prompt is recognised in a thread, to not delay others."""


class Lenient(Row):
    """A request model that ignores unused fields, such as ``temperature``."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class StreamOptions(Lenient):
    """Whether a stream ends with the usage."""

    include_usage: bool | None = None


def _as_tuple(value: object) -> object:
    return [value] if isinstance(value, str) else value


class ReplyOptions(Lenient):
    """The options of a reply in both endpoints."""

    model: str
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] | None = None

    @property
    def most_tokens(self) -> float:
        """The longest allowed reply, in tokens."""
        return self.max_tokens or math.inf

    def allows(self, text: str) -> bool:
        """Whether a text is within ``max_tokens``, and has no stop inside."""
        stopped = any(stop in text for stop in self.stop or () if stop)
        return not stopped and estimate_tokens(text) <= self.most_tokens

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)


RequestT = TypeVar("RequestT", bound=ReplyOptions)


async def asked_of(request: Request, model: type[RequestT]) -> RequestT:
    """What a request of an endpoint asks, without options that its reply could not follow.

    Raises:
        RequestError: a field is missing or wrong.
        UnsupportedError: it asks for another form of the reply, such as the call of a tool.

    """
    body = await read_object(request)
    for name, plain in _OTHER_FORMS.items():
        if body.get(name) not in plain:
            what = "not supported by a judge, which replies with the text that the prompt asks for"
            raise UnsupportedError(f"{name}: {what}; leave it out", name)
    return valid(model, body)


class ResponseFormat(Lenient):
    """Plain text, or JSON by the template's schema."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: dict[str, Any] | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    """The schema by itself, as ``/v1/responses`` has it."""

    def check(self, template: Template) -> None:
        """Refuse a format that the replies of the template cannot follow."""
        if self.type == "text":
            return
        schema = template.json_schema
        if schema is None:
            raise UnsupportedError(
                f"response_format: the prompt was recognised as one of {template.callers} "
                f"(template {template.name}), which reads a text and no JSON; leave it out, or "
                "send the fields to POST /v1/judge, which replies with JSON",
                "response_format",
            )
        present = schema.get("properties", {})
        asked = (self.schema_ or (self.json_schema or {}).get("schema") or {}).get("required") or ()
        if missing := [name for name in asked if name not in present]:
            raise UnsupportedError(
                f"response_format: replies to {template.name} have the fields "
                f"{', '.join(present)}, not {', '.join(map(str, missing))}; remove these",
                "response_format",
            )


class ReplyContent(NamedTuple):
    """The content of a reply; ``why`` holds reasons that the content leaves out.

    ``extra`` is the value of the reply's field ``gradegpt``.
    """

    content: str
    why: str
    prompt_tokens: int
    completion_tokens: int
    extra: dict[str, Any]

    @classmethod
    def of(
        cls,
        reply: WrittenReply,
        judgement: Judgement | None,
        wanted: ReplyOptions,
        extra: Mapping[str, Any],
    ) -> ReplyContent:
        """The whole reply where it fits the options, else its core.

        The core is never cut: some parsers read a heading or a fence without its content as the
        wrong verdict.
        """
        whole = reply.whole
        content = whole if whole and wanted.allows(whole) else reply.core
        why = "" if content == reply.whole else reply.why
        if judgement is None:
            return cls(content, why, 0, math.ceil(estimate_tokens(content)), {**extra})
        made = {**judgement.model_dump(mode="json"), **extra, "replied": reply.replied}
        return cls(content, why, judgement.prompt_tokens, judgement.completion_tokens, made)


def sent(asked: ReplyOptions, whole: dict[str, Any], events: Iterator[str]) -> Response:
    """A reply whole or as server-sent events, as it was asked for."""
    if asked.stream:
        return StreamingResponse(events, media_type="text/event-stream")
    return JSONResponse(whole)


async def answers(
    request: Request,
    conversations: Sequence[Sequence[Message]],
    wanted: ReplyOptions,
    response_format: ResponseFormat | None = None,
) -> list[ReplyContent]:
    """The reply to each of ``conversations``, in order.

    Raises:
        PromptError: a prompt belongs to no known template, or cannot be judged.
        NoVerdictError: there is no verdict and the template has no reply for that.
        EngineError: the judge's engine failed.
        ClientDisconnect: the client left.

    """
    work = _answers(request, conversations, wanted, response_format or ResponseFormat())
    return await until_disconnect(request, work)


async def _answers(
    request: Request,
    conversations: Sequence[Sequence[Message]],
    wanted: ReplyOptions,
    form: ResponseFormat,
) -> list[ReplyContent]:
    service, note = service_of(request), note_of(request)
    asks = [await recognised(service, messages) for messages in conversations]
    families = {ask.template.name for ask in asks}
    note.family = families.pop() if len(families) == 1 else "several"
    for ask in asks:
        form.check(ask.template)
    # In a thread, as an extraction takes time.
    extracted = [
        None if ask.template.judges else await run_in_threadpool(ask.extraction) for ask in asks
    ]
    items = [ask.item() for ask, reply in zip(asks, extracted, strict=True) if reply is None]
    judgements = await service.scheduler.judge(items) if items else []
    note.judged(judgements)
    left, made = iter(judgements), []
    for ask, extraction in zip(asks, extracted, strict=True):
        reply, judgement = extraction, None
        if reply is None:
            judgement = next(left)
            reply = _reply(service, note, ask, judgement, as_json=form.type != "text")
        beside = {"adapter": ask.template.name, "fingerprint": service.scheduler.fingerprint}
        made.append(ReplyContent.of(reply, judgement, wanted, beside))
    return made


def _reply(
    service: Service, note: Note, ask: Ask, judgement: Judgement, *, as_json: bool
) -> WrittenReply:
    """The reply to one judgement, which is counted if the judge has not decided."""
    try:
        reply = ask.reply(judgement, undecided=service.settings.undecided, as_json=as_json)
    except NoVerdictError:
        service.undecided(note, ask.template.name, "refuse")
        raise
    if judgement.outcome is not Outcome.JUDGED:
        service.undecided(note, ask.template.name, reply.replied)
    return reply


async def recognised(service: Service, messages: Sequence[Message]) -> Ask:
    """The recognised prompt. Raises ``RequestError``; where such prompts are kept, it says so."""
    if not any(message.content.strip() for message in messages if message.role != "system"):
        raise RequestError("the message is empty: there is no prompt")
    known = partial(find, messages, service.templates)
    characters = sum(len(message.content) for message in messages)
    try:
        return await run_in_threadpool(known) if characters > _LONG else known()
    except UnknownPromptError as error:
        if service.refused is None:
            raise
        kept = await run_in_threadpool(service.refused.keep, messages)
        raise UnknownPromptError(f"{error}; {kept}") from error


def usage_of(replies: Iterable[ReplyContent]) -> dict[str, int]:
    """The tokens of several replies, as OpenAI counts them."""
    both = [(reply.prompt_tokens, reply.completion_tokens) for reply in replies]
    prompt, completion = sum(p for p, _ in both), sum(c for _, c in both)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
