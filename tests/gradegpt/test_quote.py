"""A quote is a stretch of the response, verbatim up to white space and not across an elision."""

from __future__ import annotations

import pytest

from gradegpt.chains.fit import ELISION
from gradegpt.chains.quote import quotes_verbatim, where_quoted

PARTS = "We solve both.\n\n(1) x = 3\n(2) the area is 5 \n\nDone."


@pytest.mark.parametrize(
    ("quote", "response", "verbatim"),
    [("x = 3 (2) the area is 5 Done.", PARTS, True), ("a \t b", "a\r\n\u2028b", True),
     ("ab", "a b", False),
     ("（1）【答案】 B （2）【答案】 A", "（1）【答案】 B\n（2）【答案】 A", True),
     ("The answer is 4.", "So: The answer is 4. Done.", True),
     ("The answer is 5.", "The answer is 4.", False),
     ("the answer is 4.", "The answer is 4.", False), ("not 4", f"It is not{ELISION} 4", False),
     (f"not{ELISION} 4", f"It is not{ELISION} 4", False), ("4", f"It is not{ELISION} 4", True),
     ("It is ‹Yes>.", "It is <Yes>.", True), ("It is <Yes>.", "It is <Yes>.", True),
     ("  ", "any  thing", False)],
)  # fmt: skip
def test_a_quote_is_verbatim_or_it_is_not(quote: str, response: str, verbatim: bool) -> None:
    """In the defused response, whose tags a judge sees as ``‹Yes>``."""
    assert quotes_verbatim(quote, response) is verbatim


@pytest.mark.parametrize(
    ("quotes", "marked"),
    [
        (["x = 3"], "x = 3"),
        (["x = 3", "is 5"], "x = 3\n(2) the area is 5"),
        (["the  area is 5 Done.", "(1) x"], "(1) x = 3\n(2) the area is 5 \n\nDone."),
        (["e", "e", "e"], "e solve both.\n\n(1) x = 3\n(2) the"),
        (["x = 3", "is 6"], None),
        ([], None),
    ],
    ids=["one", "two", "in another order", "the next one each", "one is not there", "none"],
)
def test_the_stretch_from_the_first_to_the_last_quote_is_found(
    quotes: list[str], marked: str | None
) -> None:
    """Its offsets are those of the response itself; a quote that is not there leaves no span."""
    span = where_quoted(quotes, PARTS)
    assert (span and PARTS[slice(*span)]) == marked
