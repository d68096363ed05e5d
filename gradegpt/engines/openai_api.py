"""Any OpenAI-compatible server as an engine: vLLM, SGLang, llama.cpp, Ollama, a paid API."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

from gradegpt.chains.grammar import VERSION as GRAMMAR_VERSION
from gradegpt.chains.grammar import chain_grammar
from gradegpt.core.errors import EngineError, SettingsError
from gradegpt.core.schema import Message
from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.chat import widened
from gradegpt.engines.client import Client, Failure, RequestSettings, ServerReply

SUSPEND_S: Final = 10.0
"""Seconds for which one of several servers is not used after it failed."""
TAG_TOKENS: Final = 4
"""A blank, ``<``, ``Yes`` and one to spare: by then the reply is one of the tags, or no tag."""
_TOP: Final = 20
_REFUSED: Final = ("http-400", "http-422")


class OpenAIEngine:
    """Sends each prompt to ``<base_url>/chat/completions``, by default at temperature 0.

    Several URLs must serve one model; the prompts go to each in turn. A server that cannot be
    reached, or still answers 5xx after the client's retries, is suspended for ``SUSPEND_S`` seconds
    and until its ``/models`` answers; its prompts are sent once more to another.

    Args:
        base_url: up to and including ``/v1``; several as a list or with commas between them.
        model: the model's name on that server.
        concurrency: concurrent prompts for each URL.
        temperature: above 0 for several answers to one prompt; a judge uses 0.
        structured_outputs: whether the server holds chains to their grammar
            (``gradegpt.chains.grammar``), by vLLM's parameter of that name.
        control: the control tokens of the model, which no prompt may hold, if they are known.
        request: what the server wants in a request besides the prompt.
        client: options of ``Client``: ``api_key``, ``timeout_s``, ``max_retries``, ``http_client``.

    """

    def __init__(
        self,
        base_url: str | Sequence[str],
        model: str,
        *,
        concurrency: int = 16,
        temperature: float = 0.0,
        structured_outputs: bool = False,
        control: re.Pattern[str] | None = None,
        request: RequestSettings | None = None,
        **client: Any,
    ) -> None:
        urls = urls_of(base_url)
        self._request = request or RequestSettings()
        self._concurrency = concurrency * len(urls)
        self._temperature, self._structured = temperature, structured_outputs
        self._control = control
        asked = self._request.model_dump_json(exclude_defaults=True)
        self.name = f"openai:{model}@{','.join(sorted(urls))}"
        self.name += f"|t={temperature:g}" if temperature else ""
        self.name += f"|structured-{GRAMMAR_VERSION}" if structured_outputs else ""
        self.name += f"|{asked}" if asked != "{}" else ""
        self._turns = itertools.count()
        fields = self._request.extra_body
        self._has_top_logprobs = bool(fields.get("logprobs", 1) and fields.get("top_logprobs", 1))
        self._servers = [
            _Server(f"openai:{model}@{url}", Client(url, model, request=request, **client))
            for url in urls
        ]

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Send all prompts concurrently; the answers are in order."""

        def ask(prompt: Sequence[Message]) -> Generation | EngineError:
            # Sampling needs the texts alone, and some servers refuse to return probabilities.
            options: dict[str, Any] = {} if self._temperature else {"logprobs": True}
            if self._structured and (grammar := chain_grammar(prompt)) is not None:
                options["extra_body"] = {"structured_outputs": {"grammar": grammar}}
            reply = self._ask(prompt, max_new_tokens, **options)
            return reply.error if isinstance(reply, Failure) else reply.generation

        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(ask, prompts))

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The tags' probability, where the server returns ``top_logprobs``.

        One short request per prompt, of ``TAG_TOKENS`` tokens, as a tag is several tokens for many
        tokenizers. A server that returns none is not asked again; a model that thinks never is.
        """
        if self._request.thinking_tokens or not self._has_top_logprobs:
            return [None] * len(prompts)
        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(self._ask_tag, prompts))

    def _ask_tag(self, prompt: Sequence[Message]) -> TagProbability | EngineError | None:
        reply = self._ask(prompt, TAG_TOKENS, logprobs=True, top_logprobs=_TOP)
        if isinstance(reply, Failure):  # some servers refuse ``top_logprobs`` altogether
            return None if reply.reason in _REFUSED else reply.error
        if not any(step.top_logprobs for step in reply.steps):
            self._has_top_logprobs = False
        return reply.tag

    def _ask(
        self, prompt: Sequence[Message], max_new_tokens: int, **options: Any
    ) -> ServerReply | Failure:
        """Ask the next server in turn and, if it is down, one other."""
        if (control := self._control) is not None:
            prompt = [Message(role=m.role, content=widened(control, m.content)) for m in prompt]
        turn = next(self._turns) % len(self._servers)
        order = self._servers[turn:] + self._servers[:turn]
        failure = Failure("", "")
        for server in [*itertools.islice(filter(_Server.is_up, order), 2)] or order:
            reply = server.client.chat(
                prompt, max_new_tokens, temperature=self._temperature, **options
            )
            if isinstance(reply, ServerReply):
                server.error = ""
                return reply
            failure = reply._replace(detail=f"{server.name}: {reply.detail}")
            if len(order) == 1 or not reply.down:
                return failure
            server.suspend(failure.detail)
        errors = "; ".join(server.error for server in self._servers if server.error)
        return failure._replace(detail=f"no server answered: {errors}")


class _Server:
    """One URL; ``error`` is the reason why it is suspended, or empty."""

    def __init__(self, name: str, client: Client) -> None:
        self.name, self.client, self.error = name, client, ""
        self._until = 0.0
        self._lock = Lock()

    def suspend(self, error: str) -> None:
        """Do not use the server for ``SUSPEND_S`` seconds."""
        self.error, self._until = error, time.monotonic() + SUSPEND_S

    def is_up(self) -> bool:
        """Whether it is in use, or its suspension is over and it answers again."""
        with self._lock:
            if self.error and time.monotonic() >= self._until:
                self._until = time.monotonic() + SUSPEND_S
                self.error = "" if self.client.answers() else self.error
        return not self.error


def urls_of(base_url: str | Sequence[str]) -> list[str]:
    """The URLs of the setting; raises ``SettingsError`` where one is none."""
    listed = base_url.split(",") if isinstance(base_url, str) else base_url
    urls = list(dict.fromkeys(url.strip().rstrip("/") for url in listed if url.strip()))
    if not urls:
        raise SettingsError("base_url: is empty; give a URL up to and including /v1, or several")
    if wrong := next((u for u in urls if not u.startswith(("http://", "https://"))), None):
        raise SettingsError(f"base_url: {wrong}: must start with http:// or https://")
    return urls
