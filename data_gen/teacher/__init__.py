"""A teacher: large models behind OpenAI-compatible APIs that write the chain for an item.

    with Teacher(settings) as teacher:
        votes = teacher.label(items)
    manifest["teacher"] = teacher.meter.summary()

Requests start in the order of the items. Every reply is saved before it is used, so that a run
which was stopped, by its budget or otherwise, resumes without paying twice.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import BoundedSemaphore, Event
from typing import Self, TypeAlias

from gradegpt.chain import Chain
from gradegpt.engines.client import Failure
from gradegpt.errors import EngineError
from gradegpt.schema import Item, Message

from .cache import Reply, ReplyCache, cache_key
from .client import ModelClient, usage_bound
from .meter import BudgetSpentError, Meter, RateLimiter, Ticket
from .prompt import FewShot, build_messages
from .settings import TeacherModel, TeacherSettings
from .vote import BUDGET, Vote, count_votes, read_reply

__all__ = [
    "BudgetSpentError",
    "FewShot",
    "Meter",
    "Teacher",
    "TeacherModel",
    "TeacherSettings",
    "Vote",
]

_Found: TypeAlias = "Future[Reply | Failure]"


class Teacher:
    """Asks every model of the settings for every sample of an item and takes a majority vote.

    Args:
        settings: the models, the numbers of samples, and the budget.
        clock: monotonic seconds.
        sleep: waits for seconds; it is called from several threads.

    Raises:
        MissingError: the ``openai`` package or an API key is missing.
        OutputError: the cache cannot be opened.

    """

    def __init__(
        self,
        settings: TeacherSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.meter = Meter(settings.models, settings.budget, settings.max_tokens_total)
        limiters = (
            RateLimiter(settings.requests_per_minute, clock, sleep),
            RateLimiter(settings.tokens_per_minute, clock, sleep),
        )
        self._clients = [
            ModelClient(model, settings, meter=self.meter, limiters=limiters, sleep=sleep)
            for model in settings.models
        ]
        self._cache = ReplyCache(settings.cache)
        self._slots = BoundedSemaphore(settings.concurrency)
        self._stop = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache."""
        for client in self._clients:
            client.close()
        self._cache.close()

    def label(
        self, items: Sequence[Item], progress: Callable[[int], None] = lambda done: None
    ) -> list[Vote]:
        """The vote of each item, in order; requests for equal items are made once.

        ``progress`` is called with the number of distinct items that are done. When the budget is
        spent, the remaining votes have the reason ``teacher:budget``, and ``meter.stopped`` holds
        the message.

        Raises:
            EngineError: ``give_up_after`` requests to a model failed in a row.
            OutputError: the cache cannot be written.

        """
        different = {_identity(item): item for item in items}
        votes: dict[tuple[object, ...], Vote] = {}
        with closing(self._votes(different.values())) as found:
            for identity, vote in zip(different, found, strict=True):
                votes[identity] = vote
                progress(len(votes))
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
        s = self.settings
        messages = build_messages(item, s.examples, s.instructions, s.shown)
        for client in self._clients:
            for sample in range(s.samples):
                key = cache_key(
                    client.model, messages, temperature=s.temperature,
                    max_new_tokens=client.most_tokens, sample=sample, extra=client.extra_body,
                )  # fmt: skip
                yield self._look_up(key, client) or self._send(key, client, messages, pool)

    def _look_up(self, key: str, client: ModelClient) -> _Found | None:
        reply = self._cache.get(key)
        if reply is None:
            return None
        self.meter.cached(client.model, reply.usage)
        return _done(reply)

    def _send(
        self, key: str, client: ModelClient, messages: Sequence[Message], pool: ThreadPoolExecutor
    ) -> _Found:
        self._slots.acquire()
        try:
            self._give_up_on(client)
            ticket = self.meter.reserve(client.model, usage_bound(messages, client.most_tokens))
        except BudgetSpentError as error:
            self._slots.release()
            return _done(Failure(BUDGET, str(error)))
        except EngineError:
            self._slots.release()
            raise
        return pool.submit(self._ask, key, client, messages, ticket)

    def _ask(
        self, key: str, client: ModelClient, messages: Sequence[Message], ticket: Ticket
    ) -> Reply | Failure:
        try:
            found = client.ask(messages, ticket, random.Random(key), self._stop.is_set)
            if isinstance(found, Reply):
                self._cache.put(key, client.model, found)
            return found
        finally:
            self._slots.release()

    def _give_up_on(self, client: ModelClient) -> None:
        failed = self.meter.failed_in_a_row(client.model)
        if failed >= self.settings.give_up_after:
            raise EngineError(
                f"{failed} requests in a row failed, the last with {self.meter.last_failure}; "
                f"every reply so far is in {self.settings.cache}, run again to resume from there"
            )

    def _vote(self, item: Item, asked: Sequence[_Found]) -> Vote:
        shown = self.settings.shown.response
        replies = [_read(found.result(), item, shown) for found in asked]
        return count_votes(replies, self.settings.must_agree)


def _identity(item: Item) -> tuple[object, ...]:
    """The fields of an item that a teacher sees."""
    return item.question, item.context, item.accepted, item.response


def _done(found: Reply | Failure) -> _Found:
    future: _Found = Future()
    future.set_result(found)
    return future


def _read(found: Reply | Failure, item: Item, shown: int) -> Chain | str:
    if isinstance(found, Failure):
        return found.reason
    return read_reply(found.text, item.response, shown)
