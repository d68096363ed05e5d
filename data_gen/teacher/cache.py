"""Replies on disk, so that nothing is paid for twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from gradegpt.errors import OutputError
from gradegpt.schema import Message

_APPLICATION_ID: Final = 0x47524144
_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, text TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL
) WITHOUT ROWID"""


class Usage(NamedTuple):
    """Tokens that a request is charged for."""

    prompt_tokens: int
    completion_tokens: int


class Reply(NamedTuple):
    """What a model wrote, and what it cost in tokens."""

    text: str
    usage: Usage


def cache_key(
    model: str,
    messages: Sequence[Message],
    *,
    temperature: float | None,
    max_new_tokens: int,
    sample: int,
) -> str:
    """SHA-256 of all that a reply depends on, as hexadecimal digits."""
    parts = [model, [m.model_dump() for m in messages], temperature, max_new_tokens, sample]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


class ReplyCache:
    """SQLite file of replies: many threads, several processes, killed at any time.

    Each reply is a transaction of its own; what ``put`` returned from survives the process.

    Raises:
        OutputError: the file is something else, or cannot be read or written.

    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = Lock()
        with self._complaints():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=30.0, isolation_level=None, check_same_thread=False
            )
        try:
            with self._complaints():
                self._open()
        except OutputError:
            self._db.close()
            raise

    def _open(self) -> None:
        (found,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and found != _APPLICATION_ID:
            raise OutputError(f"{self.path}: a database of another kind; choose another cache")
        # A reader never waits for a writer, and a commit is one append instead of two rewrites.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._db.execute(_TABLE)

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, FileExistsError, PermissionError) as error:
            raise OutputError(
                f"{self.path}: no usable cache ({error}); choose another path or free the disk"
            ) from error

    def get(self, key: str) -> Reply | None:
        """The reply under ``key``, or none."""
        with self._lock, self._complaints():
            row = self._db.execute(
                "SELECT text, prompt_tokens, completion_tokens FROM replies WHERE key = ?", (key,)
            ).fetchone()
        return Reply(row[0], Usage(row[1], row[2])) if row else None

    def put(self, key: str, model: str, reply: Reply) -> None:
        """Keep a reply; the first one under a key stays."""
        with self._lock, self._complaints():
            self._db.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)",
                (key, model, reply.text, *reply.usage),
            )

    def close(self) -> None:
        """Close the file; safe to call again."""
        with self._lock:
            self._db.close()
