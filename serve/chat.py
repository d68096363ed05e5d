"""POST /v1/chat/completions: answer a scoring pipeline's prompt in the form of its parser.

The whole judgement is in the field ``gradegpt``, and reasons that the content leaves out are in
``reasoning_content``; clients that do not know these fields ignore them.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, Field
from typing_extensions import override

from gradegpt.schema import Message

from .answer import (
    Lenient,
    ReplyContent,
    ReplyOptions,
    ResponseFormat,
    answered,
    answers,
    sent,
    usage_of,
)
from .body import valid
from .errors import UnsupportedError
from .logs import Note
from .openapi import documented
from .service import Service

router = APIRouter(tags=["openai"])
ALIASES: Final = (
    "/chat/completions", "/v1", "/v1/chat/completions/chat/completions",
)  # fmt: skip
"""Paths of clients whose base URL lacks ``/v1``, is used without a path, or already has the path.

VLMEvalKit reads one variable, for most data sets as the whole URL, for two as the base URL.
"""
DONE: Final = "data: [DONE]\n\n"


class TextPart(Lenient):
    """A piece of a message's text."""

    type: str
    text: str = ""


def as_parts(value: object) -> object:
    """Text as a list of one part; a list as it is."""
    if not isinstance(value, str | list):
        raise ValueError("expected text, or a list of text parts")
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class ChatMessage(Lenient):
    """A message; its content is text, or text in parts."""

    role: str
    content: Annotated[
        list[TextPart],
        BeforeValidator(as_parts, json_schema_input_type=str | list[TextPart]),
    ]

    def read(self, where: str) -> Message:
        """The message with its content as one text."""
        for part in self.content:
            if part.type != "text":
                raise UnsupportedError(f"{where}: a part of type {part.type!r}; send text", where)
        return Message(role=self.role, content="".join(part.text for part in self.content))


class ChatRequest(ReplyOptions):
    """A request for a chat completion."""

    messages: list[ChatMessage] = Field(min_length=1)
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: ResponseFormat | None = None

    @property
    @override
    def most_tokens(self) -> float:
        """The longest allowed reply, in tokens."""
        return self.max_completion_tokens or self.max_tokens or math.inf


@router.post("/v1/chat/completions", **documented(ChatRequest))
async def chat(request: Request) -> Response:
    """Judge the item in a scoring pipeline's prompt, and answer in the pipeline's form."""
    made = await answered(request, completed)
    return sent(made.asked, made.whole, made.events)


for alias in ALIASES:
    router.add_api_route(alias, chat, methods=["POST"], include_in_schema=False)


async def completed(service: Service, note: Note, body: dict[str, Any]) -> ChatCompletion:
    """The reply to the body of a request."""
    asked = valid(ChatRequest, body)
    messages = [m.read(f"messages.{at}.content") for at, m in enumerate(asked.messages)]
    [reply] = await answers(service, note, [messages], asked, asked.response_format)
    return ChatCompletion(head(asked, service, "chatcmpl"), asked, reply)


def head(asked: ReplyOptions, service: Service, prefix: str) -> dict[str, Any]:
    """The first fields of every reply and event."""
    return {
        "id": f"{prefix}-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": asked.model,
        "system_fingerprint": service.scheduler.fingerprint,
    }


class ChatCompletion(NamedTuple):
    """A chat completion, sent whole or as a stream."""

    head: dict[str, Any]
    asked: ChatRequest
    reply: ReplyContent

    @property
    def _choices(self) -> range:
        return range(self.asked.n or 1)

    def whole(self) -> dict[str, Any]:
        """The whole reply; its ``n`` choices are equal, as a judge is deterministic."""
        message = {"role": "assistant", "content": self.reply.content, "refusal": None}
        if self.reply.why:
            message["reasoning_content"] = self.reply.why
        choice = {"message": message, "logprobs": None, "finish_reason": self.reply.finish_reason}
        return {
            **self.head,
            "object": "chat.completion",
            "choices": [{"index": index, **choice} for index in self._choices],
            "usage": usage_of([self.reply]),
            "gradegpt": self.reply.extra,
        }

    def events(self) -> Iterator[str]:
        """The reply as server-sent events, one per line; the last one has the judgement."""
        for index in self._choices:
            yield self._event(index, {"role": "assistant", "content": ""})
            if self.reply.why:
                yield self._event(index, {"reasoning_content": self.reply.why})
            for line in self.reply.content.splitlines(keepends=True):
                yield self._event(index, {"content": line})
            yield self._event(
                index, {}, finish_reason=self.reply.finish_reason, gradegpt=self.reply.extra
            )
        if self.asked.includes_usage:
            yield event({**self._chunk(), "choices": [], "usage": usage_of([self.reply])})
        yield DONE

    def _event(
        self, index: int, delta: dict[str, str], finish_reason: str | None = None, **more: Any
    ) -> str:
        choice = {
            "index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason
        }  # fmt: skip
        return event({**self._chunk(), "choices": [choice], **more})

    def _chunk(self) -> dict[str, Any]:
        return {**self.head, "object": "chat.completion.chunk"}


def event(value: dict[str, Any]) -> str:
    """A server-sent event."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"
