"""open-instruct's factuality judge."""

from __future__ import annotations

import pytest

from serve.adapters import ADAPTERS, PromptError, find

ADAPTER = next(a for a in ADAPTERS if a.name == "open_instruct_factuality")


def test_a_template_that_was_never_filled_is_refused() -> None:
    """With doubled braces the prompt has the names of the fields instead of a response."""
    ask = find(ADAPTER.prompt("{input}", "{label}", "{output}"))
    with pytest.raises(PromptError, match="single braces"):
        ask.item()
