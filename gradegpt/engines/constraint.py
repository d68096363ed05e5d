"""Holds a local model's chain to its grammar, token by token, by llguidance.

Where llguidance does not read the tokenizer or gives a grammar up, the model writes freely, and
the judge checks what it reads, as for any server.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradegpt.chains.grammar import VERSION, chain_grammar
from gradegpt.core.errors import needs
from gradegpt.core.schema import Message

if TYPE_CHECKING:
    from llguidance import LLMatcher

NAME = f"+constrained-{VERSION}"
"""What the name of an engine ends with where its chains are constrained."""


class Constraints:
    """Makes the constraints of one model.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``.
        ends: the tokens that end a reply.

    Raises:
        MissingError: llguidance is not installed.

    """

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        with needs("constrained decoding", "gradegpt[local]"):
            import llguidance  # noqa: F401
        self._tokenizer, self._ends = tokenizer, list(ends)
        self._read: Any = None

    def of(self, prompt: Sequence[Message]) -> Constraint:
        """The constraint on the reply to a prompt; only a judge's prompt has one."""
        from llguidance import LLMatcher, LLTokenizer

        grammar = chain_grammar(prompt)
        if grammar is None:
            return Constraint()
        try:
            if self._read is None:  # at the first chain, as it takes a second
                self._read = LLTokenizer(_readable(self._tokenizer), eos_token=self._ends)
            return Constraint(LLMatcher(self._read, LLMatcher.grammar_from_lark(grammar)))
        except (ValueError, KeyError):
            return Constraint()


class Constraint:
    """The constraint on one reply; without a matcher anything is allowed."""

    def __init__(self, matcher: LLMatcher | None = None) -> None:
        self._matcher = matcher
        self._ahead: deque[int] = deque()

    @property
    def _held(self) -> LLMatcher | None:
        return None if self._matcher is None or self._matcher.is_error() else self._matcher

    def allowed(self) -> bytes | None:
        """A byte for each token, 0 where it is not allowed next; None where anything is."""
        try:
            return self._held.compute_logit_bias() if self._held else None
        except ValueError:  # the grammar is too large to go on with
            return None

    def forced(self) -> list[int]:
        """The next tokens where they are the same whatever the model says."""
        if not self._ahead and self._held:
            self._ahead.extend(self._held.compute_ff_tokens())
            self._held.consume_tokens([*self._ahead])
        return [*self._ahead]

    def write(self, token: int) -> None:
        """Record that ``token`` was written."""
        if self._ahead:
            self._ahead.popleft()
        elif self._held:
            self._held.consume_token(token)


def _readable(tokenizer: Any) -> str:
    """The tokenizer for llguidance, which takes each added token for a special one, not for text.

    A verdict tag may be such a token: it is moved into the vocabulary of the texts.
    """
    given = json.loads(tokenizer.to_str()) | {"padding": None, "truncation": None}
    words, special = given["model"]["vocab"], []
    for token in given["added_tokens"]:
        text = token["content"]
        if isinstance(words, dict) and not token["special"] and re.fullmatch(r"[!-~]+", text):
            words.setdefault(text, token["id"])
        else:
            special.append(token)
    return json.dumps(given | {"added_tokens": special})
