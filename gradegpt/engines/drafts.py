"""Speculative drafts of the next tokens, which the model verifies in one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.engines.exported import ExportedTokenizer
from gradegpt.speculative import ChainDraft

_CHAIN_TOKENS: Final = 16
"""Tokens of a draft from the chain's expected text; most are right."""
_LOOKUP_TOKENS: Final = 6
"""Tokens of a draft by n-gram lookup in the earlier tokens; every second one is right."""
_NGRAMS: Final = (3, 2)
"""Lengths of the n-grams that are looked up, the longer first."""


class Drafts:
    """Drafts for one reply: from the chain's expected text, else by n-gram lookup.

    The lookup repeats the tokens that followed the last n-gram before. A draft depends on nothing
    but the prompt and the text written so far, so that a reply does not depend on earlier prompts.

    Args:
        tokenizer: The model's tokenizer.
        pieces: The bytes of each token.
        prompt: The prompt's tokens.
        draft: The draft for a judge's prompt; none for other conversations.

    """

    def __init__(
        self,
        tokenizer: ExportedTokenizer,
        pieces: Sequence[bytes],
        prompt: Sequence[int],
        draft: ChainDraft | None,
    ) -> None:
        self._tokenizer, self._pieces, self._draft = tokenizer, pieces, draft
        self._tokens: list[int] = []
        self._followers: dict[tuple[int, ...], int] = {}
        self._written = b""
        self._line: list[int] | None = []
        for token in prompt:
            self._note(token)

    def add(self, token: int) -> None:
        """Record that ``token`` was written."""
        self._note(token)
        if self._draft is None:
            return
        piece = self._pieces[token] if token < len(self._pieces) else b""
        self._written += piece
        if piece.endswith(b"\n"):
            self._line = []
        elif b"\n" in piece:
            self._line = None  # the line begins inside a token
        elif self._line is not None:
            self._line.append(token)

    def next(self) -> list[int]:
        """The drafted tokens; empty where there is no draft."""
        return self._from_chain() or self._from_lookup()

    def _note(self, token: int) -> None:
        """Record where the token after each n-gram is."""
        for count in _NGRAMS:
            if len(self._tokens) >= count:
                self._followers[tuple(self._tokens[-count:])] = len(self._tokens)
        self._tokens.append(token)

    def _from_chain(self) -> list[int]:
        if self._draft is None or self._line is None:
            return []
        try:
            written = self._written.decode()
        except UnicodeDecodeError:  # half a character
            return []
        if not (words := self._draft.after(written)):
            return []
        ids = self._tokenizer.encode(written.rpartition("\n")[2] + words)
        begun = len(self._line)
        return ids[begun : begun + _CHAIN_TOKENS] if ids[:begun] == self._line else []

    def _from_lookup(self) -> list[int]:
        tokens = self._tokens[-_NGRAMS[0] :]
        known = len(tokens)
        while len(tokens) - known < _LOOKUP_TOKENS:
            found = (self._followers.get(tuple(tokens[-count:])) for count in _NGRAMS)
            place = next((at for at in found if at is not None), None)
            if place is None:
                break
            tokens.append(self._tokens[place])
        return tokens[known:]
