"""POST /v1/responses: the same prompts in the form of OpenAI's newer API, whole or streamed.

Nothing is stored: a request holds its whole conversation, and no reply can be fetched later.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, Field
from typing_extensions import override

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
from .completions import ChatMessage, MessageContent
from .errors import UnsupportedError
from .openapi import documented

router = APIRouter(tags=["openai"])


class InputMessage(ChatMessage):
    """An item of the input, which is a message or is refused."""

    kinds = ("input_text", "output_text", "text")
    type: str = "message"
    role: str = ""
    content: MessageContent = Field(default_factory=list)

    @override
    def read(self, where: str) -> Message:
        if self.type != "message":
            raise UnsupportedError(f"{where}: an item of type {self.type!r}; send messages", where)
        return super().read(where)


class TextOptions(Lenient):
    """The format of the text."""

    format: ResponseFormat | None = None


def _as_messages(value: object) -> object:
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class ResponsesRequest(ReplyOptions):
    """A request for a response."""

    input: Annotated[
        list[InputMessage],
        BeforeValidator(_as_messages, json_schema_input_type=str | list[InputMessage]),
        Field(min_length=1),
    ]
    instructions: str | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    text: TextOptions | None = None

    @property
    @override
    def most_tokens(self) -> float:
        """The longest allowed reply, in tokens."""
        return self.max_output_tokens or math.inf

    def messages(self) -> list[Message]:
        """The conversation, with the instructions as its system message."""
        system = [Message(role="system", content=self.instructions)] if self.instructions else []
        return [*system, *(item.read(f"input.{at}") for at, item in enumerate(self.input))]


@router.post("/v1/responses", **documented(ResponsesRequest))
async def respond(request: Request) -> Response:
    """Judge the item in a scoring pipeline's prompt, and answer in the pipeline's form."""
    asked = await asked_of(request, ResponsesRequest)
    form = asked.text.format if asked.text else None
    [reply] = await answers(request, [asked.messages()], asked, form)
    made = ModelResponse(uuid.uuid4().hex, int(time.time()), asked, reply)
    return sent(asked, made.whole(), made.events())


class ModelResponse(NamedTuple):
    """A response, sent whole or as a stream."""

    id: str
    created: int
    asked: ResponsesRequest
    reply: ReplyContent

    def whole(self) -> dict[str, Any]:
        """The whole response; the judgement is in ``gradegpt``."""
        usage = usage_of([self.reply])
        return {
            **self._begun(),
            "status": "completed",
            "output": [self._message(self._part(self.reply.content))],
            "usage": {
                "input_tokens": usage["prompt_tokens"],
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": usage["completion_tokens"],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage["total_tokens"],
            },
            "gradegpt": self.reply.extra,
        }

    def events(self) -> Iterator[str]:
        """The response as server-sent events; the last one has the whole."""
        for number, (name, fields) in enumerate(self._events()):
            value = {"type": f"response.{name}", "sequence_number": number, **fields}
            yield f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"

    def _events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        text, whole = self.reply.content, self.whole()
        item = {"output_index": 0}
        part = {**item, "content_index": 0, "item_id": f"msg_{self.id}"}
        yield "created", {"response": self._begun()}
        yield "in_progress", {"response": self._begun()}
        yield "output_item.added", {**item, "item": {**self._message(), "status": "in_progress"}}
        yield "content_part.added", {**part, "part": self._part("")}
        for line in text.splitlines(keepends=True):
            yield "output_text.delta", {**part, "delta": line, "logprobs": []}
        yield "output_text.done", {**part, "text": text, "logprobs": []}
        yield "content_part.done", {**part, "part": self._part(text)}
        yield "output_item.done", {**item, "item": whole["output"][0]}
        yield "completed", {"response": whole}

    def _begun(self) -> dict[str, Any]:
        given = self.asked.text and self.asked.text.format
        return {
            "id": f"resp_{self.id}",
            "object": "response",
            "created_at": self.created,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": self.asked.instructions,
            "max_output_tokens": self.asked.max_output_tokens,
            "model": self.asked.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "temperature": None,
            "text": {"format": {"type": given.type if given else "text"}},
            "tool_choice": "none",
            "tools": [],
            "top_p": None,
            "usage": None,
        }

    def _message(self, *parts: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{self.id}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": list(parts),
        }

    @staticmethod
    def _part(text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
