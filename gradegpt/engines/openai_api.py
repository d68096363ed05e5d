"""Any OpenAI-compatible server as an engine: vLLM, SGLang, llama.cpp, Ollama, a paid API."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, Field, ValidationError

from gradegpt.engines.base import Generation, Token
from gradegpt.errors import EngineError, EngineTimeoutError, MissingError
from gradegpt.records import explain
from gradegpt.schema import Message

if TYPE_CHECKING:
    import httpx2
    from openai.types.chat import ChatCompletion

_WRONG_URL: Final = "is base_url right, up to and including /v1?"


class OpenAIEngine:
    """Asks ``<base_url>/chat/completions`` for each prompt at temperature 0.

    ``concurrency`` prompts are under way at a time. Retries on 408, 409, 429 and 5xx with backoff
    are the ``openai`` client's, ``Retry-After`` included.

    Args:
        base_url: up to and including ``/v1``.
        model: the model's name on that server.
        api_key: none reads ``OPENAI_API_KEY``; servers without keys take any word.
        timeout_s: seconds for one request.
        http_client: a client of the caller's own, such as one with a mock transport.

    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 120.0,
        max_retries: int = 4,
        concurrency: int = 16,
        http_client: httpx2.Client | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingError(
                "the OpenAI-compatible engine needs: pip install 'gradegpt[openai]'"
            ) from error
        self.name = f"openai:{model}@{base_url}"
        self._openai = openai
        self._model = model
        self._concurrency = concurrency
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none",
            timeout=timeout_s,
            max_retries=max_retries,
            http_client=http_client,
        )

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Ask for all prompts concurrently, in order."""
        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(lambda prompt: self._ask(prompt, max_new_tokens), prompts))

    def _ask(self, prompt: Sequence[Message], max_new_tokens: int) -> Generation | EngineError:
        try:
            completion = self._client.chat.completions.create(
                model=self._model,
                messages=[m.model_dump() for m in prompt],  # type: ignore[misc]  # the SDK wants its own TypedDicts
                max_tokens=max_new_tokens,
                temperature=0.0,
                logprobs=True,
            )
        except self._openai.APITimeoutError:
            return EngineTimeoutError(
                f"{self.name}: no answer in time; raise timeout_s or lower concurrency"
            )
        except self._openai.APIStatusError as error:
            return EngineError(f"{self.name}: HTTP {error.status_code}: {error.message}")
        except self._openai.OpenAIError as error:
            return EngineError(f"{self.name}: {error}; is the server running?")
        except ValueError as error:  # the body is not JSON
            return EngineError(f"{self.name}: not a chat completion ({error}); {_WRONG_URL}")
        return _generation(completion, self.name)


class _Message(BaseModel):
    content: str | None = None


class _Logprob(BaseModel):
    token: str
    logprob: float


class _Logprobs(BaseModel):
    content: list[_Logprob] | None = None


class _Choice(BaseModel):
    message: _Message
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    """What is read of a reply; the client does not check what a server sends.

    It may be a web page.
    """

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def _generation(completion: ChatCompletion, name: str) -> Generation | EngineError:
    try:
        reply = _Reply.model_validate(completion, from_attributes=True)
    except ValidationError as error:
        return EngineError(f"{name}: not a chat completion ({explain(error)}); {_WRONG_URL}")
    choice, usage = reply.choices[0], reply.usage or _Usage()
    logprobs = (choice.logprobs.content if choice.logprobs else None) or []
    return Generation(
        text=choice.message.content or "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        tokens=tuple(Token(t.token, t.logprob) for t in logprobs),
    )
