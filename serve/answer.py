"""Answers a caller's prompt in the form that its parser reads, whichever OpenAI endpoint it uses.

A verdict is never invented and never cut off: a rationale gives way to ``max_tokens`` and ``stop``,
the words that carry the verdict do not. Where the judge could not be asked there is an HTTP error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import Request
from pydantic import BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from gradegpt.errors import TooLargeError
from gradegpt.fit import estimate_tokens
from gradegpt.schema import Judgement, Message, Row

from .adapters import Adapter, Ask, PromptError, find
from .adapters.reply import Reply
from .body import check_lengths, while_there
from .errors import ModelNameError, UnsupportedError
from .logs import note_of
from .scheduler import BatchScheduler
from .settings import ServeSettings

MOST_CHOICES: Final = 128
"""OpenAI's own limit of ``n``."""
_LONG: Final = 50_000
"""Characters from which on a prompt is looked at in a thread, so that others need not wait."""


class Lenient(Row):
    """What clients send, of which we read a part: ``temperature`` and the like are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class StreamOptions(Lenient):
    """Whether usage comes at the end of a stream."""

    include_usage: bool | None = None


def _as_tuple(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Wanted(Lenient):
    """What both endpoints let a caller ask of a reply."""

    model: str
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] | None = None

    @property
    def most_tokens(self) -> float:
        """The longest reply that is wanted, in tokens."""
        return self.max_tokens or math.inf

    def cut(self, text: str) -> str:
        """What stands before the first of the stops."""
        return min(
            (text.partition(stop)[0] for stop in self.stop or () if stop), key=len, default=text
        )

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)


class ResponseFormat(Lenient):
    """Plain text, or JSON after the family's schema."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: dict[str, Any] | None = None

    def check(self, adapter: Adapter | None) -> None:
        """Refuse what the replies of a family, or of the engine itself, cannot follow."""
        if self.type == "text":
            return
        if adapter is None or adapter.schema is None:
            whom = adapter.name if adapter else "a prompt of no family"
            raise UnsupportedError(
                f"response_format: replies to {whom} are text; leave it out", "response_format"
            )
        there = adapter.schema.get("properties", {})
        asked = ((self.json_schema or {}).get("schema") or {}).get("required") or ()
        if lacking := [name for name in asked if name not in there]:
            raise UnsupportedError(
                f"response_format: replies to {adapter.name} hold {', '.join(there)}, "
                f"not {', '.join(map(str, lacking))}",
                "response_format",
            )


class Said(NamedTuple):
    """What a caller is told. ``why`` is what the content leaves out of the reasons.

    ``ended`` is OpenAI's ``finish_reason``.
    """

    content: str
    why: str
    prompt_tokens: int
    completion_tokens: int
    beside: dict[str, Any]
    ended: Literal["stop", "length"] = "stop"

    @classmethod
    def of(cls, reply: Reply, wanted: Wanted, judgement: Judgement | None, **beside: Any) -> Said:
        """The whole reply where it fits what is wanted, else the core."""
        content = fitted(reply, wanted)
        why = "" if content == reply.whole else reply.why
        if judgement is None:
            return cls(content, why, 0, math.ceil(estimate_tokens(content)), beside)
        made = {**judgement.model_dump(mode="json"), **beside}
        return cls(content, why, judgement.prompt_tokens, judgement.completion_tokens, made)


def fitted(reply: Reply, wanted: Wanted) -> str:
    """The whole reply where it keeps within what is wanted, else its core.

    The core is never cut: a heading or a fence without what follows is read as a verdict by some
    parsers, and as the wrong one.
    """
    whole = reply.whole
    if whole is None or estimate_tokens(whole) > wanted.most_tokens:
        return reply.core
    return whole if wanted.cut(whole) == whole else reply.core


