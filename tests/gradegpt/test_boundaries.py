"""Words, numbers, formulas and clauses are not cut in the middle."""

from __future__ import annotations

import pytest

from gradegpt.boundaries import (
    begins_clause,
    begins_whole,
    ends_clause,
    ends_whole,
    occurrences,
    sum_end,
)


def test_overlapping_occurrences_are_found() -> None:
    """A text that does not occur has no position."""
    assert list(occurrences(b"aa", b"aaab aa")) == [0, 1, 5]
    assert list(occurrences(b"b", b"aaa")) == []


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
    """Chinese has no spaces between words, so a part may begin at any of its characters."""
    assert begins_whole(f"{before}{after}".encode(), len(before.encode())) is whole


@pytest.mark.parametrize(
    ("part", "after", "whole"),
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
        ("【答案】: A", ", C <eoa>", False),
        ("选A", "、B、D", False),
        ("答案是 A", "，B，C", False),
        ("it is A", " and C.", False),
        ("选A", "，B错误", True),
        ("It is A", ", a gas", True),
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
    part: str, after: str, whole: bool
) -> None:
    """A part may always end at the end of a line, since no text follows."""
    text = f"{part}{after}".encode()
    assert ends_whole(text, 0, len(part.encode())) is whole


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a total of 4 x 3 = 12 tomatoes", "12 tomatoes"),
        ("which is 4 boxes x 3 pens = 12 pens", "12 pens"),
        ("he runs 60/10 = <<60/10=6>>6 hours", "6 hours"),
        ("$(-49)\\div 7 = -7$.", "-7$."),
        ("$\\frac{1}{2} + \\frac{1}{3} = \\frac{5}{6}$", "\\frac{5}{6}$"),
        ("so 7 + 5 = \\boxed{12}", "\\boxed{12}"),
        ("先算3×4=12，再算12÷2=6。", "6。"),
        ("x = 3", "x = 3"),
        ("f(x) = 3x + 1", "f(x) = 3x + 1"),
        ("8 - 3 = n", "8 - 3 = n"),
        ("nothing", "nothing"),
    ],
)
def test_the_result_of_the_last_sum(text: str, result: str) -> None:
    """Without a calculation it is the whole text."""
    assert text.encode()[sum_end(text.encode()) :].decode() == result


@pytest.mark.parametrize(
    ("before", "clause", "after", "begins", "ends"),
    [
        ("So ", "it is 4", ".", False, True),
        ("So, ", "it is 4", " and", True, False),
        ("因此", "选B", "。", False, True),
        ("因此，", "选B", " 谢谢", True, True),
        ("故", "【答案】B", "<eoa>", True, True),
        ("", "it is 4", "\n", True, True),
        ("- ", "it is 4", " cm", True, False),
        ("Now, ", "find $3!", "$.", True, False),
    ],
)
def test_a_clause_is_between_marks(
    before: str, clause: str, after: str, begins: bool, ends: bool
) -> None:
    """The ends of its line count as marks; a heading in brackets begins a clause."""
    text, start = f"{before}{clause}{after}".encode(), len(before.encode())
    assert begins_clause(text, start) is begins
    assert ends_clause(text, start, start + len(clause.encode())) is ends
