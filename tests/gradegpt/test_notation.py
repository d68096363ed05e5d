"""The readers of notation: the ends of sentences, the marks of parts, the letters of options."""

from __future__ import annotations

import pytest

from gradegpt.answers.parts import alternatives, combined, marks, numbered, opening, run_of_parts
from gradegpt.answers.spans import clause_ends, sentence_around, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3.5. Then stop!", ["It is 3.5.", "Then stop!"]),
        ("By the U.S. census, e.g. this. Yes", ["By the U.S. census, e.g. this.", "Yes"]),
        ("1. Add.\nB. so", ["1. Add.", "B. so"]),
        ("4! = 24; so 24", ["4! = 24;", "so 24"]),
        ("先算。再看；选B．①③", ["先算。", "再看；", "选B．①③"]),
        (r"a\;b", [r"a\;b"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """A sign that is part of a number, an abbreviation or a formula does not end a sentence."""
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_a_long_sentence_is_narrowed_to_a_clause_and_not_to_digits() -> None:
    """The colon of a time and the comma of a number do not end a clause."""
    text = f"{'word ' * 30}, open from 9:00 to 8,000 of them {'again ' * 4}."
    start = text.index("000")
    assert text[slice(*sentence_around(text, start, start + 3))].startswith("open from 9:00")
    assert clause_ends("因此,选A，B: c") == [3, 6, 8]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("(1) 3; (2) 5", [1, 2]), ("（i）3，（ii）5", [1, 2]), ("(I) 3 (II) 5", [1, 2]),
     ("(a) 3 (b) 5", [1, 2]), ("①3 ⑩5", [1, 10]), ("第一空：3；第二空：5", [1, 2]),
     ("**Part (a)** 3, Part b: 5", [1, 2]), ("1) 3 2) 5", [1, 2]), ("y = (x - 1)(x + 2)", []),
     ("f(1) = 3", [])],
)  # fmt: skip
def test_marks_of_every_kind(text: str, numbers: list[int]) -> None:
    """The number of each mark, at any beginning of a part; not in a formula."""
    assert [mark.number for mark in marks(text)] == numbers


def test_marks_of_two_kinds_are_two_runs() -> None:
    """Of nested parts the outer ones are counted, although the inner ones also count up."""
    text = "(1) ① 3 ② 5 (2) 7"
    assert [text[m.start : m.end] for m in run_of_parts(text, 2)] == ["(1)", "(2)"]


@pytest.mark.parametrize("line", ["1. 3", "- (1) 3", "**a)** 3", "第1题 B", "a：是", "1、三"])
def test_further_marks_at_the_beginning_of_a_line(line: str) -> None:
    """A number with a point is a mark there; a number with decimals is not."""
    mark = opening(line)
    assert mark is not None
    assert mark.number == 1
    assert opening("1.5 is it") is None


def test_written_parts_are_read_back() -> None:
    """As are written options and alternatives."""
    answers = [str(n) for n in range(1, 13)]
    assert [mark.number for mark in marks(numbered(answers))] == list(range(1, 13))
    assert combined(["A ", "I"]) == "AI"
    assert alternatives(combined(["3", "5"])) == ("3", "5")
