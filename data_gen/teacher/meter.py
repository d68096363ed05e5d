"""What is asked and paid: the budget that no request may pass, and the pace that servers allow."""

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
    """The next request could pass ``budget`` or ``max_tokens_total``."""


def _plus(a: Usage, b: Usage) -> Usage:
    return Usage(a.prompt_tokens + b.prompt_tokens, a.completion_tokens + b.completion_tokens)


@dataclass(eq=False)
class Ticket:
    """Leave to send one request that costs at most ``bound``."""

    model: str
    bound: Usage


@dataclass
class _Account:
    """What one model was asked. ``lost`` may be billed although no reply came: timeouts."""

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
        """What will be spent if every request under way costs its most."""
        total = _plus(self.used, self.lost)
        for ticket in self.open:
            total = _plus(total, ticket.bound)
        return total


class Meter:
    """Counts requests, tokens and money for each model, and keeps them within bounds. Thread-safe.

    A request is let through only if it fits together with everything under way at its most, so the
    bounds hold whatever the replies turn out to be. It waits for those under way before it is
    refused; therefore the refusal depends on what was asked before it and not on threads. After
    one refusal all are refused.
    """

    def __init__(
        self, models: Sequence[TeacherModel], budget: float | None, max_tokens_total: int | None
    ) -> None:
        self._accounts = {model.model: _Account(model) for model in models}
        self._budget = budget
        self._max_tokens = max_tokens_total
        self._changed = Condition()
        self.stopped = ""
        """Why nothing more is asked, or empty."""
        self.last_failure = ""

    def reserve(self, model: str, bound: Usage) -> Ticket:
        """Leave for a request of at most ``bound``.

        Raises:
            BudgetSpentError: it could pass a bound.

        """
        ticket = Ticket(model, bound)
        with self._changed:
            while not self.stopped and (over := self._over(ticket)):
                if any(account.open for account in self._accounts.values()):
                    self._changed.wait()
                else:
                    self.stopped = over
            if self.stopped:
                raise BudgetSpentError(self.stopped)
            self._accounts[model].open.append(ticket)
        return ticket

    def _over(self, ticket: Ticket) -> str:
        """Which bound could be passed with this request too, or nothing."""
        accounts = self._accounts.values()
        cost = sum(a.cost(a.at_most) for a in accounts)
        cost += self._accounts[ticket.model].cost(ticket.bound)
        if self._budget is not None and cost > self._budget:
            spent = sum(a.cost(_plus(a.used, a.lost)) for a in accounts)
            return (
                f"budget: {spent:.4f} of {self._budget:g} is spent, earlier runs included, and the "
                "next request could pass it; raise budget to go on from the cache"
            )
        tokens = sum(sum(a.at_most) for a in accounts) + sum(ticket.bound)
        if self._max_tokens is not None and tokens > self._max_tokens:
            used = sum(sum(a.used) + sum(a.lost) for a in accounts)
            return (
                f"max_tokens_total: {used:,} of {self._max_tokens:,} tokens are spent, earlier "
                "runs included, and the next request could pass it; raise it to go on from the "
                "cache"
            )
        return ""

    def sent(self, model: str) -> None:
        """One request goes out."""
        with self._changed:
            self._accounts[model].requests += 1

    def replied(self, ticket: Ticket, usage: Usage) -> None:
        """A reply came; the ticket is used up."""
        with self._changed:
            account = self._accounts[ticket.model]
            account.replies += 1
            account.used = _plus(account.used, usage)
            account.failed_in_a_row = 0
        self.release(ticket)

    def lost(self, ticket: Ticket) -> None:
        """No reply came, but the server may bill one: the ticket counts at its most."""
        with self._changed:
            account = self._accounts[ticket.model]
            account.lost = _plus(account.lost, ticket.bound)
        self.release(ticket)

    def release(self, ticket: Ticket) -> None:
        """Give back a ticket; one that is used up already stays so."""
        with self._changed:
            account = self._accounts[ticket.model]
            if ticket in account.open:
                account.open.remove(ticket)
            self._changed.notify_all()

    def cached(self, model: str, usage: Usage) -> None:
        """A reply that was paid for before."""
        with self._changed:
            account = self._accounts[model]
            account.replies += 1
            account.from_cache += 1
            account.used = _plus(account.used, usage)

    def failed(self, model: str, reason: str, detail: str) -> None:
        """A request, retries included, that gave no reply."""
        with self._changed:
            account = self._accounts[model]
            account.failed[reason] += 1
            account.failed_in_a_row += 1
            self.last_failure = f"{model}: {detail}"

    def failed_in_a_row(self, model: str) -> int:
        """Requests to the model that failed since its last reply."""
        with self._changed:
            return self._accounts[model].failed_in_a_row

    def summary(self) -> dict[str, Any]:
        """For a manifest: ``models`` and ``cost`` are what the labels rest on, paid now or before.

        The same labels give the same of these; ``run`` tells what this run did for them.
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


class Pace:
    """A token bucket: ``per_minute`` on average, one second's worth at once; 0 is no limit.

    The bucket is small because servers count over a sliding window: a minute's worth at once would
    be twice what they allow. A single amount larger than the bucket waits until it is full and
    leaves it in debt.

    Args:
        per_minute: what is allowed in a minute.
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
        """Wait until ``amount`` may go."""
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
        """Give back what was taken too much; a negative amount takes the rest."""
        with self._lock:
            self._level = min(self._size, self._level + amount)
