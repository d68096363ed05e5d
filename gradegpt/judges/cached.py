"""Judgements on disk, so that no item is judged twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Final

from pydantic import ValidationError

from gradegpt.core.errors import OutputError
from gradegpt.core.mistakes import explain
from gradegpt.core.schema import Item, Judgement, Outcome
from gradegpt.core.store import Store
from gradegpt.judges.base import Judge

_APPLICATION_ID: Final = 0x47474A43
_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS judgements (key TEXT PRIMARY KEY, judgement TEXT NOT NULL)
WITHOUT ROWID"""
_DECIDING: Final = frozenset(Item.model_fields) - {"id", "meta", "tags"}
_AT_ONCE: Final = 500
"""Keys of one query; SQLite takes some thousands at most."""


class CachedJudge:
    """A cache around a judge: it returns the judge's earlier judgement of an equal item.

    The key is the judge's fingerprint and all of the item but its id, ``meta`` and ``tags``; the
    judgement is returned with the item's own id. ``failed`` is never stored. Equal items of one
    call are judged once. Several threads may call it, and several processes may share the file,
    each with a ``CachedJudge`` of its own; a process may be killed at any time.

    ``hits`` and ``misses`` count items.

    Args:
        judge: The judge of items that are not in the file.
        path: An SQLite file, made where there is none.

    Raises:
        OutputError: the file is not such a cache, is damaged, or cannot be read or written.

    """

    def __init__(self, judge: Judge, path: str | Path) -> None:
        self.name = judge.name
        self.path = Path(path)
        self.hits = self.misses = 0
        self.inner = judge
        self._lock = Lock()
        self._store = Store(
            path, kind=_APPLICATION_ID, table=_TABLE, what="judgements", power_safe=False
        )

    @property
    def fingerprint(self) -> str:
        """That of the inner judge: a cache changes no judgement."""
        return self.inner.fingerprint

    def judge(self, items: Sequence[Item]) -> list[Judgement]:
        """One judgement per item, in order; the new ones are judged in one call."""
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
        self._store.close()

    def _read(self, keys: Sequence[str]) -> dict[str, Judgement]:
        rows: list[tuple[str, str]] = []
        for at in range(0, len(keys), _AT_ONCE):
            part = keys[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            query = f"SELECT key, judgement FROM judgements WHERE key IN ({marks})"
            rows += self._store.query(query, part)
        try:
            return {key: Judgement.model_validate_json(text) for key, text in rows}
        except ValidationError as error:
            what = f"holds a judgement that cannot be read ({explain(error)})"
            how = "delete the file, or choose another cache"
            raise OutputError(f"{self.path}: {what}; {how}") from error

    def _write(self, judgements: Mapping[str, Judgement]) -> None:
        bare = {key: j.model_copy(update={"id": ""}) for key, j in judgements.items()}
        rows = [(key, j.model_dump_json(exclude_defaults=True)) for key, j in bare.items()]
        # The first judgement of an item is kept if several processes judged it at the same time.
        self._store.insert("INSERT OR IGNORE INTO judgements VALUES (?, ?)", rows)


def _key(fingerprint: str, item: Item) -> str:
    """SHA-256 of everything that a judgement depends on, as hexadecimal digits."""
    parts = [fingerprint, item.model_dump(mode="json", include=set(_DECIDING))]
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
