"""POST /v1/completions: the same prompts as raw text, one or several per request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, Field

from gradegpt.errors import TooLargeError
from gradegpt.schema import Message

from .answer import ReplyContent, ReplyOptions, answered, answers, sent, usage_of
from .body import valid
from .chat import DONE, event, head
from .errors import UnsupportedError
from .logs import Note
from .openapi import documented
from .service import Service

router = APIRouter(tags=["openai"])


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
    echo: bool | None = None


@router.post("/v1/completions", **documented(CompletionRequest))
async def complete(request: Request) -> Response:
    """Judge the item in each raw prompt, and answer in the form of its family."""
    made = await answered(request, completed)
    return sent(made.asked, made.whole, made.events)


async def completed(service: Service, note: Note, body: dict[str, Any]) -> Completion:
    """The reply to the body of a request."""
    asked, most = valid(CompletionRequest, body), service.settings.max_items
    if asked.echo:
        raise UnsupportedError("echo: not supported by a judge; leave it out", "echo")
    choices = len(asked.prompt) * (asked.n or 1)
    if choices > most:
        raise TooLargeError(
            f"prompt: {choices:,} prompts, counted n times, are more than {most:,} "
            "per request; send several requests, or start the server with a larger max_items"
        )
    conversations = [[Message(role="user", content=text)] for text in asked.prompt]
    replies = await answers(service, note, conversations, asked)
    return Completion(head(asked, service, "cmpl"), asked, replies)


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
                "finish_reason": reply.finish_reason,
                **why,
            }
            yield choice, reply.extra
