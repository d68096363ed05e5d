"""The protocol every engine follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from gradegpt.core.errors import EngineError
from gradegpt.core.schema import Message


class TokenLogprob(NamedTuple):
    """One generated token and the natural logarithm of its probability."""

    text: str
    logprob: float


class Generation(NamedTuple):
    """The text that an engine generated for one prompt.

    ``tokens`` is empty where the engine returns no probabilities. ``cut_off``: the token limit
    ended the text, where the engine reports that.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: tuple[TokenLogprob, ...] = ()
    cut_off: bool = False


class TagProbability(NamedTuple):
    """The probability of the verdict tags as the reply: ``yes`` is P(Yes) / (P(Yes) + P(No)).

    Where a tag is several tokens, it is that of the first token in which the two differ.
    """

    yes: float
    prompt_tokens: int = 0
    completion_tokens: int = 1


class Engine(Protocol):
    """Anything that continues chat prompts.

    ``generate`` answers every prompt in order. A prompt that could not be answered gives an
    ``EngineError`` in its place, so that one failure affects one item; an engine that cannot work
    at all raises it.
    """

    name: str

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Continue each prompt by at most ``max_new_tokens`` tokens, greedily."""
        ...


@runtime_checkable
class TagEngine(Engine, Protocol):
    """An engine that can return the verdict's probability without generating the verdict."""

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The probability of the two tags as the first tokens after each prompt, in order.

        For prompts of the chain format ``outcome``, whose reply is the tag alone. None where the
        model would write something else, or where the engine cannot see that: the caller then has
        to generate.
        """
        ...


@runtime_checkable
class CountingEngine(Engine, Protocol):
    """An engine that has the model's own tokenizer, for texts that the estimate gets wrong."""

    def count_tokens(self, text: str) -> int:
        """How many tokens the model reads for the text, no special ones added."""
        ...
