"""Prompts that no template fits, kept in a file, from which a template can be learnt."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gradegpt.core.schema import Message

from .learn import LearnError, as_yaml, learn, pipeline_of

_MOST: Final = 1_000
"""Prompts that are kept and compared; two of a pipeline are enough."""
_PIPELINES: Final = 32
"""Pipelines whose last prompt is compared with the next one."""
_LONGEST: Final = (10_000, 1_500)
"""Characters and words of a prompt that is compared, so that none takes long."""


class Refused:
    """Keeps refused prompts, and drafts a template from two of one pipeline."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = 0
        self._last: dict[str, list[Message]] = {}
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)

    def keep(self, messages: Sequence[Message]) -> str:
        """Keep a prompt; what to do is for the error message."""
        row = {"messages": [message.model_dump() for message in messages]}
        pipeline = pipeline_of(messages)
        with self._lock:
            earlier = self._last.pop(pipeline, None)
            self._last[pipeline] = [*messages]
            if len(self._last) > _PIPELINES:
                del self._last[next(iter(self._last))]
            self._kept += 1
            if self._kept > _MOST:
                return "no more prompts are kept"
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        command = f"it was kept: gradegpt serve.template learn {self.path} -o mine.yaml"
        draft = _draft(earlier, messages) if earlier else ""
        return f"{command}; a draft:\n{draft}" if draft else command


def _draft(earlier: Sequence[Message], messages: Sequence[Message]) -> str:
    texts = [" ".join(m.content for m in prompt) for prompt in (earlier, messages)]
    if any(len(text) > _LONGEST[0] or len(text.split()) > _LONGEST[1] for text in texts):
        return ""
    try:
        return as_yaml(learn([earlier, messages], "mine"))
    except LearnError:  # its message may quote another client's prompt
        return ""
