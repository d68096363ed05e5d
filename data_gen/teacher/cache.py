"""A cache of replies on disk, so that no request is paid for twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gradegpt.schema import Message
from gradegpt.store import Store

from .meter import Usage
from .settings import TeacherModel, TeacherSettings

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
