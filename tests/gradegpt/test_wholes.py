"""Where a stretch of a text may begin and end."""

from __future__ import annotations

import pytest

from gradegpt.wholes import begins_whole, ends_whole, places


def test_every_place_counts_even_where_they_overlap() -> None:
    """And a text that does not stand there has none."""
    assert list(places(b"aa", b"aaab aa")) == [0, 1, 5]
    assert list(places(b"b", b"aaa")) == []


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("", "scalene", True),
        ("sc", "alene", False),
        ("the ", "scalene", True),
        ("选", "B", True),
        ("12", "3", False),
        ("1.", "25", False),
        ("1", ".25", False),
        ("1. ", "25", True),
        ("x=", "5", True),
        ("\\", "frac{1}{2}", False),
        ("x^", "2", False),
        ("Choice_", "A", True),
        ("\\text{", "B}", True),
    ],
)
def test_nothing_begins_inside_a_word_a_number_or_a_command(
    before: str, after: str, whole: bool
) -> None:
    """Chinese has no blanks between words, so any of its characters may begin a stretch."""
    assert begins_whole(f"{before}{after}".encode(), len(before.encode())) is whole


@pytest.mark.parametrize(
    ("stretch", "after", "whole"),
    [
        ("the answer is 12", "", True),
        ("the answer is 12", "\nSo", True),
        ("the answer is 12", ". So", True),
        ("the answer is 1", "2", False),
        ("the answer is 1", ".2", False),
        ("the answer is 1", ".", True),
        ("the answer is 1", ",234", False),
        ("it is sca", "lene", False),
        ("答案是4", "<x<16", False),
        ("答案是4", " < x < 16", False),
        ("答案是4", "≤x", False),
        ("【答案】D", "<eoa>", True),
        ("答案是D", "</answer>", True),
        ("答案是x", " = 4", False),
        ("答案是x =", " 4", False),
        ("答案是 3", " × 5", False),
        ("答案是 3", "^2", False),
        ("答案是 3", "，所以", True),
        ("答案是 **D", "**", True),
        ("it is $\\frac{1", "}{2}$", False),
        ("it is \\{1", ", 2\\}", True),
        ("it is $\\frac{1}{2}", "$.", True),
        ("it is $\\frac{1}{2}", " + 3$.", False),
        ("it costs $5", " a day", True),
        ("it is $\\", "mathrm{X}$", False),
        ("it is $\\", "\nmathrm{X}$", True),
    ],
)
def test_nothing_ends_with_a_word_number_or_formula_left_open(
    stretch: str, after: str, whole: bool
) -> None:
    """The end of a line ends everything, for there is nothing more to take."""
    text = f"{stretch}{after}".encode()
    assert ends_whole(text, 0, len(stretch.encode())) is whole
