"""Judgements on disk, so that nothing is judged twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from pydantic import ValidationError

from gradegpt.errors import OutputError
from gradegpt.judges.base import Judge
from gradegpt.records import explain
from gradegpt.schema import Item, Judgement, Outcome

_APPLICATION_ID: Final = 0x47474A43
_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS judgements (key TEXT PRIMARY KEY, judgement TEXT NOT NULL)
WITHOUT ROWID"""
_DECIDING: Final = frozenset(Item.model_fields) - {"id", "meta"}
_AT_ONCE: Final = 500
"""Keys of one query; SQLite takes some thousands at most."""
_WAIT_S: Final = 30.0


class CachedJudge:
    """A judge around a judge: what that one said of an item before, it says again.

    A judgement is found by the judge's fingerprint and all of the item but its id and ``meta``; it
    comes back with the id of the item that asks. ``failed`` is never kept. Equal items of one call
    are judged once. Many threads may ask, and several processes may share the file, each with a
    ``CachedJudge`` of its own; a process may be killed at any time.

    ``hits`` and ``misses`` count items.

    Args:
        judge: Who is asked about what is not in the file.
        path: An SQLite file, made where there is none.

    Raises:
        OutputError: the file is something else, is damaged, or cannot be read or written.

    """

    def __init__(self, judge: Judge, path: str | Path) -> None:
        self.name = judge.name
        self.path = Path(path)
        self.hits = self.misses = 0
        self.inner = judge
        self._lock = Lock()
        with self._complaints():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
        try:
            with self._complaints():
                self._open()
        except OutputError:
            self._db.close()
            raise

    @property
    def fingerprint(self) -> str:
        """That of the judge: remembering changes no judgement."""
        return self.inner.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement an item, in order; the judge is asked about the new ones together."""
        fingerprint = self.inner.fingerprint
        keys = [_key(fingerprint, item) for item in items]
        known = self._read(keys)
        new: dict[str, Item] = {}
        for key, item in zip(keys, items, strict=True):
            if key not in known:
                new.setdefault(key, item)
        if new:
            made = dict(zip(new, self.inner.judge(list(new.values())), strict=True))
            self._write({k: j for k, j in made.items() if j.outcome is not Outcome.FAILED})
            known |= made
        with self._lock:
            self.misses += len(new)
            self.hits += len(items) - len(new)
        pairs = zip(keys, items, strict=True)
        return [known[key].model_copy(update={"id": item.id}) for key, item in pairs]

    def close(self) -> None:
        """Close the file; safe to call again."""
        with self._lock:
            self._db.close()

    def _open(self) -> None:
        # One transaction, so that of several processes that begin at once one makes the file.
        self._db.execute("BEGIN IMMEDIATE")
        (found,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and found != _APPLICATION_ID:
            raise OutputError(f"{self.path}: a database of another kind; choose another cache")
        self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._db.execute(_TABLE)
        self._db.execute("COMMIT")
        self._append_only()

    def _append_only(self) -> None:
        """A reader never waits for a writer; a power cut may cost the last rows, never the file."""
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:  # the one step that does not wait for others itself
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, FileExistsError, NotADirectoryError, PermissionError) as error:
            how = "choose another path, or delete the file if it is damaged"
            raise OutputError(
                f"{self.path}: no usable cache of judgements ({error}); {how}"
            ) from error

    def _read(self, keys: Sequence[str]) -> dict[str, Judgement]:
        rows: list[tuple[str, str]] = []
        with self._lock, self._complaints():
            for at in range(0, len(keys), _AT_ONCE):
                part = keys[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(part))
                query = f"SELECT key, judgement FROM judgements WHERE key IN ({marks})"
                rows += self._db.execute(query, part)
        try:
            return {key: Judgement.model_validate_json(text) for key, text in rows}
        except ValidationError as error:
            what = f"holds a judgement that cannot be read ({explain(error)})"
            how = "delete the file, or choose another cache"
            raise OutputError(f"{self.path}: {what}; {how}") from error

    def _write(self, judgements: Mapping[str, Judgement]) -> None:
        bare = {key: j.model_copy(update={"id": ""}) for key, j in judgements.items()}
        rows = [(key, j.model_dump_json(exclude_defaults=True)) for key, j in bare.items()]
        with self._lock, self._complaints():
            self._db.execute("BEGIN IMMEDIATE")
            # The first judgement of an item stays, whoever else was judging it meanwhile.
            self._db.executemany("INSERT OR IGNORE INTO judgements VALUES (?, ?)", rows)
            self._db.execute("COMMIT")


def _key(fingerprint: str, item: Item) -> str:
    """SHA-256 of all that a judgement depends on, as hexadecimal digits."""
    parts = [fingerprint, item.model_dump(mode="json", include=set(_DECIDING))]
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
