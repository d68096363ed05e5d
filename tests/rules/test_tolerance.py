"""Named tolerances; ``cases/tolerance.jsonl`` has them at their limits."""

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