async def answers(
    request: Request,
    conversations: Sequence[Sequence[Message]],
    wanted: Wanted,
    response_format: ResponseFormat | None = None,
) -> list[Said]:
    """What is said to each of ``conversations``, in order.

    Raises:
        PromptError: one is of no family that is known here, and such are refused.
        NoVerdictError: nothing was decided and its family has no word for that.
        EngineError: the judge could not be asked.

    """
    settings: ServeSettings = request.app.state.settings
    check_model(wanted.model, settings)
    asks = [await recognised(request, messages) for messages in conversations]
    form, note = response_format or ResponseFormat(), note_of(request)
    families = {ask.adapter.name if ask else "none" for ask in asks}
    note.family = families.pop() if len(families) == 1 else "several"
    note.content = conversations
    work = _all(request, asks, conversations, wanted, form)
    return await while_there(request, work)


async def _all(
    request: Request,
    asks: Sequence[Ask | None],
    conversations: Sequence[Sequence[Message]],
    wanted: Wanted,
    form: ResponseFormat,
) -> list[Said]:
    scheduler: BatchScheduler = request.app.state.scheduler
    settings: ServeSettings = request.app.state.settings
    extracted = [ask.extraction() if ask else None for ask in asks]
    judging = [
        (at, ask) for at, ask in enumerate(asks) if ask is not None and extracted[at] is None
    ]
    for ask in asks:
        form.check(ask.adapter if ask else None)
    items = [ask.item() for _, ask in judging]
    check_lengths(items, settings.max_response_characters, several=False)
    judgements = await scheduler.judge(items) if items else []
    note_of(request).judged(judgements)
    made: dict[int, Said] = {}
    for (at, judged), judgement in zip(judging, judgements, strict=True):
        reply = judged.reply(judgement, undecided=settings.undecided, as_json=form.type != "text")
        made[at] = Said.of(reply, wanted, judgement, **_beside(scheduler, judged))
    for at, (ask, extraction) in enumerate(zip(asks, extracted, strict=True)):
        if ask is None:
            made[at] = await _passed_on(scheduler, conversations[at], wanted, settings)
        elif extraction is not None:
            made[at] = Said.of(extraction, wanted, None, **_beside(scheduler, ask))
    return [made[at] for at in range(len(asks))]


async def _passed_on(
    scheduler: BatchScheduler, messages: Sequence[Message], wanted: Wanted, settings: ServeSettings
) -> Said:
    """What the engine says to a prompt that is nobody's. It is not called a judgement."""
    most = int(min(wanted.most_tokens, settings.judge.max_new_tokens))
    said = await scheduler.generate(messages, most)
    content = wanted.cut(said.text)
    beside = {"adapter": None, "fingerprint": scheduler.fingerprint}
    full = content == said.text and said.completion_tokens >= most
    ended: Final = "length" if full else "stop"
    return Said(content, "", said.prompt_tokens, said.completion_tokens, beside, ended)


async def recognised(request: Request, messages: Sequence[Message]) -> Ask | None:
    """Whose prompt it is; none for one that is passed on to the engine."""
    settings: ServeSettings = request.app.state.settings
    adapters: tuple[Adapter, ...] = request.app.state.adapters
    characters = sum(len(message.content) for message in messages)
    if characters > settings.max_prompt_characters:
        raise TooLargeError(
            f"the prompt has {characters:,} characters, at most "
            f"{settings.max_prompt_characters:,} are read; shorten it, "
            "or start the server with a larger max_prompt_characters"
        )
    try:
        if characters > _LONG:
            return await run_in_threadpool(find, messages, adapters)
        return find(messages, adapters)
    except PromptError:
        scheduler: BatchScheduler = request.app.state.scheduler
        if settings.unrecognised == "pass" and scheduler.generates:
            return None
        raise


def check_model(name: str, settings: ServeSettings) -> None:
    """Refuse a model's name that is not served, where names matter."""
    if not settings.any_model and name != settings.served_model_name:
        raise ModelNameError(
            f"model {name!r} is not served here; {settings.served_model_name!r} is "
            "(served_model_name in the server's settings; any_model=true takes every name)",
            "model",
        )


def usage_of(said: Iterable[Said]) -> dict[str, int]:
    """The tokens of several replies, as OpenAI counts them."""
    both = [(one.prompt_tokens, one.completion_tokens) for one in said]
    prompt, completion = sum(p for p, _ in both), sum(c for _, c in both)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _beside(scheduler: BatchScheduler, ask: Ask) -> dict[str, Any]:
    return {"adapter": ask.adapter.name, "fingerprint": scheduler.fingerprint}
