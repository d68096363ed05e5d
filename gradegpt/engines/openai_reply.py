"""What is read of an OpenAI-compatible server's reply; it may be a web page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, Field

from gradegpt.chain import NO, YES
from gradegpt.engines.base import Generation, TagProbability, Token


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


class Usage(BaseModel):
    """Tokens that were paid for."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class Reply(BaseModel):
    """A chat completion; the client itself does not check what a server sends."""

    choices: list[_Choice] = Field(min_length=1)
    usage: Usage | None = None

    @property
    def steps(self) -> list[_Logprob]:
        """The tokens with their probabilities, where the server tells."""
        logprobs = self.choices[0].logprobs
        return (logprobs.content if logprobs else None) or []

    @property
    def generation(self) -> Generation:
        """The reply as any engine gives it."""
        usage, text = self.usage or Usage(), self.choices[0].message.content or ""
        tokens = tuple(Token(t.token, t.logprob) for t in self.steps)
        counts = usage.prompt_tokens, usage.completion_tokens
        return Generation(text, *counts, tokens, self.choices[0].finish_reason == "length")

    @property
    def tag(self) -> TagProbability | None:
        """How likely each tag was; None unless both can be seen where they are told apart."""
        yes = _tag_probability(self.steps)
        usage = self.usage or Usage(completion_tokens=len(self.steps))
        counts = usage.prompt_tokens, usage.completion_tokens
        return None if yes is None else TagProbability(yes, *counts)


def _tag_probability(steps: Sequence[_Logprob]) -> float | None:
    written = ""
    for step in steps:
        options = {o.token: o.logprob for o in (*(step.top_logprobs or ()), step)}
        said = [(written + token, math.exp(logprob)) for token, logprob in options.items()]
        yes, no = (sum(p for text, p in said if _tells(text, tag)) for tag in (YES, NO))
        written = (written + step.token).lstrip()
        if _tells(written, YES) or _tells(written, NO):
            return yes / (yes + no) if yes and no else None
        if written not in ("", "<"):
            return None
    return None


def _tells(text: str, tag: str) -> bool:
    """Whether ``text`` is this tag, or as much of it as the other has not."""
    text = text.lstrip()
    return len(text) > 1 and (tag.startswith(text) or text.startswith(tag))
