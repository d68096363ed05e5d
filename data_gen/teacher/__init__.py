"""A teacher: large models behind OpenAI-compatible APIs that write the chain for an item.

    with Teacher(settings) as teacher:
        votes = teacher.label(items)
    manifest["teacher"] = teacher.meter.summary()

Requests start in the order of the items. Every reply is saved before it is used, so that a run
which was stopped, by its budget or otherwise, resumes without paying twice.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import BoundedSemaphore, Event
from typing import Final, NamedTuple, Self, TypeAlias

from gradegpt.chain import Chain
from gradegpt.engines.client import Client, Failure
from gradegpt.engines.completion import Completion
from gradegpt.errors import EngineError, MissingError
from gradegpt.schema import Item, Message

from .cache import CachedReply, ReplyCache, cache_key
from .meter import BudgetSpentError, Meter, Usage
from .prompt import SHOWN, build_messages
from .settings import TeacherModel, TeacherSettings
from .vote import BUDGET, Vote, count_votes, read_reply

__all__ = ["Meter", "Teacher", "TeacherModel", "TeacherSettings", "Vote"]

MAX_RETRIES: Final = 4
GIVE_UP_AFTER: Final = 20
"""Number of consecutive failed requests after which the run ends with an error."""
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0
_LONGEST_RETRY_AFTER: Final = 300.0
"""A server that asks for a longer pause, in seconds, counts as failed."""

_Found: TypeAlias = "Future[CachedReply | Failure]"


class _Request(NamedTuple):
    """One sample of one model for an item; ``bound`` is the most that it may use."""

    model: TeacherModel
    client: Client
    messages: tuple[Message, ...]
    key: str
    bound: Usage


class Teacher:
    """Asks every model of the settings for every sample of an item and takes a majority vote.

    Args:
        settings: the models, the number of samples, and the budget.
        sleep: waits for seconds; it is called from several threads.

    Raises:
        MissingError: the ``openai`` package or an API key is missing.
        OutputError: the cache cannot be opened.

    """

    def __init__(
        self, settings: TeacherSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.settings = settings
        self.meter = Meter(settings.models, settings.budget)
        self._sleep = sleep
        # Retries are made here and not in the client, so that each attempt is within the budget.
        self._clients = [
            (model, Client(
                settings.base_url, model.model, api_key=_key(settings.api_key_env),
                timeout_s=settings.timeout_s, max_retries=0, request=model,
            ))
            for model in settings.models
        ]  # fmt: skip
        self._cache = ReplyCache(settings.cache)
        self._slots = BoundedSemaphore(settings.concurrency)
        self._stop = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache."""
        for _, client in self._clients:
            client.close()
        self._cache.close()

    def label(self, items: Sequence[Item]) -> list[Vote]:
        """The vote of each item, in order; requests for equal items are made once.

        When the budget is spent, the remaining votes have the reason ``teacher:budget``, and
        ``meter.stopped`` holds the message.

        Raises:
            EngineError: ``GIVE_UP_AFTER`` requests to a model failed in a row.
            OutputError: the cache cannot be written.

        """
        different = {_identity(item): item for item in items}
        with closing(self._votes(different.values())) as found:
            votes = dict(zip(different, found, strict=True))
        return [votes[_identity(item)] for item in items]

    def _votes(self, items: Iterable[Item]) -> Generator[Vote, None, None]:
        waiting: deque[tuple[Item, list[_Found]]] = deque()
        self._stop.clear()
        with ThreadPoolExecutor(self.settings.concurrency) as pool:
            try:
                for item in items:
                    waiting.append((item, list(self._start(item, pool))))
                    while waiting and all(found.done() for found in waiting[0][1]):
                        yield self._vote(*waiting.popleft())
                while waiting:
                    yield self._vote(*waiting.popleft())
            finally:
                self._stop.set()  # on an error, running requests are not retried

    def _start(self, item: Item, pool: ThreadPoolExecutor) -> Iterator[_Found]:
        """Look up or send every request for the item, waiting for a free slot."""
        messages = build_messages(item)
        for model, client in self._clients:
            most = self.settings.max_new_tokens + model.thinking_tokens
            bound = usage_bound(messages, most)
            for sample in range(self.settings.samples):
                key = cache_key(model, messages, self.settings, sample)
                if (reply := self._cache.get(key)) is not None:
                    self.meter.cached(model.model, reply.usage)
                    yield _done(reply)
                else:
                    yield self._send(_Request(model, client, messages, key, bound), pool)

    def _send(self, request: _Request, pool: ThreadPoolExecutor) -> _Found:
        self._slots.acquire()
        try:
            self._give_up_on(request.model.model)
            self.meter.reserve(request.model.model, request.bound)
        except BudgetSpentError as error:
            self._slots.release()
            return _done(Failure(BUDGET, str(error)))
        except EngineError:
            self._slots.release()
            raise
        return pool.submit(self._ask, request)

    def _give_up_on(self, model: str) -> None:
        failed = self.meter.failed_in_a_row(model)
        if failed >= GIVE_UP_AFTER:
            raise EngineError(
                f"{failed} requests in a row failed, the last with {self.meter.last_failure}; "
                f"every reply so far is in {self.settings.cache}, run again to resume from there"
            )

    def _ask(self, request: _Request) -> CachedReply | Failure:
        try:
            found = self._retried(request)
        except BudgetSpentError as error:
            return Failure(BUDGET, str(error))
        finally:
            self._slots.release()
        if isinstance(found, CachedReply):
            self._cache.put(request.key, request.model.model, found)
        else:
            self.meter.failed(request.model.model, found.reason, found.detail)
        return found

    def _retried(self, request: _Request) -> CachedReply | Failure:
        """Retry until there is a reply, or retrying is useless; the request is reserved."""
        name, bound, rng = request.model.model, request.bound, random.Random(request.key)
        limit, options = self.settings.max_new_tokens, {"temperature": self.settings.temperature}
        for attempt in itertools.count():
            found = request.client.chat(request.messages, limit, **options)
            if isinstance(found, Completion):
                reply = _reply(found, bound)
                self.meter.settle(name, bound, reply.usage)
                return reply
            patient = found.wait is None or found.wait <= _LONGEST_RETRY_AFTER
            again = found.again and patient and attempt < MAX_RETRIES and not self._stop.is_set()
            if found.billed or not again:
                self.meter.settle(name, bound, lost=found.billed)
            if not again:
                return found._replace(reason=f"teacher:{found.reason}")
            self._sleep(backoff(attempt, rng) if found.wait is None else max(0.0, found.wait))
            if found.billed:
                self.meter.reserve(name, bound)
        raise AssertionError  # the count does not end

    def _vote(self, item: Item, asked: Sequence[_Found]) -> Vote:
        replies = [_read(found.result(), item) for found in asked]
        return count_votes(replies, self.settings.must_agree)


