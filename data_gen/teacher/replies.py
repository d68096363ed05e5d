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

from .settings import TeacherSettings


class Usage(NamedTuple):
    """The billed tokens of a request."""

    prompt_tokens: int
    completion_tokens: int


class Meter:
    """Counts requests, tokens and money. Thread-safe.

    Cached replies of an earlier run count, too, so that the same settings give the same labels.
    """

    def __init__(self, settings: TeacherSettings) -> None:
        self._settings, self._lock = settings, Lock()
        self._counts: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self.failed_in_a_row = 0
        """The number of failed requests since the last reply."""
        self.last_failure = ""

    @property
    def stopped(self) -> str:
        """The message why no more requests are sent, or empty."""
        budget, spent = self._settings.budget, self._cost()
        if budget is None or spent < budget:
            return ""
        return (
            f"budget: {spent:.4f} of {budget:g} is spent, earlier runs included; raise "
            "budget to resume from the cache"
        )

    def _cost(self) -> float:
        counts, settings = self._counts, self._settings
        read = counts["prompt_tokens"] * settings.input_price
        return (read + counts["completion_tokens"] * settings.output_price) / 1e6

    def replied(self, usage: Usage) -> None:
        """Count a reply, from the server or from the cache."""
        with self._lock:
            self._counts.update({"replies": 1, **usage._asdict()})
            self.failed_in_a_row = 0

    def failed(self, reason: str, detail: str) -> None:
        """Count a request that failed after its retries."""
        with self._lock:
            self._failed[reason] += 1
            self.failed_in_a_row += 1
            self.last_failure = f"{self._settings.model}: {detail}"

    def rejected(self, reason: str) -> None:
        """Count a reply that could not be used, after it was asked for again."""
        with self._lock:
            self._rejected[reason] += 1

    def summary(self) -> dict[str, Any]:
        """For a manifest: counts and ``cost`` cover all replies, from this or an earlier run.

        They are the same for the same labels; ``run`` has the failures of this run alone.
        """
        return {
            "model": self._settings.model,
            **dict(sorted(self._counts.items())),
            "cost": round(self._cost(), 6),
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


def cache_key(messages: Sequence[Message], settings: TeacherSettings) -> str:
    """The SHA-256 of everything that a reply depends on, as hexadecimal digits."""
    turns = [m.model_dump() for m in messages]
    # The zeros keep the keys of older caches: the temperature, and the number of a sample.
    parts = [settings.model, turns, 0.0, settings.max_new_tokens, 0]
    parts += [settings.extra_body] if settings.extra_body else []
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
