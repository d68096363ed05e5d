"""Named tolerances at their limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gradegpt.answers.quantity import quantity
from gradegpt.answers.types import Quantity
from gradegpt.core.errors import InputError
from gradegpt.core.schema import Item
from gradegpt.rules.tolerance import tolerance


def read(text: str) -> Quantity:
    made = quantity(text)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("name", "reference", "answer", "allowed"),
    [
        ("exact", "0.5", "1/2", True),
        ("exact", "3.14", "3.141", False),
        ("auto", "3.14", "3.1416", True),
        ("auto", "3.14", "3.145", True),
        ("auto", "3.14", "3.1451", None),
        ("auto", "0.2", "0.25", False),
        ("auto", "18", "19", False),
        ("auto", "1/3", "0.33", None),
        ("olympiadbench", "1", "1.00000001", True),
        ("olympiadbench", "1", "1.00000002", False),
        ("olympiadbench:0.1", "2.5", "2.6", True),
        ("olympiadbench:0.1", "2.5", "2.61", False),
        ("olympicarena", "3.2×10^5", "3.3×10^5", True),
        ("olympicarena", "3.2×10^5", "3.2×10^6", False),
        ("olympicarena", "9.99", "10.01", False),
        ("arb", "100", "101", True),
        ("arb", "100", "101.1", False),
        ("atlas", "100", "110", True),
        ("atlas", "100", "111", False),
        ("relative:0.04", "50", "52", True),
        ("relative:4e-2", "50", "52.1", False),
    ],
)
def test_what_a_policy_allows(name: str, reference: str, answer: str, allowed: bool | None) -> None:
    """A difference equal to the limit is allowed."""
    assert tolerance(name).allows(read(reference), read(answer)) is allowed


def test_a_question_that_asks_for_rounding_lets_an_exact_reference_be_rounded() -> None:
    """If two decimals are requested, 1.41 is √2."""
    reference = Quantity(2**0.5)
    assert tolerance("auto", "结果保留两位小数").allows(reference, read("1.41")) is True
    assert tolerance("auto").allows(reference, read("1.41")) is None
    assert tolerance("exact", "保留两位小数").allows(reference, read("1.41")) is False


def test_an_unknown_policy_is_an_error_with_the_names() -> None:
    """The error lists the names; a row with an unknown policy is rejected, too."""
    with pytest.raises(
        InputError, match="tolerance 'close': no such policy; use one of exact, auto"
    ):
        tolerance("close")
    with pytest.raises(ValueError, match="tolerance"):
        Item(reference=("1",), response="1", tolerance="close")


def test_the_last_written_place_of_a_number() -> None:
    """Decimals, powers of ten and percent signs are taken into account."""
    places = {t: read(t).place for t in ("3.14", "1.25×10^3", "2.5e-2", "7", "12.5%", "1/3")}
    assert places == {
        "3.14": Fraction(1, 100), "1.25×10^3": Fraction(10), "2.5e-2": Fraction(1, 1000),
        "7": None, "12.5%": Fraction(1, 1000), "1/3": None,
    }  # fmt: skip
