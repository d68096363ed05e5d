"""An engine that returns given replies: for tests, and to try a pipeline without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Message
from gradegpt.engines.base import Generation

Script = Callable[[Sequence[Message]], str | EngineError]


class ScriptedEngine:
    """Answers with ``script(messages)``, or with the given replies in order."""

    name = "scripted"

    def __init__(self, script: Script | Sequence[str | EngineError]) -> None:
        self._script = script if callable(script) else _in_turn(list(script))
        self.prompts: list[Sequence[Message]] = []

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Answer every prompt; ``max_new_tokens`` limits the number of words."""
        self.prompts.extend(prompts)
        replies = [self._script(prompt) for prompt in prompts]
        limit = max_new_tokens
        return [r if isinstance(r, EngineError) else _generation(r, limit) for r in replies]


def _in_turn(replies: list[str | EngineError]) -> Script:
    def script(_: Sequence[Message]) -> str | EngineError:
        none_left = "the scripted engine has no reply left; give one for every prompt"
        return replies.pop(0) if replies else EngineError(none_left)

    return script


def _generation(text: str, max_new_tokens: int) -> Generation:
    pieces = text.split(" ")[:max_new_tokens]
    return Generation(" ".join(pieces), completion_tokens=len(pieces))
