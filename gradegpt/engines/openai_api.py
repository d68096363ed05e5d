"""Any OpenAI-compatible server as an engine: vLLM, SGLang, llama.cpp, Ollama, a paid API."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.client import Client, Failure, RequestSettings
from gradegpt.engines.completion import Completion
from gradegpt.errors import EngineError, SettingsError
from gradegpt.grammar import VERSION as GRAMMAR_VERSION
from gradegpt.grammar import chain_grammar
from gradegpt.schema import Message

if TYPE_CHECKING:
    import httpx2

SUSPEND_S: Final = 10.0
"""Seconds for which one of several servers is not used after it failed."""
TAG_TOKENS: Final = 4
"""A blank, ``<``, ``Yes`` and one to spare: by then the reply is one of the tags, or no tag."""
_TOP: Final = 20
_REFUSED: Final = ("http-400", "http-422")


class OpenAIEngine:
    """Sends each prompt to ``<base_url>/chat/completions``, by default at temperature 0.

    The ``openai`` client retries on 408, 409, 429 and 5xx with backoff and ``Retry-After``.
    Several URLs must serve one model; the prompts go to each in turn. A server that cannot be
    reached, or still answers 5xx after the retries, is suspended for ``SUSPEND_S`` seconds and
    until its ``/models`` answers; its prompts are sent once more to another.

    Args:
        base_url: up to and including ``/v1``; several as a list or with commas between them.
        model: the model's name on that server.
        api_key: as for ``Client``, like ``timeout_s``, ``max_retries`` and ``http_client``.
        concurrency: concurrent prompts for each URL.
        temperature: above 0 for several answers to one prompt; a judge uses 0.
        structured_outputs: whether the server constrains chains (``gradegpt.grammar``), as
            vLLM's does by its parameter of that name.
        request: what the server wants in a request besides the prompt.

    """

    def __init__(
        self,
        base_url: str | Sequence[str],
        model: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 120.0,
        max_retries: int = 4,
        concurrency: int = 16,
        temperature: float = 0.0,
        structured_outputs: bool = False,
        request: RequestSettings | None = None,
        http_client: httpx2.Client | None = None,
    ) -> None:
        urls = _urls(base_url)
        self.name = f"openai:{model}@{','.join(sorted(urls))}"
        self._request = request or RequestSettings()
        self._concurrency = concurrency * len(urls)
        self._temperature = temperature
        self.name += f"|t={temperature:g}" if temperature else ""
        self._structured = structured_outputs
        self.name += f"|structured-{GRAMMAR_VERSION}" if structured_outputs else ""
        asked = self._request.model_dump_json(exclude_defaults=True)
        self.name += f"|{asked}" if asked != "{}" else ""
        self._turns = itertools.count()
        self._has_top_logprobs = True
        shared: dict[str, Any] = {"timeout_s": timeout_s, "max_retries": max_retries}
        shared |= {"api_key": api_key, "request": request, "http_client": http_client}
        self._servers = [
            _Server(f"openai:{model}@{url}", Client(url, model, **shared)) for url in urls
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
    ) -> Completion | Failure:
        """Ask the next server in turn and, if it is down, one other."""
        options["temperature"] = self._temperature
        several = len(self._servers) > 1
        for server in self._next_servers() if several else self._servers:
            reply = server.client.chat(prompt, max_new_tokens, **options)
            if isinstance(reply, Completion):
                return reply
            reply = reply._replace(detail=f"{server.name}: {reply.detail}")
            if not (several and reply.down):
                return reply
            server.suspend(reply.error)
        errors = "; ".join(str(s.error) for s in self._servers if s.error)
        return Failure("no-connection", f"no server answered: {errors}", down=True)

    def _next_servers(self) -> Iterator[_Server]:
        """At most two servers, in turn: those in use first, then suspended ones that are up."""
        turn = next(self._turns) % len(self._servers)
        order = self._servers[turn:] + self._servers[:turn]
        asked: list[_Server] = []
        for early in (False, True):
            for server in order:
                if len(asked) < 2 and server not in asked and server.is_up(early=early):
                    asked.append(server)
                    yield server


class _Server:
    """One URL; ``error`` is the reason why it is suspended."""

    def __init__(self, name: str, client: Client) -> None:
        self.name, self.client = name, client
        self.error: EngineError | None = None
        self._until = 0.0
        self._checked = -math.inf
        self._lock = Lock()

    def suspend(self, error: EngineError) -> None:
        """Do not use the server for ``SUSPEND_S`` seconds."""
        self.error, self._until = error, time.monotonic() + SUSPEND_S

    def is_up(self, *, early: bool) -> bool:
        """Whether it is in use, or its suspension is over and it answers again.

        With ``early`` a suspended server is checked before the time is over. A server that did not
        answer is not checked again within a second.
        """
        if not self._suspended():
            return True
        if not early and time.monotonic() < self._until:
            return False
        with self._lock:
            if self._suspended() and time.monotonic() - self._checked > 1.0:
                if self.client.answers():
                    self.error = None
                else:
                    self._checked = time.monotonic()
                    self._until = self._checked + SUSPEND_S
            return not self._suspended()

    def _suspended(self) -> bool:
        return self.error is not None


def _urls(base_url: str | Sequence[str]) -> list[str]:
    listed = base_url.split(",") if isinstance(base_url, str) else base_url
    urls = list(dict.fromkeys(url.strip().rstrip("/") for url in listed if url.strip()))
    if not urls:
        raise SettingsError("base_url: is empty; give a URL up to and including /v1, or several")
    if wrong := next((u for u in urls if not u.startswith(("http://", "https://"))), None):
        raise SettingsError(f"base_url: {wrong}: must start with http:// or https://")
    return urls
