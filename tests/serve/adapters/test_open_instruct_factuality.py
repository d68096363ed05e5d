"""open-instruct's factuality judge."""

from __future__ import annotations

import pytest

from serve.adapters import ADAPTERS, PromptError, find

ADAPTER = next(a for a in ADAPTERS if a.name == "open_instruct_factuality")


def test_a_template_that_was_never_filled_is_refused() -> None:
    """Its doubled braces leave the fields' names in the prompt; that is no response of anyone."""
    ask = find(ADAPTER.prompt("{input}", "{label}", "{output}"))
    with pytest.raises(PromptError, match="single braces"):
        ask.item()
