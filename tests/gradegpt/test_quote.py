"""A quote is a part of one line, or numbered lines with the parts of an answer."""

from __future__ import annotations

import pytest

from gradegpt.chains.fit import ELISION
from gradegpt.chains.quote import MAX_QUOTE, part_runs, quotable, quotes_verbatim

PARTS = "We solve both.\n\n(1) x = 3\n(2) the area is 5 \n\nDone."


@pytest.mark.parametrize(
    ("quote", "response", "verbatim"),
    [
        ("(1) x = 3 (2) the area is 5", PARTS, True),
        ("x = 3 (2) the area", PARTS, True),
        ("the area is 5 Done.", PARTS, False),
        ("both. (1) x = 3", PARTS, False),
        ("a b", "a\nb", False),
        ("（1）【答案】 B （2）【答案】 A", "（1）【答案】 B\n（2）【答案】 A", True),
        ("1. B 2. C", "1. B\n\n2. C", True),
        ("The answer is 4.", "So: The answer is 4. Done.", True),
        (" The answer is 4. ", "The answer is 4.", True),
        ("The answer is 5.", "The answer is 4.", False),
        ("the answer is 4.", "The answer is 4.", False),
        ("It is ‹Yes>.", "It is <Yes>.", True),
        ("It is <Yes>.", "It is <Yes>.", False),
        ("  ", "any  thing", False),
    ],
)
def test_a_quote_is_verbatim_or_it_is_not(quote: str, response: str, verbatim: bool) -> None:
    """In a line of the defused response, or over the line breaks between parts."""
    assert quotes_verbatim(quote, response) is verbatim


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        (["(1) 3", "(2) 5"], [["(1) 3", "(2) 5"]]),
        (["(1) 3", "", "(2)  5 "], [["(1) 3", "(2) 5"]]),
        (["第一空：3", "第二空：5"], [["第一空：3", "第二空：5"]]),
        (["**(a)** yes", "**(b)** no"], [["**(a)** yes", "**(b)** no"]]),
        (["1.5 is it", "2.5 is not"], []),
        (["(1) 3", "and", "(2) 5"], []),
        (["(1) 3"], []),
        (["1. " + "long " * 20, "2. " + "long " * 20], []),
        (
            ["1. Add.", "2. Halve.", "(1) 3", "(2) 5"],
            [["1. Add.", "2. Halve."], ["(1) 3", "(2) 5"]],
        ),
        (["9. B", "10. C", "11. D"], [["9. B", "10. C", "11. D"]]),
        (["(i) 3", "(ii) 5", "(i) 3", "(ii) 5"], [["(i) 3", "(ii) 5"]] * 2),
        (["1. B", "2. C", "so", "(1) 3", "(2) 4"], [["1. B", "2. C"], ["(1) 3", "(2) 4"]]),
    ],
)
def test_runs_of_parts(lines: list[str], runs: list[list[str]]) -> None:
    """A run has consecutive numbered lines that fit into one quote."""
    assert part_runs(lines) == runs


def test_no_run_contains_an_elision() -> None:
    """The omitted text between two parts may be a part."""
    assert quotable(f"(1) 3\n{ELISION}\n(3) 7") == (["(1) 3", "(3) 7"], [])
    assert quotable("(1) 3\n(2) 5") == (["(1) 3", "(2) 5"], [["(1) 3", "(2) 5"]])
    lines, runs = quotable(PARTS)
    assert all(len(quote) <= MAX_QUOTE for quote in (*lines, *map(" ".join, runs)))
