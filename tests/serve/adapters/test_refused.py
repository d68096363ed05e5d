"""What cannot be judged is told apart, and the caller learns why and what to do."""

from __future__ import annotations

import pytest

from serve.adapters import ADAPTERS, Adapter, PromptError, find

REFUSED = [adapter for adapter in ADAPTERS if adapter.refuses]


@pytest.mark.parametrize("adapter", REFUSED, ids=lambda a: a.name)
def test_a_refusal_names_the_family_and_the_way_out(adapter: Adapter) -> None:
    """No item, no verdict."""
    ask = find(adapter.prompt("2+2?", "4", "The answer is 4."))
    with pytest.raises(PromptError, match=rf"^{adapter.name}: .*(?:/v1/judge|use|judge both)"):
        ask.item()


def test_a_share_of_sub_questions_is_no_verdict() -> None:
    """One question has a share of 0 or 1; several are refused, not scored as a whole."""
    share = next(adapter for adapter in ADAPTERS if adapter.name == "chem_exam_share")
    assert find(share.prompt("Q1: ?", "A1: 4", "4")).item().reference == ("A1: 4",)
    with pytest.raises(PromptError, match=r"^chem_exam_share: .*send each sub-question alone"):
        find(share.prompt("Q1: ?\nQ2: ?", "A1: 4\nA2: NaCl", "4")).item()
