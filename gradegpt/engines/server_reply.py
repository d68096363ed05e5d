"""The parts of an OpenAI-compatible server's chat completion that are used, validated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, Field

from gradegpt.chains.chain import NO, YES
from gradegpt.engines.base import Generation, TagProbability, TokenLogprob


class _Message(BaseModel):
    content: str | None = None


class _Option(BaseModel):
    token: str
    logprob: float


class _Logprob(_Option):
    top_logprobs: list[_Option] | None = None


class _Logprobs(BaseModel):
    content: list[_Logprob] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    """The tokens that the server counted."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class ServerReply(BaseModel):
    """A chat completion. The ``openai`` client itself does not validate a server's reply."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None

    @property
    def steps(self) -> list[_Logprob]:
        """The tokens with their probabilities, where the server returns them."""
        logprobs = self.choices[0].logprobs
        return (logprobs.content if logprobs else None) or []

    @property
    def generation(self) -> Generation:
        """The reply as a ``Generation``."""
        usage, text = self.usage or _Usage(), self.choices[0].message.content or ""
        tokens = tuple(TokenLogprob(t.token, t.logprob) for t in self.steps)
        counts = usage.prompt_tokens, usage.completion_tokens
        return Generation(text, *counts, tokens, self.choices[0].finish_reason == "length")

    @property
    def tag(self) -> TagProbability | None:
        """The tags' probability; None unless both are listed where they first differ."""
        yes = _tag_probability(self.steps)
        usage = self.usage or _Usage(completion_tokens=len(self.steps))
        counts = usage.prompt_tokens, usage.completion_tokens
        return None if yes is None else TagProbability(yes, *counts)


def _tag_probability(steps: Sequence[_Logprob]) -> float | None:
    written = ""
    for step in steps:
        options = {o.token: o.logprob for o in (*(step.top_logprobs or ()), step)}
        texts = [(written + token, math.exp(logprob)) for token, logprob in options.items()]
        yes, no = (sum(p for text, p in texts if _identifies(text, tag)) for tag in (YES, NO))
        written = (written + step.token).lstrip()
        if _identifies(written, YES) or _identifies(written, NO):
            return yes / (yes + no) if yes and no else None
        if written not in ("", "<"):
            return None
    return None


def _identifies(text: str, tag: str) -> bool:
    """Whether ``text`` begins as this tag does and the other tag does not."""
    text = text.lstrip()
    return len(text) > 1 and (tag.startswith(text) or text.startswith(tag))
