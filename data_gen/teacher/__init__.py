"""A teacher: large models behind OpenAI-compatible APIs that write our chain for an item.

    with Teacher(settings) as teacher:
        votes = teacher.label(items)
    manifest["teacher"] = teacher.meter.summary()

Requests start in the order of the items. Every reply is on disk before anything is made of it: a
run that is stopped, by its budget or by anything else, goes on without paying twice.
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
from gradegpt.errors import EngineError
from gradegpt.schema import Item, Message

from .ask import Asker, Failure, bound_of
from .cache import Reply, ReplyCache, cache_key
from .meter import BudgetSpentError, Meter, Pace, Ticket
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
    """Asks every model of the settings for every sample of an item, and lets the replies vote.

    Args:
        settings: whom to ask, how often, and for how much.
        clock: monotonic seconds.
        sleep: waits for seconds, called from several threads.

    Raises:
        MissingError: the ``openai`` package or a key is not there.
        OutputError: the cache cannot be used.

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
        paces = (
            Pace(settings.requests_per_minute, clock, sleep),
            Pace(settings.tokens_per_minute, clock, sleep),
        )
        self._askers = [
            Asker(model, settings, meter=self.meter, paces=paces, sleep=sleep)
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
        for asker in self._askers:
            asker.close()
        self._cache.close()

    def label(
        self, items: Sequence[Item], progress: Callable[[int], None] = lambda done: None
    ) -> list[Vote]:
        """A vote an item, in order; equal items are asked about once.

        ``progress`` hears how many different items are done. When the budget is spent the votes
        that are left have the reason ``teacher:budget``, and ``meter.stopped`` says why.

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
                self._stop.set()  # on an error, those under way are not attempted again

    def _start(self, item: Item, pool: ThreadPoolExecutor) -> Iterator[_Found]:
        """Look up or send every request about the item, waiting for a free slot."""
        s = self.settings
        messages = build_messages(item, s.examples, s.instructions, s.shown)
        for asker in self._askers:
            for sample in range(s.samples):
                key = cache_key(
                    asker.model, messages, temperature=s.temperature,
                    max_new_tokens=s.max_new_tokens, sample=sample,
                )  # fmt: skip
                yield self._look_up(key, asker) or self._send(key, asker, messages, pool)

    def _look_up(self, key: str, asker: Asker) -> _Found | None:
        reply = self._cache.get(key)
        if reply is None:
            return None
        self.meter.cached(asker.model, reply.usage)
        return _done(reply)

    def _send(
        self, key: str, asker: Asker, messages: Sequence[Message], pool: ThreadPoolExecutor
    ) -> _Found:
        self._slots.acquire()
        try:
            self._give_up_on(asker)
            ticket = self.meter.reserve(
                asker.model, bound_of(messages, self.settings.max_new_tokens)
            )
        except BudgetSpentError as error:
            self._slots.release()
            return _done(Failure(BUDGET, str(error)))
        except EngineError:
            self._slots.release()
            raise
        return pool.submit(self._ask, key, asker, messages, ticket)

    def _ask(
        self, key: str, asker: Asker, messages: Sequence[Message], ticket: Ticket
    ) -> Reply | Failure:
        try:
            found = asker.ask(messages, ticket, random.Random(key), self._stop.is_set)
            if isinstance(found, Reply):
                self._cache.put(key, asker.model, found)
            return found
        finally:
            self._slots.release()

    def _give_up_on(self, asker: Asker) -> None:
        failed = self.meter.failed_in_a_row(asker.model)
        if failed >= self.settings.give_up_after:
            raise EngineError(
                f"{failed} requests in a row failed, the last with {self.meter.last_failure}; "
                f"every reply so far is in {self.settings.cache}, run again to go on from there"
            )

    def _vote(self, item: Item, asked: Sequence[_Found]) -> Vote:
        shown = self.settings.shown.response
        replies = [_read(found.result(), item, shown) for found in asked]
        return count_votes(replies, self.settings.must_agree)


def _identity(item: Item) -> tuple[object, ...]:
    """All of an item that a teacher sees."""
    return item.question, item.context, item.accepted, item.response


def _done(found: Reply | Failure) -> _Found:
    future: _Found = Future()
    future.set_result(found)
    return future


def _read(found: Reply | Failure, item: Item, shown: int) -> Chain | str:
    if isinstance(found, Failure):
        return found.reason
    return read_reply(found.text, item.response, shown)
