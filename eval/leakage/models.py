"""Models that continue a text token by token: a local one, and one behind HTTP."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from pydantic import BaseModel, Field, ValidationError

from gradegpt.errors import EngineError, MissingError
from gradegpt.mistakes import explain
from gradegpt.ngrams import HAN

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

_WORD: Final = re.compile(rf"\s*(?:[{HAN}]|[^\W\d_{HAN}]+|\d+|[^\w\s]|_|$)")
_TOKENS_A_WORD: Final = 6
"""Tokens requested per word: enough for long words, as a cut word would count as another."""


class Continues(Protocol[T]):
    """A model that continues texts in its own tokens or words, such as ``LocalEngine``.

    ``limit``: the most tokens that it reads.
    """

    name: str

    @property
    def limit(self) -> int: ...  # noqa: D102

    def tokens(self, text: str) -> list[T]:
        """The tokens of a text."""
        ...

    def text(self, tokens: Sequence[T]) -> str:
        """The text of some tokens."""
        ...

    def continue_(self, prefixes: Sequence[Sequence[T]], n: int) -> Sequence[list[T] | EngineError]:
        """The next ``n`` tokens of each prefix, greedily; fewer where the text ends."""
        ...


def words(text: str) -> list[str]:
    """Han characters, runs of letters, runs of digits and single signs, with preceding blanks.

    >>> words("设 x+2 = 12.")
    ['设', ' x', '+', '2', ' =', ' 12', '.']
    """
    return [word for word in _WORD.findall(text) if word.strip()]


class _Choice(BaseModel):
    text: str


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


class Completions:
    """A model behind ``<base_url>/completions``, in words, as servers do not show their tokenizer.

    Args:
        base_url: up to and including ``/v1``.
        model: the model's name on that server.
        api_key: None reads ``OPENAI_API_KEY``; servers without keys accept any.
        concurrency: requests at a time.
        http_client: the caller's own client, such as one with a mock transport.

    Raises:
        MissingError: the package ``openai`` is not installed.

    """

    limit = 1_000_000

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        concurrency: int = 16,
        http_client: httpx2.Client | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingError("--base-url needs: pip install 'gradegpt[openai]'") from error
        self.name = f"completions:{model}@{base_url.rstrip('/')}"
        self._model, self._concurrency, self._error = model, concurrency, openai.OpenAIError
        key = api_key or os.environ.get("OPENAI_API_KEY") or "none"
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key, timeout=120, max_retries=4, http_client=http_client
        )

    def tokens(self, text: str) -> list[str]:
        """The words of a text."""
        return words(text)

    def text(self, tokens: Sequence[str]) -> str:
        """The joined words, without surrounding blanks."""
        return "".join(tokens).strip()

    def continue_(
        self, prefixes: Sequence[Sequence[str]], n: int
    ) -> Sequence[list[str] | EngineError]:
        """One request per prefix; a failed request gives an ``EngineError`` in its place."""

        def ask(prefix: Sequence[str]) -> list[str] | EngineError:
            try:
                made = self._client.completions.create(
                    model=self._model,
                    prompt="".join(prefix).lstrip(),
                    max_tokens=_TOKENS_A_WORD * n,
                    temperature=0,
                )
                reply = _Completion.model_validate(made, from_attributes=True)
            except (self._error, ValueError) as error:  # ValueError: no completion
                why = explain(error) if isinstance(error, ValidationError) else error
                check = "check that the server has /completions and this model"
                return EngineError(f"{self.name}: {why}; {check}")
            return words(reply.choices[0].text)[:n]

        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(ask, prefixes))
