"""Models that continue a text token by token: a local one, and one behind HTTP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from gradegpt.engines.client import Client, Failure
from gradegpt.errors import EngineError
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


class Completions:
    """A model behind ``<base_url>/completions``, in words, as servers do not show their tokenizer.

    Args:
        base_url: up to and including ``/v1``.
        model: the model's name on that server.
        api_key: as for ``Client``, like ``http_client``.
        concurrency: requests at a time.

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
        self.name = f"completions:{model}@{base_url.rstrip('/')}"
        self._concurrency = concurrency
        self._client = Client(base_url, model, api_key=api_key, http_client=http_client)

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
            made = self._client.continuation("".join(prefix).lstrip(), _TOKENS_A_WORD * n)
            if isinstance(made, Failure):
                check = "check that the server has /completions and this model"
                return EngineError(f"{self.name}: {made.detail}; {check}")
            return words(made)[:n]

        with ThreadPoolExecutor(max_workers=self._concurrency) as pool:
            return list(pool.map(ask, prefixes))
