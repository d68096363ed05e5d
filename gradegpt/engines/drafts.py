"""Drafts of the tokens that come next, which the model then reads in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.engines.exported import ExportedTokenizer
from gradegpt.speculative import ChainDraft

FORESEEN: Final = 16
"""Tokens of a draft by what a chain says; most are right."""
REPEATED: Final = 6
"""Tokens of a draft by what stood there before; every second one is right."""
_SEEN: Final = (3, 2)
"""Tokens that must have stood together before, the longer first."""


class Drafts:
    """What may come next in one reply: by the chain's draft, else by what followed before.

    A draft depends on the prompt and on what is written, on nothing else, so that one prompt has
    one reply whatever was asked before it.

    Args:
        tokenizer: The model's.
        pieces: What each token writes, in bytes.
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
        self._places: dict[tuple[int, ...], int] = {}
        self._written = b""
        self._line: list[int] | None = []
        for token in prompt:
            self._note(token)

    def add(self, token: int) -> None:
        """Note that ``token`` was written."""
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
        """The tokens to try; none where there is nothing to go by."""
        return self._foreseen() or self._repeated()

    def _note(self, token: int) -> None:
        """The last place of every few tokens, and what followed there."""
        for count in _SEEN:
            if len(self._tokens) >= count:
                self._places[tuple(self._tokens[-count:])] = len(self._tokens)
        self._tokens.append(token)

    def _foreseen(self) -> list[int]:
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
        return ids[begun : begun + FORESEEN] if ids[:begun] == self._line else []

    def _repeated(self) -> list[int]:
        tokens = self._tokens[-_SEEN[0] :]
        known = len(tokens)
        while len(tokens) - known < REPEATED:
            found = (self._places.get(tuple(tokens[-count:])) for count in _SEEN)
            place = next((at for at in found if at is not None), None)
            if place is None:
                break
            tokens.append(self._tokens[place])
        return tokens[known:]
