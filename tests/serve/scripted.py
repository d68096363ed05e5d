"""A judge for worker processes, in a module of its own that loads quickly."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from gradegpt.core.errors import EngineError, EngineTimeoutError
from gradegpt.core.schema import Message
from gradegpt.engines.scripted import ScriptedEngine
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.settings import JudgeSettings


def scripted_judge(seen: Path, _: JudgeSettings) -> ModelJudge:
    """A judge that does what the response says; ``seen`` is a file that remembers."""
    return ModelJudge(ScriptedEngine(partial(script, seen)))


def script(seen: Path, messages: Sequence[Message]) -> str | EngineError:
    text = messages[-1].content
    seconds = {"Slow": 0.3, "Hang": 60.0}
    time.sleep(max(s for word, s in {**seconds, "": 0.0}.items() if word in text))
    if "Meet" in text:
        seen.with_suffix(f".{os.getpid()}").touch()
        while len(list(seen.parent.glob("seen.*"))) < 2:
            time.sleep(0.01)
    if "Always" in text or ("Once" in text and not seen.exists()):
        seen.touch()
        os._exit(9)
    if "Late" in text:
        return EngineTimeoutError("too slow")
    if "Bug" in text:
        raise KeyError("secret")
    return "<Yes>"
