"""Requests to one model, rate-limited and retried with backoff; a failure is a return value.

Retries are here and not in the ``openai`` client, so that every attempt is counted, rate-limited
and within the budget.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from gradegpt.engines import openai_reply
from gradegpt.errors import MissingError
from gradegpt.fit import estimate_tokens
from gradegpt.mistakes import explain
from gradegpt.schema import Message

from .cache import Reply, Usage
from .meter import BudgetSpentError, Meter, RateLimiter, Ticket
from .settings import TeacherModel, TeacherSettings
from .vote import BUDGET

if TYPE_CHECKING:
    import openai

_AGAIN: Final = frozenset({408, 409, 429})
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0
_LONGEST_RETRY_AFTER: Final = 300.0
"""A server that asks for a longer pause, in seconds, counts as failed."""


class Failure(NamedTuple):
    """Why there is no reply: a machine-readable reason, and a detailed message."""

    reason: str
    detail: str


class _FailedAttempt(NamedTuple):
    """An attempt without a reply. ``wait``: the pause that the server requested, in seconds."""

    failure: Failure
    again: bool = False
    billed: bool = False
    wait: float | None = None


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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from ``Retry-After`` in any of its forms."""
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(headers["retry-after"]) if "retry-after" in headers else None
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return (date - datetime.now(UTC)).total_seconds() if date.tzinfo else None


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
        try:
            import openai
        except ImportError as error:
            raise MissingError("a teacher needs: pip install 'gradegpt[openai]'") from error
        self.model = model.model
        self._openai = openai
        self._settings = settings
        self._meter = meter
        self._requests, self._tokens = limiters
        self._sleep = sleep
        self._options: dict[str, Any] = {model.max_tokens_name: settings.max_new_tokens}
        if settings.temperature is not None:
            self._options["temperature"] = settings.temperature
        self._client: openai.OpenAI = openai.OpenAI(
            base_url=model.base_url or settings.base_url,
            api_key=_key(model.api_key_env or settings.api_key_env),
            timeout=settings.timeout_s,
            max_retries=0,
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
                if not found.again or attempt == self._settings.max_retries or stop():
                    self._meter.failed(self.model, *found.failure)
                    return found.failure
                if found.billed:
                    ticket = self._meter.reserve(self.model, ticket.bound)
                self._sleep(backoff(attempt, rng) if found.wait is None else found.wait)
                attempt += 1
        except BudgetSpentError as error:
            return Failure(BUDGET, str(error))
        finally:
            self._meter.release(ticket)

    def _attempt(self, messages: Sequence[Message], ticket: Ticket) -> Reply | _FailedAttempt:
        expected = sum(estimate_tokens(m.content) for m in messages) + ticket.bound[1]
        self._requests.take()
        self._tokens.take(expected)
        self._meter.sent(self.model)
        try:
            completion = self._client.chat.completions.create(
                model=self.model,
                messages=[m.model_dump() for m in messages],  # type: ignore[misc]  # the SDK wants its own TypedDicts
                **self._options,
            )
        except self._openai.APITimeoutError as error:
            detail = f"no reply in time ({error}); raise timeout_s or lower concurrency"
            return _FailedAttempt(Failure("teacher:timeout", detail), again=True, billed=True)
        except self._openai.APIStatusError as error:
            return _refused(error)
        except self._openai.OpenAIError as error:
            detail = f"{error}; is the server running?"
            return _FailedAttempt(Failure("teacher:no-connection", detail), again=True)
        except ValueError as error:  # the body is not JSON
            return _no_completion(str(error))
        reply = _read(completion, ticket.bound)
        if isinstance(reply, Reply):
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


def _refused(error: openai.APIStatusError) -> _FailedAttempt:
    failure = Failure(f"teacher:http-{error.status_code}", error.message)
    wait = retry_after(error.response.headers)
    again = error.status_code in _AGAIN or error.status_code >= 500
    patient = wait is None or wait <= _LONGEST_RETRY_AFTER
    return _FailedAttempt(failure, again=again and patient, wait=wait and max(0.0, wait))


def _no_completion(why: str) -> _FailedAttempt:
    detail = f"not a chat completion ({why}); is base_url right, up to and including /v1?"
    return _FailedAttempt(Failure("teacher:no-completion", detail))


def _read(completion: object, bound: Usage) -> Reply | _FailedAttempt:
    """The reply of a server; without a reported usage the upper bound is charged."""
    try:
        found = openai_reply.Reply.model_validate(completion, from_attributes=True).generation
    except ValidationError as error:
        return _no_completion(explain(error))
    # A lone surrogate cannot be encoded in the cache or in a file.
    text = found.text.encode("utf-8", "replace").decode()
    usage = Usage(found.prompt_tokens, found.completion_tokens)
    return Reply(text, usage if all(usage) else bound)
