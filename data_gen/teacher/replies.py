"""The replies of a teacher: what they cost, and a cache on disk, so that none is paid for twice."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from gradegpt.core.schema import Message
from gradegpt.core.store import Store

from .settings import TeacherModel, TeacherSettings


class Usage(NamedTuple):
    """The billed tokens of a request."""

    prompt_tokens: int
    completion_tokens: int


class Meter:
    """Counts requests, tokens and money for each model. Thread-safe.

    Cached replies of an earlier run count, too, so that the same settings give the same labels.
    """

    def __init__(self, models: Sequence[TeacherModel], budget: float | None) -> None:
        self._models, self._budget, self._lock = models, budget, Lock()
        self._counts = {model.model: Counter[str]() for model in models}
        self._failed: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()
        self.last_failure = ""

    @property
    def stopped(self) -> str:
        """The message why no more requests are sent, or empty."""
        if self._budget is None or (spent := sum(self._costs().values())) < self._budget:
            return ""
        return (
            f"budget: {spent:.4f} of {self._budget:g} is spent, earlier runs included; raise "
            "budget to resume from the cache"
        )

    def _costs(self) -> dict[str, float]:
        return {
            model.model: (
                counts["prompt_tokens"] * model.input_price
                + counts["completion_tokens"] * model.output_price
            )
            / 1e6
            for model in self._models
            for counts in [self._counts[model.model]]
        }

    def replied(self, model: str, usage: Usage) -> None:
        """Count a reply, from the server or from the cache."""
        with self._lock:
            self._counts[model].update({"replies": 1, **usage._asdict()})
            self._in_a_row[model] = 0

    def failed(self, model: str, reason: str, detail: str) -> None:
        """Count a request that failed after its retries."""
        with self._lock:
            self._failed[reason] += 1
            self._in_a_row[model] += 1
            self.last_failure = f"{model}: {detail}"

    def rejected(self, reason: str) -> None:
        """Count a reply that could not be used, after it was asked for again."""
        with self._lock:
            self._rejected[reason] += 1

    def failed_in_a_row(self, model: str) -> int:
        """The number of failed requests to the model since its last reply."""
        return self._in_a_row[model]

    def summary(self) -> dict[str, Any]:
        """For a manifest: ``models`` and ``cost`` cover all replies, from this or an earlier run.

        They are the same for the same labels; ``run`` has the failures of this run alone.
        """
        costs = self._costs()
        return {
            "models": {
                name: dict(sorted(counts.items())) | {"cost": round(costs[name], 6)}
                for name, counts in self._counts.items()
            },
            "cost": round(sum(costs.values()), 6),
            "rejected": dict(sorted(self._rejected.items())),
            "stopped": self.stopped,
            "run": {
                "failed": dict(sorted(self._failed.items())),
                "last_failure": self.last_failure,
            },
        }


_APPLICATION_ID: Final = 0x47524144
_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, text TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL
) WITHOUT ROWID"""


class CachedReply(NamedTuple):
    """The text of a reply and its billed tokens."""

    text: str
    usage: Usage


def cache_key(
    model: TeacherModel, messages: Sequence[Message], settings: TeacherSettings, sample: int
) -> str:
    """The SHA-256 of everything that a reply depends on, as hexadecimal digits."""
    turns = [m.model_dump() for m in messages]
    parts = [model.model, turns, settings.temperature, settings.max_new_tokens, sample]
    parts += [model.extra_body] if model.extra_body else []
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


class ReplyCache:
    """An SQLite file of replies, for many threads and several processes.

    Each reply is one transaction; after ``put`` returns, it survives a killed process.

    Raises:
        OutputError: the file is not such a cache, or cannot be read or written.

    """

    def __init__(self, path: str | Path) -> None:
        self._store = Store(
            path, kind=_APPLICATION_ID, table=_TABLE, what="replies", power_safe=True
        )

    def get(self, key: str) -> CachedReply | None:
        """The reply with this ``key``, or none."""
        query = "SELECT text, prompt_tokens, completion_tokens FROM replies WHERE key = ?"
        found = self._store.query(query, (key,))
        return CachedReply(found[0][0], Usage(*found[0][1:])) if found else None

    def put(self, key: str, model: str, reply: CachedReply) -> None:
        """Store a reply; the first one with a key is kept."""
        row = (key, model, reply.text, *reply.usage)
        self._store.insert("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", [row])

    def close(self) -> None:
        """Close the file; safe to call again."""
        self._store.close()
