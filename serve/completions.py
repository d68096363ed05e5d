"""POST /v1/chat/completions and /v1/completions: answer a pipeline's prompt for its parser.

The whole judgement is in the field ``gradegpt``, and reasons that the content leaves out are in
``reasoning_content``; clients that do not know these fields ignore them.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, Field
from typing_extensions import override

from gradegpt.core.errors import TooLargeError
from gradegpt.core.schema import Message

from .answer import (
    Lenient,
    ReplyContent,
    ReplyOptions,
    ResponseFormat,
    answers,
    asked_of,
    sent,
    usage_of,
)
from .errors import RequestError, UnsupportedError
from .openapi import documented
from .service import service_of

router = APIRouter(tags=["openai"])
ALIASES: Final = (
    "/chat/completions", "/v1", "/v1/chat/completions/chat/completions",
)  # fmt: skip
"""Paths of clients whose base URL lacks ``/v1``, is used without a path, or already has the path.

VLMEvalKit reads one variable, for most data sets as the whole URL, for two as the base URL.
"""
DONE: Final = "data: [DONE]\n\n"


class TextPart(Lenient):
    """A piece of a message's text; of another kind it has none."""

    type: str
    text: str | None = None


def _as_parts(value: object) -> object:
    if not isinstance(value, str | list):
        raise ValueError("expected text, or a list of text parts")
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


MessageContent = Annotated[
    list[TextPart], BeforeValidator(_as_parts, json_schema_input_type=str | list[TextPart])
]


class ChatMessage(Lenient):
    """A message; its content is text, or text in parts of these ``kinds``."""

    kinds: ClassVar[tuple[str, ...]] = ("text",)
    role: str
    content: MessageContent

    def read(self, where: str) -> Message:
        """The message with its content as one text."""
        texts = []
        for at, part in enumerate(self.content):
            if part.type not in self.kinds:
                raise UnsupportedError(f"{where}: a part of type {part.type!r}; send text", where)
            if part.text is None:
                raise RequestError(f"{where}.{at}.text: field required", f"{where}.{at}.text")
            texts.append(part.text)
        return Message(role=self.role, content="".join(texts))


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
    asked = await asked_of(request, ChatRequest)
    messages = [m.read(f"messages.{at}.content") for at, m in enumerate(asked.messages)]
    [reply] = await answers(request, [messages], asked, asked.response_format)
    made = ChatCompletion(head(asked, request, "chatcmpl"), asked, reply)
    return sent(asked, made.whole(), made.events())


for alias in ALIASES:
    router.add_api_route(alias, chat, methods=["POST"], include_in_schema=False)


def head(asked: ReplyOptions, request: Request, prefix: str) -> dict[str, Any]:
    """The first fields of every reply and event."""
    return {
        "id": f"{prefix}-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": asked.model,
        "system_fingerprint": service_of(request).scheduler.fingerprint,
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
        choice = {"message": message, "logprobs": None, "finish_reason": "stop"}
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
            yield self._event(index, {}, finish_reason="stop", gradegpt=self.reply.extra)
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


def _as_texts(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("expected text, or a list of texts; token ids are not supported")
    return value


class CompletionRequest(ReplyOptions):
    """A request for completions of one or several prompts."""

    prompt: Annotated[
        list[str],
        BeforeValidator(_as_texts, json_schema_input_type=str | list[str]),
        Field(min_length=1),
    ]


@router.post("/v1/completions", **documented(CompletionRequest))
async def complete(request: Request) -> Response:
    """Judge the item in each raw prompt, and answer in the form of its family."""
    asked = await asked_of(request, CompletionRequest)
    most = service_of(request).settings.max_items
    choices = len(asked.prompt) * (asked.n or 1)
    if choices > most:
        raise TooLargeError(
            f"prompt: {choices:,} prompts, counted n times, are more than {most:,} "
            "per request; send several requests, or start the server with a larger max_items"
        )
    conversations = [[Message(role="user", content=text)] for text in asked.prompt]
    replies = await answers(request, conversations, asked)
    made = Completion(head(asked, request, "cmpl"), asked, replies)
    return sent(asked, made.whole(), made.events())


class Completion(NamedTuple):
    """A text completion, sent whole or as a stream."""

    head: dict[str, Any]
    asked: CompletionRequest
    replies: list[ReplyContent]

    def whole(self) -> dict[str, Any]:
        """The whole reply: ``n`` equal choices per prompt, in the order of the prompts.

        ``gradegpt`` is the judgement, or a list of them for several prompts.
        """
        extras = [reply.extra for reply in self.replies]
        return {
            **self.head,
            "object": "text_completion",
            "choices": [choice for choice, _ in self._choices()],
            "usage": usage_of(self.replies),
            "gradegpt": extras[0] if len(extras) == 1 else extras,
        }

    def events(self) -> Iterator[str]:
        """The reply as server-sent events, one per choice, each with its judgement."""
        top = {**self.head, "object": "text_completion"}
        for choice, extra in self._choices():
            yield event({**top, "choices": [choice], "gradegpt": extra})
        if self.asked.includes_usage:
            yield event({**top, "choices": [], "usage": usage_of(self.replies)})
        yield DONE

    def _choices(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        n = self.asked.n or 1
        for index in range(n * len(self.replies)):
            reply = self.replies[index // n]
            why = {"reasoning_content": reply.why} if reply.why else {}
            choice = {
                "index": index,
                "text": reply.content,
                "logprobs": None,
                "finish_reason": "stop",
                **why,
            }
            yield choice, reply.extra
