"""Any OpenAI-compatible server as an engine: vLLM, SGLang, llama.cpp, Ollama, a paid API."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from gradegpt.engines.base import Generation, TagProbability
from gradegpt.engines.openai_reply import Reply
from gradegpt.errors import EngineError, EngineTimeoutError, MissingError, SettingsError
from gradegpt.mistakes import explain
from gradegpt.schema import Message
from gradegpt.structured import VERSION as STRUCTURED_VERSION
from gradegpt.structured import chain_regex

if TYPE_CHECKING:
    import httpx2
    import openai

SUSPEND_S: Final = 10.0
"""Seconds for which one of several servers is not used after it failed."""
CHECK_S: Final = 5.0
"""Seconds that a server may take to answer the check whether it is up again."""
TAG_TOKENS: Final = 4
"""A blank, ``<``, ``Yes`` and one to spare: by then the reply is one of the tags, or no tag."""
_TOP: Final = 20
_REFUSED: Final = (400, 422)
_WRONG_URL: Final = "is base_url right, up to and including /v1?"


class OpenAIEngine:
    """Sends each prompt to ``<base_url>/chat/completions``, by default at temperature 0.

    The ``openai`` client retries on 408, 409, 429 and 5xx with backoff and ``Retry-After``.
    Several URLs must serve one model; the prompts go to each in turn. A server that cannot be
    reached, or still answers 5xx after the retries, is suspended for ``SUSPEND_S`` seconds and
    until its ``/models`` answers; its prompts are sent once more to another.

    Args:
        base_url: up to and including ``/v1``; several as a list or with commas between them.
        model: the model's name on that server.
        api_key: None: the value of ``OPENAI_API_KEY``; servers without keys accept any word.
        timeout_s: seconds for one request.
        concurrency: concurrent prompts for each URL.
        temperature: above 0 for several answers to one prompt; a judge uses 0.
        structured_outputs: whether the server constrains chains (``gradegpt.structured``), as
            vLLM's does by its parameter of that name.
        http_client: a client of the caller's, such as one with a mock transport.

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
        http_client: httpx2.Client | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            needed = "pip install 'gradegpt[openai]'"
            raise MissingError(f"the OpenAI-compatible engine needs: {needed}") from error
        urls = _urls(base_url)
        self.name = f"openai:{model}@{','.join(sorted(urls))}"
        self._openai = openai
        self._model = model
        self._concurrency = concurrency * len(urls)
        self._temperature = temperature
        self.name += f"|t={temperature:g}" if temperature else ""
        self._structured = structured_outputs
        self.name += f"|structured-{STRUCTURED_VERSION}" if structured_outputs else ""
        self._turns = itertools.count()
        self._has_top_logprobs = True
        client = partial(
            openai.OpenAI,
            api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none",
            timeout=timeout_s,
            max_retries=max_retries,
            http_client=http_client,
        )
        self._servers = [_Server(url, client(base_url=url)) for url in urls]

    def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
    ) -> list[Generation | EngineError]:
        """Send all prompts concurrently; the answers are in order."""

        def ask(prompt: Sequence[Message]) -> Generation | EngineError:
            # Sampling needs the texts alone, and some servers refuse to return probabilities.
            options: dict[str, Any] = {} if self._temperature else {"logprobs": True}
            if self._structured and (regex := chain_regex(prompt)) is not None:
                options["extra_body"] = {"structured_outputs": {"regex": regex}}
            reply = self._ask(prompt, max_tokens=max_new_tokens, **options)
            return reply.error if isinstance(reply, _Failure) else reply.generation

        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(ask, prompts))

    def tag_probabilities(
        self, prompts: Sequence[Sequence[Message]]
    ) -> list[TagProbability | EngineError | None]:
        """The tags' probability, where the server returns ``top_logprobs``.

        One short request per prompt, of ``TAG_TOKENS`` tokens, as a tag is several tokens for many
        tokenizers. A server that returns none is not asked again.
        """
        if not self._has_top_logprobs:
            return [None] * len(prompts)
        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(self._ask_tag, prompts))

    def _ask_tag(self, prompt: Sequence[Message]) -> TagProbability | EngineError | None:
        reply = self._ask(prompt, max_tokens=TAG_TOKENS, logprobs=True, top_logprobs=_TOP)
        if isinstance(reply, _Failure):  # some servers refuse ``top_logprobs`` altogether
            return None if reply.refused else reply.error
        if not any(step.top_logprobs for step in reply.steps):
            self._has_top_logprobs = False
        return reply.tag

    def _ask(self, prompt: Sequence[Message], **options: Any) -> Reply | _Failure:
        """Ask the next server in turn and, if it is down, one other."""
        if len(self._servers) == 1:
            return self._ask_at(self._servers[0], prompt, options)
        for server in self._next_servers():
            reply = self._ask_at(server, prompt, options)
            if not (isinstance(reply, _Failure) and reply.down):
                return reply
            server.suspend(reply.error)
        errors = "; ".join(str(s.error) for s in self._servers if s.error)
        return _Failure(EngineError(f"no server answered: {errors}"))

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

    def _ask_at(
        self, server: _Server, prompt: Sequence[Message], options: dict[str, Any]
    ) -> Reply | _Failure:
        name = f"openai:{self._model}@{server.url}"
        try:
            completion = server.client.chat.completions.create(
                model=self._model,
                messages=[m.model_dump() for m in prompt],  # type: ignore[misc]  # the SDK wants its own TypedDicts
                temperature=self._temperature,
                **options,
            )
            return Reply.model_validate(completion, from_attributes=True)
        except self._openai.APITimeoutError as error:
            # The SDK has one error for both; by name, as its HTTP library depends on its version.
            if type(error.__cause__).__name__ == "ConnectTimeout":
                return _Failure(EngineTimeoutError(f"{name}: no connection in time"), down=True)
            what = "no answer in time; raise timeout_s or lower concurrency"
            return _Failure(EngineTimeoutError(f"{name}: {what}"))
        except self._openai.APIStatusError as error:
            code = error.status_code
            failed = EngineError(f"{name}: HTTP {code}: {error.message}")
            return _Failure(failed, down=code >= 500, refused=code in _REFUSED)
        except self._openai.OpenAIError as error:
            reason = str(error).rstrip(".")
            return _Failure(EngineError(f"{name}: {reason}; is the server running?"), down=True)
        except ValueError as error:  # the body is not JSON, or not a completion's
            why = explain(error) if isinstance(error, ValidationError) else error
            return _Failure(EngineError(f"{name}: not a chat completion ({why}); {_WRONG_URL}"))


