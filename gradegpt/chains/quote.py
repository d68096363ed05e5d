"""What a chain may quote: a stretch of the response, verbatim up to white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gradegpt.chains.chain import defuse, on_one_line
from gradegpt.chains.fit import ELISION

MAX_QUOTE: Final = 200
"""Most characters of a quote."""
MAX_QUOTES: Final = 5
"""Most quotes of a chain: an answer of several blanks is often in several places."""


def quotes_verbatim(quote: str, response: str) -> bool:
    """Whether the quote occurs in the response as a judge sees it, and not across an elision."""
    said = on_one_line(quote)
    return bool(said) and any(said in on_one_line(part) for part in response.split(ELISION))


def where_quoted(quotes: Sequence[str], response: str) -> tuple[int, int] | None:
    """The stretch of the response from the first to the last of the quotes, ``[start, end)``.

    None if one of them is not there verbatim.
    """
    if not quotes or not all(quotes_verbatim(quote, response) for quote in quotes):
        return None
    shown, found = defuse(response), list[tuple[int, int]]()
    for quote in quotes:
        words = re.compile(r"\s+".join(map(re.escape, on_one_line(quote).split())))
        behind = words.search(shown, found[-1][1] if found else 0)
        match = behind or words.search(shown)
        found += [match.span()] if match else []
    return min(start for start, _ in found), max(end for _, end in found)
