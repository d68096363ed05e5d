"""The log of requests: what handlers note about a request, and its JSON line."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from fastapi import Request

from gradegpt.core.schema import Judgement

NOTE: Final = "gradegpt.note"
"""The key of a request's note in its scope."""
_UNSAFE: Final = {n: f"\\u{n:04x}" for n in (*range(0x7F, 0xA0), *range(0x2028, 0x202F))}
"""Characters that JSON does not escape, but that terminals or line readers interpret."""


@dataclass
class Note:
    """The facts about a request that handlers collect for the log.

    ``key`` is the beginning of the API key's SHA-256. ``status`` is 0 until the reply begins.
    ``held`` are the bytes of its body and reply. ``errors`` counts codes: that of the reply, or
    those of a stream's lines. ``undecided`` are its replies to prompts, and its rewards, for which
    the judge reached no verdict. ``left`` is set when the connection is lost, also while nothing
    reads from it.
    """

    id: str
    method: str
    path: str
    key: str = ""
    family: str = ""
    status: int = 0
    started: float = field(default_factory=time.monotonic)
    held: int = 0
    items: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def judged(self, judgements: Iterable[Judgement]) -> None:
        """Count judgements by outcome."""
        counted = Counter(judgement.outcome.value for judgement in judgements)
        self.items += counted.total()
        self.outcomes += counted

    @property
    def seconds(self) -> float:
        """Seconds since the request arrived."""
        return time.monotonic() - self.started


def note_of(request: Request) -> Note:
    """The note of a request."""
    note: Note = request.scope[NOTE]
    return note


def write(note: Note) -> None:
    """Write a request's line to stderr, without its content."""
    row = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": note.id,
        "method": note.method,
        "path": note.path,
        "status": note.status,
        "ms": round(note.seconds * 1_000, 1),
        "family": note.family,
        "items": note.items,
        "outcomes": dict(note.outcomes),
        "errors": dict(note.errors),
        "key": note.key,
    }
    line = json.dumps(row, ensure_ascii=False)
    sys.stderr.write(line.translate(_UNSAFE) + "\n")
    sys.stderr.flush()
