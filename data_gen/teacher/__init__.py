"""A teacher: a large model, behind an OpenAI-compatible API or local, that writes chains.

    with Teacher(settings) as teacher:
        labels = teacher.label(items)
    manifest["teacher"] = teacher.meter.summary()

Requests start in the order of the items. Every reply is saved before it is used, so that a run
which was stopped, by its budget or otherwise, resumes without paying twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, Final, NamedTuple, Self

from gradegpt.chains.fit import cost
from gradegpt.chains.gloss import faithful
from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.schema import Item, Message
from gradegpt.core.shipped import base_of
from gradegpt.engines.base import Generation
from gradegpt.engines.client import Client, Failure

from .parse import BUDGET, REASON, TeacherLabel, read_reply
from .prompt import SHOWN, again, build_messages, gloss_messages
from .repair import translation
from .replies import CachedReply, Meter, ReplyCache, Usage, cache_key
from .settings import TeacherSettings

__all__ = ["Meter", "Teacher", "TeacherLabel", "TeacherSettings"]

MAX_RETRIES: Final = 4
GIVE_UP_AFTER: Final = 20
"""Number of consecutive failed requests after which the run ends with an error."""


_REPLY: Final = 150
_SECONDS: Final = 4
THINKING_TOKENS: Final = 8_192
"""Tokens for the thoughts of a model that was cut off, where its settings name no number."""


class _Request(NamedTuple):
    """A prompt, and how a reply to it is read: a value, or a reason against it."""

    messages: tuple[Message, ...]
    read: Callable[[str], Any]


class Asked:
    """A model that is asked: behind an API, or in this process, which runs one request at a time.

    Raises:
        MissingError: a package, a key or the model is missing.

    """

    def __init__(self, settings: TeacherSettings) -> None:
        self.thinks, self._thoughts = bool(settings.thinking_tokens), settings.thinking_tokens
        self._client, self._engine = None, None
        if settings.base_url:
            request = settings.model_copy(update={"thinking_tokens": 0})
            self._client = Client(
                settings.base_url, settings.model, api_key=_key(settings.api_key_env),
                timeout_s=settings.timeout_s, max_retries=MAX_RETRIES, request=request,
            )  # fmt: skip
            return
        from gradegpt.engines.local import LocalEngine

        self._engine, self._one = LocalEngine(base_of(settings.model)), Lock()

    def reply(self, messages: Sequence[Message], limit: int) -> Generation | Failure:
        """The reply of at most ``limit`` tokens; a second one if thoughts had no room in it."""
        thoughts = self._thoughts or THINKING_TOKENS
        found = self._generated(messages, limit + thoughts * self.thinks)
        if isinstance(found, Failure) or not found.cut_off or self.thinks:
            return found
        if found.text.strip() and "<think>" not in found.text:
            return found
        self.thinks = True
        return self._generated(messages, limit + thoughts)

    def _generated(self, messages: Sequence[Message], limit: int) -> Generation | Failure:
        if self._client is not None:
            found = self._client.chat(messages, limit, temperature=0.0)
            return found if isinstance(found, Failure) else found.generation
        assert self._engine is not None
        with self._one:
            (made,) = self._engine.generate([messages], max_new_tokens=limit)
        return made if isinstance(made, Generation) else Failure("engine", str(made))

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()


class Teacher:
    """Asks a model about items. A reply that cannot be used is asked for once more, with why.

    Raises:
        MissingError: a package, an API key or a local model is missing.
        OutputError: the cache cannot be opened.

    """

    def __init__(self, settings: TeacherSettings) -> None:
        self.settings = settings
        self.meter = Meter(settings)
        self._asked = Asked(settings)
        self._cache = ReplyCache(settings.cache)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections and the cache."""
        self._asked.close()
        self._cache.close()

    def estimate(self, items: Sequence[Item]) -> str:
        """What labelling the items will take: requests, tokens, money, and time, in words.

        Prompts are estimated, a reply is ``_REPLY`` tokens, and a request takes ``_SECONDS``.
        """
        settings, different = self.settings, {_identity(item): item for item in items}
        prompts = sum(
            cost(message.content) for item in different.values() for message in build_messages(item)
        )
        requests = len(different)
        minutes = requests * _SECONDS / (settings.concurrency if settings.base_url else 1) / 60
        money = prompts * settings.input_price + requests * _REPLY * settings.output_price
        costs = f"about {money / 1e6:.2f} by the prices given" if money else "no prices are given"
        return (
            f"{settings.model} labels {len(items):,} answers: {requests:,} requests, about "
            f"{prompts / 1e6:.1f} million tokens of prompts and {requests * _REPLY / 1e6:.2f} "
            f"million of replies, {costs}; some {max(1, round(minutes))} minutes if a request "
            f"takes {_SECONDS} seconds. Replies are kept in {settings.cache}: a run that is "
            "stopped pays for none twice."
        )

    def label(self, items: Sequence[Item]) -> list[TeacherLabel]:
        """The label of each item, in order; requests for equal items are made once.

        Once the budget is spent, no further request is sent: the remaining labels have the reason
        ``teacher:budget``, and ``meter.stopped`` holds the message.

        Raises:
            EngineError: ``GIVE_UP_AFTER`` requests to a model failed in a row.
            OutputError: the cache cannot be written.

        """
        different = {_identity(item): item for item in items}
        found = self._answers(
            _Request(
                build_messages(item),
                partial(read_reply, response=item.response, budget=SHOWN.response),
            )
            for item in different.values()
        )
        made = (
            TeacherLabel(None, said) if isinstance(said, str) else TeacherLabel(said)
            for said in found
        )
        labels = dict(zip(different, made, strict=True))
        return [labels[_identity(item)] for item in items]

    def glosses(self, quotes: Sequence[str]) -> list[str]:
        """The English of each quote, in order; empty where it is not faithful.

        Raises:
            EngineError, OutputError: as ``label``.

        """
        different = dict.fromkeys(quotes)
        found = self._answers(
            _Request(gloss_messages(quote), partial(_gloss, quote)) for quote in different
        )
        glosses = dict(zip(different, found, strict=True))
        return ["" if (made := glosses[quote]).startswith(REASON) else made for quote in quotes]

    def _answers(self, requests: Iterable[_Request]) -> Iterator[Any]:
        with ThreadPoolExecutor(self.settings.concurrency) as pool:
            yield from pool.map(self._answer, requests)

    def _answer(self, request: _Request) -> Any:
        """What was read of a reply, or of a second one; else the reason against the first."""
        made = first = self._read(request, request.messages)
        if isinstance(first[0], str) and first[0].startswith(REASON) and first[1] is not None:
            made = self._read(request, again(request.messages, first[1], first[0]))
        usable = not (isinstance(made[0], str) and made[0].startswith(REASON))
        if not usable and first[1] is not None:
            self.meter.rejected(first[0])
        return made[0] if usable else first[0]

    def _read(self, request: _Request, messages: tuple[Message, ...]) -> tuple[Any, str | None]:
        """What was read of the reply, and its text; a failed request has a reason and no text."""
        found = self._reply(messages)
        if isinstance(found, Failure):
            return found.reason, None
        return request.read(found.text), found.text

    def _reply(self, messages: tuple[Message, ...]) -> CachedReply | Failure:
        """The reply in the cache, or else of the model, within the budget."""
        key = cache_key(messages, self.settings)
        if (kept := self._cache.get(key)) is not None:
            self.meter.replied(kept.usage)
            return kept
        if stopped := self.meter.stopped:
            return Failure(BUDGET, stopped)
        if (failed := self.meter.failed_in_a_row) >= GIVE_UP_AFTER:
            raise EngineError(
                f"{failed} requests in a row failed, the last with {self.meter.last_failure}; "
                f"every reply so far is in {self.settings.cache}, run again to resume from there"
            )
        said = self._asked.reply(messages, self.settings.max_new_tokens)
        if isinstance(said, Failure):
            self.meter.failed(f"{REASON}{said.reason}", said.detail)
            return said._replace(reason=f"{REASON}{said.reason}")
        # A lone surrogate cannot be encoded in the cache or in a file.
        text = said.text.encode("utf-8", "replace").decode()
        reply = CachedReply(text, Usage(said.prompt_tokens, said.completion_tokens))
        self._cache.put(key, self.settings.model, reply)
        self.meter.replied(reply.usage)
        return reply


def _gloss(quote: str, reply: str) -> str:
    """The gloss in a reply, or the reason against it."""
    made = translation(reply)
    return made if faithful(quote, made) else f"{REASON}gloss"


def _key(variable: str) -> str:
    if not variable:
        return "none"  # without a value the client would read OPENAI_API_KEY
    if not os.environ.get(variable):
        raise MissingError(
            f"environment variable {variable}: not set; export the key that api_key_env names"
        )
    return os.environ[variable]


def _identity(item: Item) -> tuple[object, ...]:
    """The fields of an item that a teacher sees."""
    return item.question, item.context, item.accepted, item.response
