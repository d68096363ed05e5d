"""Any OpenAI-compatible server as an engine: vLLM, SGLang, llama.cpp, Ollama, a paid API."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from gradegpt.engines.base import Generation, Token
from gradegpt.errors import EngineError, EngineTimeoutError, MissingError
from gradegpt.schema import Message

if TYPE_CHECKING:
    import httpx2
    from openai.types.chat import ChatCompletion


class OpenAIEngine:
    """Asks ``<base_url>/chat/completions`` for each prompt, ``concurrency`` at a time, at temperature 0.

    Retries on 408, 409, 429 and 5xx with backoff are the ``openai`` client's, ``Retry-After`` included.

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
        return _generation(completion, self.name)


def _generation(completion: ChatCompletion, name: str) -> Generation | EngineError:
    if not completion.choices:
        return EngineError(f"{name}: the reply has no choices")
    choice, usage = completion.choices[0], completion.usage
    logprobs = (choice.logprobs.content if choice.logprobs else None) or []
    return Generation(
        text=choice.message.content or "",
        prompt_tokens=usage.prompt_tokens if usage else 0,
        completion_tokens=usage.completion_tokens if usage else 0,
        tokens=tuple(Token(t.token, t.logprob) for t in logprobs),
    )
