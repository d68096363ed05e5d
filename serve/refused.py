"""Prompts that no template fits, kept in a file, from which a template can be learnt."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gradegpt.core.schema import Message

_MOST: Final = 1_000
"""Prompts that are kept; two of a pipeline are enough."""


class Refused:
    """Keeps refused prompts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = 0
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)

    def keep(self, messages: Sequence[Message]) -> str:
        """Keep a prompt; what to do is for the error message."""
        row = {"messages": [message.model_dump() for message in messages]}
        with self._lock:
            self._kept += 1
            if self._kept > _MOST:
                return "no more prompts are kept"
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return f"it was kept in {self.path}, which gradegpt serve.template learn reads, too"
