"""Accounting of requests and costs within a budget, and the rate limiter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Lock
from typing import Any, Final

from gradegpt.errors import EngineError

from .cache import Usage
from .settings import TeacherModel

_NOTHING: Final = Usage(0, 0)


class BudgetSpentError(EngineError):
    """The next request could exceed ``budget`` or ``max_tokens_total``."""


def _plus(a: Usage, b: Usage) -> Usage:
    return Usage(a.prompt_tokens + b.prompt_tokens, a.completion_tokens + b.completion_tokens)


@dataclass(eq=False)
class Ticket:
    """The permission to send one request that costs at most ``bound``."""

    model: str
    bound: Usage


@dataclass
class _Account:
    """The requests to one model; ``lost``: usage that may be billed without a reply (timeouts)."""

    prices: TeacherModel
    replies: int = 0
    used: Usage = _NOTHING
    from_cache: int = 0
    requests: int = 0
    lost: Usage = _NOTHING
    open: list[Ticket] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    failed_in_a_row: int = 0

    def cost(self, usage: Usage) -> float:
        prices = self.prices
        return (
            usage.prompt_tokens * prices.input_price + usage.completion_tokens * prices.output_price
        ) / 1e6

    @property
    def at_most(self) -> Usage:
        """The total usage if every open request costs its upper bound."""
        total = _plus(self.used, self.lost)
        for ticket in self.open:
            total = _plus(total, ticket.bound)
        return total


class Meter:
    """Counts requests, tokens and money for each model and keeps them in the budget. Thread-safe.

    A request is permitted only if it fits into the budget when all open requests cost their upper
    bounds, so the budget holds for any replies. Before it is refused it waits for the open
    requests; therefore a refusal depends on the earlier requests and not on threads. After one
    refusal all requests are refused.
    """

    def __init__(
        self, models: Sequence[TeacherModel], budget: float | None, max_tokens_total: int | None
    ) -> None:
        self._accounts = {model.model: _Account(model) for model in models}
        self._budget = budget
        self._max_tokens = max_tokens_total
        self._changed = Condition()
        self.stopped = ""
        """The message why no more requests are sent, or empty."""
        self.last_failure = ""

    def reserve(self, model: str, bound: Usage) -> Ticket:
        """A ticket for a request of at most ``bound``.

        Raises:
            BudgetSpentError: the request could exceed the budget.

        """
        ticket = Ticket(model, bound)
        with self._changed:
            while not self.stopped and (over := self._exceeded_limit(ticket)):
                if any(account.open for account in self._accounts.values()):
                    self._changed.wait()
                else:
                    self.stopped = over
            if self.stopped:
                raise BudgetSpentError(self.stopped)
            self._accounts[model].open.append(ticket)
        return ticket

    def _exceeded_limit(self, ticket: Ticket) -> str:
        """The message which limit this request could exceed, or empty."""
        accounts = self._accounts.values()
        cost = sum(a.cost(a.at_most) for a in accounts)
        cost += self._accounts[ticket.model].cost(ticket.bound)
        if self._budget is not None and cost > self._budget:
            spent = sum(a.cost(_plus(a.used, a.lost)) for a in accounts)
            return (
                f"budget: {spent:.4f} of {self._budget:g} is spent, earlier runs included, and the "
                "next request could exceed it; raise budget to resume from the cache"
            )
        tokens = sum(sum(a.at_most) for a in accounts) + sum(ticket.bound)
        if self._max_tokens is not None and tokens > self._max_tokens:
            used = sum(sum(a.used) + sum(a.lost) for a in accounts)
            return (
                f"max_tokens_total: {used:,} of {self._max_tokens:,} tokens are spent, earlier "
                "runs included, and the next request could exceed it; raise it to resume from the "
                "cache"
            )
        return ""

    def sent(self, model: str) -> None:
        """Count one sent request."""
        with self._changed:
            self._accounts[model].requests += 1

    def replied(self, ticket: Ticket, usage: Usage) -> None:
        """Count a reply and release the ticket."""
        with self._changed:
            account = self._accounts[ticket.model]
            account.replies += 1
            account.used = _plus(account.used, usage)
            account.failed_in_a_row = 0
        self.release(ticket)

    def lost(self, ticket: Ticket) -> None:
        """Count the upper bound of a request without a reply that may be billed."""
        with self._changed:
            account = self._accounts[ticket.model]
            account.lost = _plus(account.lost, ticket.bound)
        self.release(ticket)

    def release(self, ticket: Ticket) -> None:
        """Release a ticket; a second call has no effect."""
        with self._changed:
            account = self._accounts[ticket.model]
            if ticket in account.open:
                account.open.remove(ticket)
            self._changed.notify_all()

    def cached(self, model: str, usage: Usage) -> None:
        """Count a reply from the cache."""
        with self._changed:
            account = self._accounts[model]
            account.replies += 1
            account.from_cache += 1
            account.used = _plus(account.used, usage)

    def failed(self, model: str, reason: str, detail: str) -> None:
        """Count a request that failed after its retries."""
        with self._changed:
            account = self._accounts[model]
            account.failed[reason] += 1
            account.failed_in_a_row += 1
            self.last_failure = f"{model}: {detail}"

    def failed_in_a_row(self, model: str) -> int:
        """The number of failed requests to the model since its last reply."""
        with self._changed:
            return self._accounts[model].failed_in_a_row

    def summary(self) -> dict[str, Any]:
        """For a manifest: ``models`` and ``cost`` cover all replies, from this or an earlier run.

        They are the same for the same labels; ``run`` counts the requests of this run alone.
        """
        with self._changed:
            accounts = self._accounts.values()
            failed = sum((a.failed for a in accounts), Counter())
            return {
                "models": {name: _row(account) for name, account in self._accounts.items()},
                "cost": round(sum(a.cost(a.used) for a in accounts), 6),
                "stopped": self.stopped,
                "run": {
                    "requests": sum(a.requests for a in accounts),
                    "from_cache": sum(a.from_cache for a in accounts),
                    "failed": dict(sorted(failed.items())),
                    "last_failure": self.last_failure,
                    "tokens_lost": sum(sum(a.lost) for a in accounts),
                },
            }


def _row(account: _Account) -> dict[str, Any]:
    return {
        "replies": account.replies,
        "prompt_tokens": account.used.prompt_tokens,
        "completion_tokens": account.used.completion_tokens,
        "cost": round(account.cost(account.used), 6),
    }


class RateLimiter:
    """A token bucket: ``per_minute`` on average, the amount of one second at once; 0: no limit.

    The bucket is small because servers count over a sliding window: the amount of a minute at once
    would be twice what they allow. An amount larger than the bucket waits until the bucket is full
    and leaves it with a debt.

    Args:
        per_minute: the amount that is allowed per minute.
        clock: monotonic seconds.
        sleep: waits for seconds.

    """

    def __init__(
        self, per_minute: float, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._rate = per_minute / 60
        self._size = max(1.0, self._rate)
        self._level = self._size
        self._clock = clock
        self._sleep = sleep
        self._at = clock()
        self._lock = Lock()

    def take(self, amount: float = 1.0) -> None:
        """Wait until ``amount`` is available and take it."""
        if not self._rate:
            return
        with self._lock:
            now = self._clock()
            self._level = min(self._size, self._level + (now - self._at) * self._rate)
            self._at = now
            wait = (min(amount, self._size) - self._level) / self._rate
            self._level -= amount
        if wait > 0:
            self._sleep(wait)

    def give(self, amount: float) -> None:
        """Return an amount that was not used; a negative one is taken in addition."""
        with self._lock:
            self._level = min(self._size, self._level + amount)
