"""The one client of OpenAI-compatible servers: one request, its completion, or why there is none.

Engines, the teacher of ``data_gen`` and the measurements of ``eval`` share it. A failure is a
returned value, so that one request that fails does not end the others.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from typing_extensions import override

from gradegpt.chains.chain import NO, YES
from gradegpt.core.errors import EngineError, EngineTimeoutError, needs
from gradegpt.core.mistakes import explain
from gradegpt.core.schema import Message
from gradegpt.core.settings import Settings, typed
from gradegpt.engines.base import Generation, TagProbability, TokenLogprob

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

CHECK_S: Final = 5.0
"""Seconds that a server may take to list its models."""
_WRONG_URL: Final = "is base_url right, up to and including /v1?"


class RequestSettings(Settings):
    """What a server wants in a request besides the prompt; reasoning models need it."""

    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name of the limit on new tokens."""
    thinking_tokens: int = Field(default=0, ge=0)
    """Tokens for a model's thoughts, on top of the limit on the reply."""
    extra_body: Annotated[dict[str, Any], BeforeValidator(typed)] = Field(default_factory=dict)
    """Further fields of the request, which replace ours: ``{temperature: 1}``; null removes one."""

    @override
    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # a dict has none


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


class Failure(NamedTuple):
    """Why there is no completion: a machine-readable reason, and a message.

    ``down``: nothing answers there.
    """

    reason: str
    detail: str
    down: bool = False

    @property
    def error(self) -> EngineError:
        """The failure as an engine's error."""
        return (EngineTimeoutError if self.reason == "timeout" else EngineError)(self.detail)


class Client:
    """Requests to one model of one server.

    Args:
        base_url: up to and including ``/v1``.
        model: the model's name on that server.
        api_key: None: the value of ``OPENAI_API_KEY``; servers without keys accept any word.
        timeout_s: seconds for one request.
        max_retries: how often the ``openai`` client asks again on 408, 409, 429, 5xx and a lost
            connection, with backoff and ``Retry-After``.
        request: what the server wants in a request besides the prompt.
        http_client: a client of the caller's, such as one with a mock transport.

    Raises:
        MissingError: the package ``openai`` is not installed.

    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 120.0,
        max_retries: int = 4,
        request: RequestSettings | None = None,
        http_client: httpx2.Client | None = None,
    ) -> None:
        with needs("an OpenAI-compatible server", "gradegpt[openai]"):
            import openai
        self._openai, self.model = openai, model
        self.request = request or RequestSettings()
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none",
            timeout=timeout_s,
            max_retries=max_retries,
            http_client=http_client,
        )

    def chat(
        self, messages: Sequence[Message], max_new_tokens: int, **options: Any
    ) -> ServerReply | Failure:
        """The reply to a conversation, of at most ``max_new_tokens`` tokens besides thoughts."""
        limit = max_new_tokens + self.request.thinking_tokens
        extra = options.pop("extra_body", {}) | self.request.extra_body
        wanted: dict[str, Any] = {self.request.max_tokens_name: limit, **options}
        wanted = {name: value for name, value in wanted.items() if name not in extra}
        wanted["extra_body"] = {name: value for name, value in extra.items() if value is not None}
        wanted["messages"] = [m.model_dump() for m in messages]

        def ask() -> ServerReply:  # validated, as the ``openai`` client does not do it
            made = self._client.chat.completions.create(model=self.model, **wanted)
            return ServerReply.model_validate(made, from_attributes=True)

        return self._asked(ask)

    def answers(self) -> bool:
        """Whether the server lists its models; any status below 500 shows that it is up."""
        try:
            self._client.with_options(max_retries=0, timeout=CHECK_S).models.list()
        except self._openai.OpenAIError as error:
            return isinstance(error, self._openai.APIStatusError) and error.status_code < 500
        except ValueError:  # not JSON
            pass
        return True

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _asked(self, ask: Callable[[], T]) -> T | Failure:
        try:
            return ask()
        except self._openai.APITimeoutError as error:
            # The SDK has one error for both; by name, as its HTTP library depends on its version.
            if type(error.__cause__).__name__ == "ConnectTimeout":
                return Failure("timeout", "no connection in time", down=True)
            what = "no answer in time; raise timeout_s or lower concurrency"
            return Failure("timeout", what)
        except self._openai.APIStatusError as error:
            code = error.status_code
            return Failure(f"http-{code}", f"HTTP {code}: {error.message}", down=code >= 500)
        except self._openai.OpenAIError as error:
            what = f"{str(error).rstrip('.')}; is the server running?"
            return Failure("no-connection", what, down=True)
        except ValueError as error:  # the body is not JSON, or not a completion's
            why = explain(error) if isinstance(error, ValidationError) else error
            return Failure("no-completion", f"not a chat completion ({why}); {_WRONG_URL}")
