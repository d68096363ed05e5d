"""Accounting of requests and costs within a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any, NamedTuple

from gradegpt.errors import EngineError

from .settings import TeacherModel


class BudgetSpentError(EngineError):
    """The next request could exceed the budget."""


class Usage(NamedTuple):
    """The billed tokens of a request."""

    prompt_tokens: int
    completion_tokens: int


@dataclass
class _Account:
    """The requests to one model; ``lost``: what may be billed without a reply (timeouts)."""

    prices: TeacherModel
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    lost: float = 0.0
    failed_in_a_row: int = 0

    def price(self, usage: Usage) -> float:
        prices = self.prices
        return (
            usage.prompt_tokens * prices.input_price + usage.completion_tokens * prices.output_price
        ) / 1e6

    @property
    def cost(self) -> float:
        """The cost of the replies."""
        return self.price(Usage(self.prompt_tokens, self.completion_tokens))

    def replied(self, usage: Usage) -> None:
        self.replies += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.failed_in_a_row = 0


class Meter:
    """Counts requests, tokens and money for each model and keeps them in the budget. Thread-safe.

    A request is permitted only if it fits into the budget when all open requests cost their upper
    bounds, so the budget holds for any replies. Before it is refused it waits for the open
    requests; therefore a refusal depends on the earlier requests and not on threads. After one
    refusal all requests are refused.
    """

    def __init__(self, models: Sequence[TeacherModel], budget: float | None) -> None:
        self._accounts = {model.model: _Account(model) for model in models}
        self._budget = budget
        self._changed = Condition()
        self._open: list[tuple[str, Usage]] = []
        self._failed: Counter[str] = Counter()
        self.stopped = ""
        """The message why no more requests are sent, or empty."""
        self.last_failure = ""

    def reserve(self, model: str, bound: Usage) -> None:
        """Open a request that costs at most ``bound``; it is closed by ``settle``.

        Raises:
            BudgetSpentError: the request could exceed the budget.

        """
        with self._changed:
            while not self.stopped and self._exceeded(model, bound):
                if self._open:
                    self._changed.wait()
                else:
                    self.stopped = (
                        f"budget: {self._spent():.4f} of {self._budget:g} is spent, earlier runs "
                        "included, and the next request could exceed it; raise budget to resume "
                        "from the cache"
                    )
            if self.stopped:
                raise BudgetSpentError(self.stopped)
            self._open.append((model, bound))

    def _exceeded(self, model: str, bound: Usage) -> bool:
        if self._budget is None:
            return False
        bounds = (
            self._accounts[name].price(usage) for name, usage in [*self._open, (model, bound)]
        )
        return self._spent() + sum(bounds) > self._budget

    def _spent(self) -> float:
        return sum(account.cost + account.lost for account in self._accounts.values())

    def settle(
        self, model: str, bound: Usage, usage: Usage | None = None, *, lost: bool = False
    ) -> None:
        """Close a request with its reply's ``usage``, or without a reply: it may be ``lost``."""
        with self._changed:
            account = self._accounts[model]
            self._open.remove((model, bound))
            if usage is not None:
                account.replied(usage)
            elif lost:
                account.lost += account.price(bound)
            self._changed.notify_all()

    def cached(self, model: str, usage: Usage) -> None:
        """Count a reply from the cache."""
        with self._changed:
            self._accounts[model].replied(usage)

    def failed(self, model: str, reason: str, detail: str) -> None:
        """Count a request that failed after its retries."""
        with self._changed:
            self._failed[reason] += 1
            self._accounts[model].failed_in_a_row += 1
            self.last_failure = f"{model}: {detail}"

    def failed_in_a_row(self, model: str) -> int:
        """The number of failed requests to the model since its last reply."""
        with self._changed:
            return self._accounts[model].failed_in_a_row

    def summary(self) -> dict[str, Any]:
        """For a manifest: ``models`` and ``cost`` cover all replies, from this or an earlier run.

        They are the same for the same labels; ``run`` has the failures of this run alone.
        """
        with self._changed:
            return {
                "models": {
                    name: {
                        "replies": account.replies,
                        "prompt_tokens": account.prompt_tokens,
                        "completion_tokens": account.completion_tokens,
                        "cost": round(account.cost, 6),
                    }
                    for name, account in self._accounts.items()
                },
                "cost": round(sum(account.cost for account in self._accounts.values()), 6),
                "stopped": self.stopped,
                "run": {
                    "failed": dict(sorted(self._failed.items())),
                    "last_failure": self.last_failure,
                    "cost_lost": round(sum(a.lost for a in self._accounts.values()), 6),
                },
            }
