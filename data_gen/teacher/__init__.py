"""A teacher: large models behind OpenAI-compatible APIs that write the chain for an item.

    with Teacher(settings) as teacher:
        votes = teacher.label(items)
    manifest["teacher"] = teacher.meter.summary()

Requests start in the order of the items. Every reply is saved before it is used, so that a run
which was stopped, by its budget or otherwise, resumes without paying twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, NamedTuple, Self

from gradegpt.chains.chain import Chain
from gradegpt.core.errors import EngineError, MissingError
from gradegpt.core.schema import Item, Message
from gradegpt.engines.client import Client, Failure

from .prompt import SHOWN, build_messages
from .replies import CachedReply, Meter, ReplyCache, Usage, cache_key
from .settings import TeacherModel, TeacherSettings
from .vote import BUDGET, TeacherVote, count_votes, read_reply

__all__ = ["Meter", "Teacher", "TeacherModel", "TeacherSettings", "TeacherVote"]

MAX_RETRIES: Final = 4
GIVE_UP_AFTER: Final = 20
"""Number of consecutive failed requests after which the run ends with an error."""


class _Request(NamedTuple):
    """One sample of one model for an item."""

    model: str
    client: Client
    messages: tuple[Message, ...]
    key: str


class Teacher:
    """Asks every model of the settings for every sample of an item and takes a majority vote.

    Raises:
        MissingError: the ``openai`` package or an API key is missing.
        OutputError: the cache cannot be opened.

    """

    def __init__(self, settings: TeacherSettings) -> None:
        self.settings = settings
        self.meter = Meter(settings.models, settings.budget)
        self._clients = [
            (model, Client(
                settings.base_url, model.model, api_key=_key(settings.api_key_env),
                timeout_s=settings.timeout_s, max_retries=MAX_RETRIES, request=model,
            ))
            for model in settings.models
        ]  # fmt: skip
        self._cache = ReplyCache(settings.cache)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache."""
        for _, client in self._clients:
            client.close()
        self._cache.close()

    def label(self, items: Sequence[Item]) -> list[TeacherVote]:
        """The vote of each item, in order; requests for equal items are made once.

        Once the budget is spent, no further request is sent: the remaining votes have the reason
        ``teacher:budget``, and ``meter.stopped`` holds the message.

        Raises:
            EngineError: ``GIVE_UP_AFTER`` requests to a model failed in a row.
            OutputError: the cache cannot be written.

        """
        different = {_identity(item): item for item in items}
        asked = [request for item in different.values() for request in self._requests(item)]
        with ThreadPoolExecutor(self.settings.concurrency) as pool:
            found = pool.map(self._reply, asked)
            size = self.settings.samples * len(self._clients)
            votes = {
                key: count_votes(
                    [_read(reply, item) for reply in islice(found, size)], self.settings.must_agree
                )
                for key, item in different.items()
            }
        return [votes[_identity(item)] for item in items]

    def _requests(self, item: Item) -> Iterator[_Request]:
        """Every sample of every model for the item."""
        messages = build_messages(item)
        for model, client in self._clients:
            for sample in range(self.settings.samples):
                key = cache_key(model, messages, self.settings, sample)
                yield _Request(model.model, client, messages, key)

    def _reply(self, request: _Request) -> CachedReply | Failure:
        """The reply in the cache, or else of the server, within the budget."""
        model = request.model
        if (kept := self._cache.get(request.key)) is not None:
            self.meter.replied(model, kept.usage)
            return kept
        if stopped := self.meter.stopped:
            return Failure(BUDGET, stopped)
        if (failed := self.meter.failed_in_a_row(model)) >= GIVE_UP_AFTER:
            raise EngineError(
                f"{failed} requests in a row failed, the last with {self.meter.last_failure}; "
                f"every reply so far is in {self.settings.cache}, run again to resume from there"
            )
        limit, options = self.settings.max_new_tokens, {"temperature": self.settings.temperature}
        found = request.client.chat(request.messages, limit, **options)
        if isinstance(found, Failure):
            self.meter.failed(model, f"teacher:{found.reason}", found.detail)
            return found._replace(reason=f"teacher:{found.reason}")
        said = found.generation
        # A lone surrogate cannot be encoded in the cache or in a file.
        text = said.text.encode("utf-8", "replace").decode()
        reply = CachedReply(text, Usage(said.prompt_tokens, said.completion_tokens))
        self._cache.put(request.key, model, reply)
        self.meter.replied(model, reply.usage)
        return reply


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


def _read(found: CachedReply | Failure, item: Item) -> Chain | str:
    if isinstance(found, Failure):
        return found.reason
    return read_reply(found.text, item.response, SHOWN.response)
