"""POST /v1/completions: the same prompts as raw text, one or many a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BeforeValidator, Field

from gradegpt.errors import TooLargeError
from gradegpt.schema import Message

from .answer import Said, Wanted, answers, usage_of
from .body import read_object, valid
from .chat import DONE, event, head
from .errors import UnsupportedError
from .openapi import documented
from .settings import ServeSettings

router = APIRouter(tags=["openai"])


def _as_texts(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("expected text, or a list of texts; token ids are not read")
    return value


class CompletionRequest(Wanted):
    """A request for completions of one or several prompts."""

    prompt: Annotated[
        list[str],
        BeforeValidator(_as_texts, json_schema_input_type=str | list[str]),
        Field(min_length=1),
    ]
    echo: bool | None = None


@router.post("/v1/completions", **documented(CompletionRequest))
async def complete(request: Request) -> Response:
    """Judge what each of several raw prompts asks, and answer in its form."""
    settings: ServeSettings = request.app.state.settings
    asked = valid(CompletionRequest, await read_object(request))
    if asked.echo:
        raise UnsupportedError("echo: a judge gives its verdict alone; leave it out", "echo")
    choices = len(asked.prompt) * (asked.n or 1)
    if choices > settings.max_items:
        raise TooLargeError(
            f"prompt: {choices:,} of them, at most {settings.max_items:,} a request, and each "
            "counts n times; send several requests, or start the server with a larger max_items"
        )
    conversations = [[Message(role="user", content=text)] for text in asked.prompt]
    said = await answers(request, conversations, asked)
    completion = Completion(head(asked, request, "cmpl"), asked, said)
    if asked.stream:
        return StreamingResponse(completion.events(), media_type="text/event-stream")
    return JSONResponse(completion.whole())


class Completion(NamedTuple):
    """A text completion, to be sent whole or as a stream. Each choice carries its judgement."""

    head: dict[str, Any]
    asked: CompletionRequest
    said: list[Said]

    def whole(self) -> dict[str, Any]:
        """The whole reply: ``n`` equal choices a prompt, prompt after prompt."""
        return {
            **self.head,
            "object": "text_completion",
            "choices": list(self._choices()),
            "usage": usage_of(self.said),
        }

    def events(self) -> Iterator[str]:
        """The reply as server-sent events, one a choice."""
        top = {**self.head, "object": "text_completion"}
        for choice in self._choices():
            yield event({**top, "choices": [choice]})
        if self.asked.includes_usage:
            yield event({**top, "choices": [], "usage": usage_of(self.said)})
        yield DONE

    def _choices(self) -> Iterator[dict[str, Any]]:
        n = self.asked.n or 1
        for index in range(n * len(self.said)):
            said = self.said[index // n]
            why = {"reasoning_content": said.why} if said.why else {}
            yield {
                "index": index,
                "text": said.content,
                "logprobs": None,
                "finish_reason": said.ended,
                **why,
                "gradegpt": said.beside,
            }
