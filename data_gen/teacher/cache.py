"""A cache of replies on disk, so that no request is paid for twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradegpt.schema import Message
from gradegpt.store import Store

_APPLICATION_ID: Final = 0x47524144
_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, text TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL
) WITHOUT ROWID"""


class Usage(NamedTuple):
    """The billed tokens of a request."""

    prompt_tokens: int
    completion_tokens: int


class Reply(NamedTuple):
    """The text of a reply and its billed tokens."""

    text: str
    usage: Usage


def cache_key(
    model: str,
    messages: Sequence[Message],
    *,
    temperature: float | None,
    max_new_tokens: int,
    sample: int,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """The SHA-256 of everything that a reply depends on, as hexadecimal digits."""
    parts: list[object] = [
        model,
        [m.model_dump() for m in messages],
        temperature,
        max_new_tokens,
        sample,
    ]
    parts += [dict(extra)] if extra else []
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

    def get(self, key: str) -> Reply | None:
        """The reply with this ``key``, or none."""
        query = "SELECT text, prompt_tokens, completion_tokens FROM replies WHERE key = ?"
        found = self._store.query(query, (key,))
        return Reply(found[0][0], Usage(*found[0][1:])) if found else None

    def put(self, key: str, model: str, reply: Reply) -> None:
        """Store a reply; the first one with a key is kept."""
        row = (key, model, reply.text, *reply.usage)
        self._store.insert("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", [row])

    def close(self) -> None:
        """Close the file; safe to call again."""
        self._store.close()
