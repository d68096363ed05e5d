"""Prompts that cannot be judged are recognised, and the error says why and what to do."""

from __future__ import annotations

import pytest

from serve.adapters import ADAPTERS, Adapter, PromptError, find

REFUSED = [adapter for adapter in ADAPTERS if adapter.refuses]


@pytest.mark.parametrize("adapter", REFUSED, ids=lambda a: a.name)
def test_a_refusal_names_the_family_and_what_to_do(adapter: Adapter) -> None:
    """There is no item and no verdict."""
    ask = find(adapter.prompt("2+2?", "4", "The answer is 4."))
    with pytest.raises(PromptError, match=rf"^{adapter.name}: .*(?:/v1/judge|use|judge both)"):
        ask.item()


def test_a_share_of_sub_questions_is_no_verdict() -> None:
    """One question has a share of 0 or 1; several questions are refused."""
    share = next(adapter for adapter in ADAPTERS if adapter.name == "chem_exam_share")
    assert find(share.prompt("Q1: ?", "A1: 4", "4")).item().reference == ("A1: 4",)
    with pytest.raises(PromptError, match=r"^chem_exam_share: .*send each sub-question separately"):
        find(share.prompt("Q1: ?\nQ2: ?", "A1: 4\nA2: NaCl", "4")).item()