def usage_bound(messages: Sequence[Message], max_new_tokens: int) -> Usage:
    """An upper bound of the tokens of a request.

    No tokenizer of a chat model makes more tokens from a text than it has bytes; 16 more for each
    message cover the special tokens of the turn.
    """
    size = sum(len(m.content.encode("utf-8", "surrogatepass")) + 16 for m in messages)
    return Usage(size, max_new_tokens)


def backoff(attempt: int, rng: random.Random) -> float:
    """Seconds before the next attempt: doubled each time, with jitter to spread the threads."""
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt) * rng.uniform(0.5, 1.0)


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


def _done(found: CachedReply | Failure) -> _Found:
    future: _Found = Future()
    future.set_result(found)
    return future


def _reply(completion: Completion, bound: Usage) -> CachedReply:
    """The reply of a server; without a reported usage the upper bound is charged."""
    found = completion.generation
    # A lone surrogate cannot be encoded in the cache or in a file.
    text = found.text.encode("utf-8", "replace").decode()
    usage = Usage(found.prompt_tokens, found.completion_tokens)
    return CachedReply(text, usage if all(usage) else bound)


def _read(found: CachedReply | Failure, item: Item) -> Chain | str:
    if isinstance(found, Failure):
        return found.reason
    return read_reply(found.text, item.response, SHOWN.response)
