"""Requests to one model of a teacher, rate-limited, metered and retried with backoff.

Retries are here and not in the ``Client``, so that every attempt is counted, rate-limited
and within the budget.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from typing import Final

from gradegpt.engines.client import Client, Failure
from gradegpt.engines.completion import Completion
from gradegpt.errors import MissingError
from gradegpt.fit import estimate_tokens
from gradegpt.schema import Message

from .cache import Reply, Usage
from .meter import BudgetSpentError, Meter, RateLimiter, Ticket
from .settings import TeacherModel, TeacherSettings
from .vote import BUDGET

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0
_LONGEST_RETRY_AFTER: Final = 300.0
"""A server that asks for a longer pause, in seconds, counts as failed."""


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


class ModelClient:
    """Sends requests to one model of the settings.

    Raises:
        MissingError: the ``openai`` package or the environment variable of the key is missing.

    """

    def __init__(
        self,
        model: TeacherModel,
        settings: TeacherSettings,
        *,
        meter: Meter,
        limiters: tuple[RateLimiter, RateLimiter],
        sleep: Callable[[float], None],
    ) -> None:
        self.model = model.model
        self._settings = settings
        self._meter = meter
        self._requests, self._tokens = limiters
        self._sleep = sleep
        given = settings.temperature is not None
        self._options = {"temperature": settings.temperature} if given else {}
        self._limit = settings.max_new_tokens
        self.extra_body = model.extra_body
        self.most_tokens = self._limit + model.thinking_tokens
        self._client = Client(
            model.base_url or settings.base_url,
            model.model,
            api_key=_key(model.api_key_env or settings.api_key_env),
            timeout_s=settings.timeout_s,
            max_retries=0,
            request=model,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        messages: Sequence[Message],
        ticket: Ticket,
        rng: random.Random,
        stop: Callable[[], bool],
    ) -> Reply | Failure:
        """Retry until there is a reply, retrying is useless, or ``stop``; consumes the ticket."""
        attempt = 0
        try:
            while True:
                found = self._attempt(messages, ticket)
                if isinstance(found, Reply):
                    self._meter.replied(ticket, found.usage)
                    return found
                if found.billed:
                    self._meter.lost(ticket)
                patient = found.wait is None or found.wait <= _LONGEST_RETRY_AFTER
                if not (found.again and patient) or attempt == self._settings.max_retries or stop():
                    found = found._replace(reason=f"teacher:{found.reason}")
                    self._meter.failed(self.model, found.reason, found.detail)
                    return found
                if found.billed:
                    ticket = self._meter.reserve(self.model, ticket.bound)
                self._sleep(backoff(attempt, rng) if found.wait is None else max(0.0, found.wait))
                attempt += 1
        except BudgetSpentError as error:
            return Failure(BUDGET, str(error))
        finally:
            self._meter.release(ticket)

    def _attempt(self, messages: Sequence[Message], ticket: Ticket) -> Reply | Failure:
        expected = sum(estimate_tokens(m.content) for m in messages) + ticket.bound[1]
        self._requests.take()
        self._tokens.take(expected)
        self._meter.sent(self.model)
        found = self._client.chat(messages, self._limit, **self._options)
        if isinstance(found, Failure):
            return found
        reply = _reply(found, ticket.bound)
        self._tokens.give(expected - sum(reply.usage))
        return reply


def _key(variable: str) -> str:
    if not variable:
        return "none"  # without a value the client would read OPENAI_API_KEY
    if not os.environ.get(variable):
        raise MissingError(
            f"environment variable {variable}: not set; export the key that api_key_env names"
        )
    return os.environ[variable]


def _reply(completion: Completion, bound: Usage) -> Reply:
    """The reply of a server; without a reported usage the upper bound is charged."""
    found = completion.generation
    # A lone surrogate cannot be encoded in the cache or in a file.
    text = found.text.encode("utf-8", "replace").decode()
    usage = Usage(found.prompt_tokens, found.completion_tokens)
    return Reply(text, usage if all(usage) else bound)