class _Failure(NamedTuple):
    """Why there is no completion: the server is ``down``, or it ``refused`` the request."""

    error: EngineError
    down: bool = False
    refused: bool = False


class _Server:
    """One URL; ``error`` is the reason why it is suspended."""

    def __init__(self, url: str, client: openai.OpenAI) -> None:
        self.url, self.client = url, client
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
                if self._answers():
                    self.error = None
                else:
                    self._checked = time.monotonic()
                    self._until = self._checked + SUSPEND_S
            return not self._suspended()

    def _suspended(self) -> bool:
        return self.error is not None

    def _answers(self) -> bool:
        import openai

        try:
            self.client.with_options(max_retries=0, timeout=CHECK_S).models.list()
        except openai.OpenAIError as error:
            # Any status below 500 shows that the server is up.
            return isinstance(error, openai.APIStatusError) and error.status_code < 500
        except ValueError:  # not JSON
            pass
        return True


def _urls(base_url: str | Sequence[str]) -> list[str]:
    listed = base_url.split(",") if isinstance(base_url, str) else base_url
    urls = list(dict.fromkeys(url.strip().rstrip("/") for url in listed if url.strip()))
    if not urls:
        raise SettingsError("base_url: is empty; give a URL up to and including /v1, or several")
    if wrong := next((u for u in urls if not u.startswith(("http://", "https://"))), None):
        raise SettingsError(f"base_url: {wrong}: must start with http:// or https://")
    return urls
