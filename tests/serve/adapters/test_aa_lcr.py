"""AA-LCR: what OpenCompass writes for an answer."""

from __future__ import annotations

import pytest

from serve.adapters import ADAPTERS, find

ADAPTER = next(a for a in ADAPTERS if a.name == "aa_lcr")


@pytest.mark.parametrize(
    ("written", "reference"),
    [
        ("['Paris']", "Paris"),
        ('["Bob\'s"]', "Bob's"),
        ("[1, 2]", "[1, 2]"),
        ("['a', 'b']", "['a', 'b']"),
        ("Paris", "Paris"),
    ],
)
def test_a_list_of_one_answer_is_that_answer(written: str, reference: str) -> None:
    """A list of several is unchanged, as it does not say whether all are needed."""
    item = find(ADAPTER.prompt("Where?", written, "In Paris.")).item()
    assert item.reference == (reference,)
