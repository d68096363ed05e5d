"""Options, steps and columns in the texts of a row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.sources.texts import pick, steps, with_options


@pytest.mark.parametrize(
    "listed",
    [
        ["one", "two"],
        ["A. one", "(B) two"],
        {"A": "one", "B": "two"},
    ],
)
def test_options_of_any_shape_are_listed_alike(listed: Any) -> None:
    """Every option is a line with letter, full stop and text."""
    assert with_options("Pick.", listed) == "Pick.\nA. one\nB. two"


def test_an_option_that_begins_with_another_letter_keeps_it() -> None:
    """``J. Smith`` as the first option is not option J."""
    assert with_options("Who?", ["J. Smith", "B. Brown"]) == "Who?\nA. J. Smith\nB. Brown"


@given(
    st.lists(st.sampled_from(["因此 $x=1。5$。", "So $a. B$ holds. ", r"\[ y. \] ", "\n", "12. "]))
)
def test_steps_cut_no_formula_and_lose_no_word(pieces: list[str]) -> None:
    """Dollars are paired in every step; short solutions are kept, apart from blanks."""
    found = steps("".join(["\\", *pieces]))
    assert all(
        step.count("$") % 2 == 0 and step.count(r"\[") == step.count(r"\]") for step in found
    )
    assert len(found) <= 12
    if len(pieces) <= 6:
        kept = "".join("".join(found).split())
        assert kept in "".join(("\\" + "".join(pieces)).split())


def test_the_first_column_that_is_not_blank_is_taken() -> None:
    """Blank texts, empty lists and missing columns are passed over."""
    row = {"a": " ", "b": [""], "c": {"d": 0}}
    assert pick(row, ["a", "b", "absent.0.x", "c.d"]) == 0
    assert pick(row, ["absent.0.x"]) is None
