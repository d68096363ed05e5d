"""The protocol every engine follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gradegpt.errors import EngineError
from gradegpt.schema import Message


class Token(NamedTuple):
    """One generated token and the natural logarithm of its probability."""

    text: str
    logprob: float


class Generation(NamedTuple):
    """What an engine wrote for one prompt.

    ``tokens`` is empty where the engine gives no probabilities.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: tuple[Token, ...] = ()


class Engine(Protocol):
    """Anything that continues chat prompts.

    ``generate`` answers every prompt in order. A prompt that could not be answered gives an
    ``EngineError`` in its place, so that one failure costs one item; an engine that cannot work at
    all raises it.
    """

    name: str

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue each prompt by at most ``max_new_tokens`` tokens, greedily."""
        ...
