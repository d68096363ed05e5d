"""Guided chains: while a judge writes, it quotes only what the response says, and comes to an end.

A small model that copies a long sentence can lose its place: it garbles a quote or repeats itself
until its tokens run out. The guide looks at each next piece of text before it is written. It never
touches the verdict, and a text that does not begin like a chain is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradegpt.chain import AGREE, GIVES, KEY, REFERENCE, defuse, parse_prompt
from gradegpt.fit import ELISION
from gradegpt.schema import Message

MAX_LINE: Final = 640
"""Bytes of one line of a chain; about 200 Chinese characters."""
_LOOP: Final = 24
_ROUNDS: Final = 4
_KEY, _REFERENCE, _GIVES, _AGREE = (x.encode() for x in (KEY, REFERENCE, GIVES, AGREE))


class ChainGuide:
    """What may follow in the chain for one prompt.

    Args:
        response: The response as the prompt shows it.

    """

    def __init__(self, response: str) -> None:
        # A quote may not reach over an elision, nor from one line to the next.
        self._response = response.replace(ELISION, "\n").encode()
        self._written = b""

    def allows(self, piece: bytes) -> bool:
        """Whether ``piece`` may be written next."""
        head, newline, rest = piece.partition(b"\n")
        line = self._written.rpartition(b"\n")[2] + head
        if not self._in_place(line) or b"\n" in rest:
            return False
        if not line.strip() if newline else len(line) > MAX_LINE:
            return False
        if b"\n" not in self._written and line.startswith(_KEY):
            quote = line[len(_KEY) :]
            return quote in self._response and bool(quote.strip() or not newline)
        return bool(newline) or not _loops(line)

    def write(self, piece: bytes) -> None:
        """Note that ``piece`` was written."""
        self._written += piece

    def _in_place(self, line: bytes) -> bool:
        """One comparison of two answers, and nothing after it but whether they agree."""
        if b"\n" + _REFERENCE in self._written.rpartition(b"\n")[0]:
            return line.startswith(_AGREE) or _AGREE.startswith(line)
        return line.count(_GIVES) <= 1


def guide_for(messages: Sequence[Message]) -> ChainGuide | None:
    """The guide for a GradeGPT prompt; none for any other conversation."""
    item = parse_prompt(messages)
    return None if item is None else ChainGuide(defuse(item.response))


def _loops(line: bytes) -> bool:
    """Whether ``line`` ends in four rounds of the same bytes, twenty-four at least."""
    end = len(line)
    for period in range(1, end // _ROUNDS + 1):
        length = max(_LOOP, _ROUNDS * period)
        if length <= end and line[end - length : end - period] == line[end - length + period :]:
            return True
    return False
