"""The OpenAI form: a chat request with a GradeGPT prompt in, a chat completion with a chain out.

A verdict is never invented and never cut off. Where none was reached, the reply says so and holds
no tag; where the judge could not be asked, there is an HTTP error; a chain over ``max_tokens``
gives way to its tag alone. The whole judgement is beside the reply, in ``gradegpt``.
"""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from gradegpt.chain import NO, YES, defuse, parse_prompt
from gradegpt.errors import EngineError, EngineTimeoutError
from gradegpt.fit import estimate_tokens
from gradegpt.schema import Item, Judgement, Message, Outcome, Row, Verdict
from serve.errors import RequestError, UnsupportedError

HOW_A_PROMPT_LOOKS: Final = (
    "the last message is no GradeGPT prompt. It must read, line by line: "
    "'Question: <question>', the question, '</question>', "
    "'Reference Answer: <reference>', the answer, '</reference>', "
    "'Model Response: <response>', the response, '</response>', 'Judgment Result:'. "
    "gradegpt.chain.build_prompt writes it; POST /v1/judge takes the parts as fields instead"
)


class _Lenient(Row):
    """What clients send, of which we read a part: ``temperature`` and the like are ignored."""

    model_config = ConfigDict(extra="ignore")


class TextPart(_Lenient):
    """A piece of a message's text."""

    type: str
    text: str = ""


def _as_parts(value: object) -> object:
    if not isinstance(value, str | list):
        raise ValueError("expected text, or a list of text parts")
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class ChatMessage(_Lenient):
    """A message; its content is text, or text in parts."""

    role: str
    content: Annotated[list[TextPart], BeforeValidator(_as_parts)]

    def text(self, where: str) -> str:
        """The content as one text."""
        for part in self.content:
            if part.type != "text":
                raise UnsupportedError(f"{where}: a part of type {part.type!r}; send text", where)
        return "".join(part.text for part in self.content)


class StreamOptions(_Lenient):
    """Whether usage comes at the end of a stream."""

    include_usage: bool = False


class ChatRequest(_Lenient):
    """A request for a chat completion."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    n: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)

    @property
    def most_tokens(self) -> float:
        """The longest reply that is wanted, in tokens."""
        return self.max_completion_tokens or self.max_tokens or math.inf


def read_item(request: ChatRequest) -> Item:
    """The item inside the prompt.

    Raises:
        UnsupportedError: more than one reply is asked for, or a message is not text.
        RequestError: the last message is no GradeGPT prompt.

    """
    if request.n not in (None, 1):
        raise UnsupportedError(
            f"n: {request.n}; a judge gives one judgement, so n must be 1 or left out", "n"
        )
    last = len(request.messages) - 1
    message = request.messages[last]
    text = message.text(f"messages.{last}.content")
    try:
        item = parse_prompt([Message(role=message.role, content=text)])
    except ValidationError as error:
        raise RequestError.of(error) from error
    if item is None:
        raise RequestError(f"messages.{last}.content: {HOW_A_PROMPT_LOOKS}", "messages")
    return item


def content_of(judgement: Judgement, most_tokens: float = math.inf) -> str:
    """What the assistant says.

    Raises:
        EngineError: the judge could not be asked.

    """
    match judgement.outcome:
        case Outcome.FAILED:
            timeout = judgement.reason.startswith("engine:timeout")
            raise (EngineTimeoutError if timeout else EngineError)(judgement.reason)
        case Outcome.JUDGED:
            tag = YES if judgement.verdict is Verdict.CORRECT else NO
            fits = judgement.chain is not None and _tokens(judgement) <= most_tokens
            return judgement.chain if judgement.chain is not None and fits else tag
        case Outcome.UNDECIDED | Outcome.UNPARSED:
            # A reason may quote the model; its tags must not pose as a verdict.
            why = f"{judgement.outcome.value}, {defuse(judgement.reason)}"
            return f"No verdict was reached ({why})."


def _tokens(judgement: Judgement) -> float:
    return judgement.completion_tokens or estimate_tokens(judgement.chain or "")


class Reply(NamedTuple):
    """A chat completion, to be sent whole or as a stream."""

    head: dict[str, Any]
    content: str
    judgement: Judgement

    @classmethod
    def to(cls, request: ChatRequest, judgement: Judgement, *, fingerprint: str) -> Reply:
        """The reply to ``request``. Raises ``EngineError`` where the judge could not be asked."""
        head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": request.model,
            "system_fingerprint": fingerprint,
        }
        return cls(head, content_of(judgement, request.most_tokens), judgement)

    def completion(self) -> dict[str, Any]:
        """The whole reply."""
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": self.content, "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
        return {
            **self.head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(),
            "gradegpt": self.judgement.model_dump(mode="json"),
        }

    def events(self, request: ChatRequest) -> Iterator[str]:
        """The reply as server-sent events, one a line; the judgement comes with the last."""
        yield self._event({"role": "assistant", "content": ""})
        for line in self.content.splitlines(keepends=True):
            yield self._event({"content": line})
        judgement = self.judgement.model_dump(mode="json")
        yield self._event({}, finish_reason="stop", gradegpt=judgement)
        if request.stream_options is not None and request.stream_options.include_usage:
            yield _sse({**self._chunk(), "choices": [], "usage": self._usage()})
        yield "data: [DONE]\n\n"

    def _event(self, delta: dict[str, str], finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _sse({**self._chunk(), "choices": [choice], **more})

    def _chunk(self) -> dict[str, Any]:
        return {**self.head, "object": "chat.completion.chunk"}

    def _usage(self) -> dict[str, int]:
        prompt, completion = self.judgement.prompt_tokens, self.judgement.completion_tokens
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }


def _sse(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"
